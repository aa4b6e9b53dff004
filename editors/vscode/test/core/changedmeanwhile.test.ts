// A file that changes while an edit of an MCP client, which the editor writes, is reviewed.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { settled } from "./fakes";
import { jsonOf, McpClient, shown } from "./httpclient";
import { work } from "./work";

describe("a file that changes during the review of an edit that the editor writes", () => {
  for (const name of ["another program", "agent"]) {
    it(`is not overwritten without a question for a client that calls itself ${name}`, async (t) => {
      const { core, editor, folder, read } = await work(t, { "a.txt": "one\n" });
      const client = await McpClient.connect(core.port ?? 0, name);
      const call = client.begin("write_file", { path: "a.txt", content: "two\n", rechecks: true });
      const id = await shown(core);
      writeFileSync(join(folder, "a.txt"), "somebody's\n");
      editor.documents.watchers.get(join(folder, "a.txt"))?.();
      await settled();
      core.reviews.accept(id, "button");
      await settled();
      assert.deepEqual([editor.view.staleAnswers.length, read("a.txt")], [1, "somebody's\n"]);
      core.reviews.reject(id, "button");
      assert.equal(jsonOf(await call.answer)["status"], "rejected");
      assert.equal(read("a.txt"), "somebody's\n");
    });
  }

  /** A review in whose right side the person has typed. */
  const typed = async (t: TestContext) => {
    const at = await work(t, { "a.txt": "one\n" });
    const call = at.client.begin("write_file", { path: "a.txt", content: "two\n" });
    const id = await shown(at.core);
    const mine = "two\nmy own words\n";
    at.editor.view.texts.set(id, mine);
    at.core.reviews.edited(id, mine);
    at.editor.view.remarks.set(id, [{ side: "modified", startLine: 1, endLine: 1, quote: "two", text: "why?" }]);
    return { ...at, call, id, mine, path: join(at.folder, "a.txt") };
  };

  it("is asked about at the acceptance, even if its change was not reported yet, and the draft is kept", async (t) => {
    const { core, editor, call, id, mine, path, read, finish } = await typed(t);
    writeFileSync(path, "somebody's\n");
    core.reviews.accept(id, "button");
    await core.reviews.looked(id);
    assert.deepEqual([editor.view.staleAsked, core.reviews.get(id)?.state], [[path], "shown"]);
    editor.view.staleAnswers.shift()?.(false);
    await settled();
    assert.deepEqual([editor.view.text(id), read("a.txt")], [mine, "somebody's\n"]);
    core.reviews.accept(id, "button");
    await core.reviews.looked(id);
    editor.view.staleAnswers.shift()?.(true);
    assert.equal((await finish(call))["status"], "accepted");
    assert.equal(read("a.txt"), mine);
  });

  it("by typing is not accepted over: the person is told, and the draft is kept until it is", async (t) => {
    const { core, editor, call, id, mine, path, read, finish } = await typed(t);
    editor.documents.buffers.set(path, { text: "typed", isDirty: true, isUntitled: false });
    core.reviews.accept(id, "button");
    await core.reviews.looked(id);
    assert.deepEqual([core.reviews.get(id)?.state, editor.view.text(id)], ["shown", mine]);
    assert.deepEqual(editor.warnings, ["a.txt has unsaved changes in the editor. Save or undo them, then accept this edit again."]);
    editor.documents.buffers.set(path, { text: "one\n", isDirty: false, isUntitled: false });
    core.reviews.accept(id, "button");
    assert.match(String((await finish(call))["user_edits"]), /^\+my own words$/m);
    assert.deepEqual([read("a.txt"), editor.view.staleAsked], [mine, []]);
  });

  const late: [string, (at: Awaited<ReturnType<typeof typed>>) => void, string][] = [
    ["in the editor", ({ editor, path }) => editor.documents.buffers.set(path, { text: "typed", isDirty: true, isUntitled: false }), "DIRTY_DOCUMENT"],
    ["on disk", ({ path }) => writeFileSync(path, "somebody's\n"), "STALE_BASE"],
    ["so that it cannot be saved", ({ editor }) => (editor.documents.saves = false), "PERMISSION_DENIED"],
  ];
  for (const [how, change, code] of late) {
    it(`${how} right after the acceptance is not written, and the error has the person's edits and comments`, async (t) => {
      const at = await typed(t);
      const { core, editor, call, id, read } = at;
      core.reviews.onChange(({ state }) => state === "resolving" && change(at));
      core.reviews.accept(id, "button");
      const answer = await call.answer;
      const told = jsonOf(answer);
      assert.deepEqual([answer.isError, told["code"], told["path"]], [true, code, "a.txt"]);
      assert.match(String(told["user_edits"]), /^\+my own words$/m);
      assert.deepEqual(told["comments"], editor.view.remarks.get(id));
      assert.match(editor.warnings.join(), /^The accepted edit of a.txt was not written/);
      assert.equal(read("a.txt"), how === "on disk" ? "somebody's\n" : "one\n");
    });
  }
});
