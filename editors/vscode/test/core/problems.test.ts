// Row B6 of the designs: the effect of an edit on the problems of its file.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Diagnostic } from "../../src/core/ports";
import { settled, until } from "./fakes";
import { jsonOf, shown } from "./httpclient";
import { work } from "./work";

describe("B6: problems after the save", () => {
  const problem = (message: string, line = 0): Diagnostic => ({
    severity: "Error", message, range: { start: { line, character: 0 }, end: { line, character: 1 } },
  });

  it("new diagnostics are waited for, and those that only moved are not new", async (t) => {
    const { client, core, editor, folder } = await work(t, { "a.ts": "one\n" });
    const uri = `file://${folder}/a.ts`;
    editor.diagnostics.set(uri, [problem("old", 1)]);
    let written = false;
    editor.documents.written = () => (written = true);
    const call = client.begin("write_file", { path: "a.ts", content: "two\n" });
    const id = await shown(core);
    const waiting = editor.clock.waiting;
    core.reviews.accept(id, "button");
    await until("the write", () => written);
    await until("the wait for new problems", () => editor.clock.waiting > waiting);
    editor.clock.advance(700);
    editor.diagnostics.set(uri, [problem("old", 5), problem("new", 2)]);
    editor.clock.advance(299);
    await settled(50);
    assert.equal(call.heard.length, 0, "still waiting for quiet");
    editor.clock.advance(1);
    const { new_diagnostics: found, diagnostics } = jsonOf(await call.answer);
    assert.deepEqual([found, diagnostics], [["[error] a.ts:3 — new"], undefined]);
  });

  it("what was wrong with a file before the question is not new, though nobody had opened it", async (t) => {
    const { client, core, editor, folder, accept } = await work(t, { "a.ts": "one\n" });
    const uri = `file://${folder}/a.ts`;
    editor.diagnostics.shown = false;
    editor.documents.written = () => editor.diagnostics.set(uri, [problem("old"), problem("late"), problem("new")]);
    const call = client.begin("write_file", { path: "a.ts", content: "two\n" });
    await shown(core);
    assert.deepEqual(editor.diagnostics.loaded, [join(folder, "a.ts")], "loaded before the answer");
    editor.diagnostics.set(uri, [problem("old")]);
    editor.diagnostics.set(uri, [problem("old"), problem("late")]);
    const { new_diagnostics: found, diagnostics } = await accept(call);
    assert.deepEqual([found, diagnostics], [["[error] a.ts:1 — new"], undefined]);
  });

  it("what was wrong with a file whose tab was not loaded yet is not new", async (t) => {
    const { client, core, editor, folder, accept } = await work(t, { "a.ts": "one\n" });
    editor.documents.buffers.clear();
    const uri = `file://${folder}/a.ts`;
    editor.documents.written = () => editor.diagnostics.set(uri, [problem("old"), problem("new")]);
    const call = client.begin("write_file", { path: "a.ts", content: "two\n" });
    await shown(core);
    assert.deepEqual(editor.diagnostics.loaded, [join(folder, "a.ts")]);
    editor.diagnostics.set(uri, [problem("old")]);
    const { new_diagnostics: found, diagnostics } = await accept(call);
    assert.deepEqual([found, diagnostics], [["[error] a.ts:1 — new"], undefined]);
  });

  it("what comes between the write and the wait counts", async (t) => {
    const { client, editor, folder, finish } = await work(t);
    editor.settings.approvalMode = "never";
    editor.diagnostics.shown = false;
    editor.documents.written = () => editor.diagnostics.set(`file://${folder}/new.ts`, [problem("new")]);
    const { new_diagnostics: found, diagnostics } = await finish(client.begin("write_file", { path: "new.ts", content: "two\n" }));
    assert.deepEqual([found, diagnostics], [["[error] new.ts:1 — new"], undefined]);
  });

  it("the problems of a file that is not shown are not known, never none", async (t) => {
    const { client, editor, accept } = await work(t, { "a.ts": "one\n" });
    editor.diagnostics.shown = false;
    const { status, new_diagnostics: found, diagnostics } = await accept(client.begin("write_file", { path: "a.ts", content: "two\n" }));
    assert.deepEqual([status, found], ["accepted", undefined]);
    assert.match(String(diagnostics), /^not known: /);
  });

  it("problems that nobody had looked for before may be older, and the answer says so", async (t) => {
    const { client, editor, folder, accept } = await work(t, { "a.ts": "one\n" });
    editor.diagnostics.shown = false;
    editor.documents.written = () => editor.diagnostics.set(`file://${folder}/a.ts`, [problem("old?")]);
    const { new_diagnostics: found, diagnostics } = await accept(client.begin("write_file", { path: "a.ts", content: "two\n" }));
    assert.deepEqual(found, ["[error] a.ts:1 — old?"]);
    assert.match(String(diagnostics), /^some may be older: /);
  });

  it("servers that do not come to rest are not waited for, and the answer says so", async (t) => {
    const { client, core, editor, folder } = await work(t, { "a.ts": "one\n" });
    let written = false;
    editor.documents.written = () => (written = true);
    const call = client.begin("write_file", { path: "a.ts", content: "two\n" });
    core.reviews.accept(await shown(core), "button");
    await until("the write", () => written);
    for (let i = 0; call.heard.length === 0 && i < 50; i++) {
      editor.diagnostics.set(`file://${folder}/a.ts`, [problem(`${i}`)]);
      await settled(5);
      editor.clock.advance(200);
    }
    assert.match(String(jsonOf(await call.answer)["diagnostics"]), /^not complete: /);
  });

  it("a file of a language that nobody serves is not waited for, and the answer reports the problems as unknown", async (t) => {
    const { client, core, editor } = await work(t, { "a.txt": "one\n" });
    editor.diagnostics.served = false;
    const call = client.begin("write_file", { path: "a.txt", content: "two\n" });
    core.reviews.accept(await shown(core), "button");
    const { status, diagnostics } = jsonOf(await call.answer); // the clock stops
    assert.equal(status, "accepted");
    assert.match(String(diagnostics), /^not known: no language server/);
  });

  it("a file that nobody serves is called so, whether the editor shows it yet or not", async (t) => {
    const { client, editor, finish } = await work(t);
    editor.settings.approvalMode = "never";
    editor.diagnostics.served = false;
    for (const shown of [false, true]) {
      editor.diagnostics.shown = shown;
      const { diagnostics } = await finish(client.begin("write_file", { path: `${shown}.txt`, content: "two\n" }));
      assert.match(String(diagnostics), /^not known: no language server/);
    }
  });

  it("a language in which nobody has reported anything for long is noted", async (t) => {
    const { client, editor, folder, accept } = await work(t, { "a.md": "one\n" });
    await accept(client.begin("write_file", { path: "a.md", content: "two\n" }));
    assert.deepEqual(editor.diagnostics.inVain, [join(folder, "a.md")]);
  });

  it("nothing is listened to for an edit that was rejected", async (t) => {
    const { client, core, editor } = await work(t, { "a.ts": "one\n" });
    const before = editor.diagnostics.listeners.size;
    const call = client.begin("write_file", { path: "a.ts", content: "two\n" });
    core.reviews.reject(await shown(core), "button");
    await call.answer;
    assert.equal(editor.diagnostics.listeners.size, before);
  });
});
