// Where a review is shown, and with which text.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { mustLook, parseNotes, shortNotes } from "../../src/core/notes";
import type { Details } from "../../src/core/outcome";
import type { Answer, ReviewRequest } from "../../src/core/review";
import { Reviews } from "../../src/core/reviews";
import { FakeEditor, request, settled, tempFolder } from "./fakes";

describe("the review of a file", () => {
  for (const [what, inline, more, relative] of [
    ["that is there is shown in one text with it, if that is wanted", true, { inline: true }, "f"],
    ["is shown as a diff, if nothing else is wanted", false, {}, "f"],
    ["that is new is shown as a diff", false, { inline: true, path: "/nowhere/new", oldPath: "/nowhere/new" }, "new"],
    ["outside of the workspace is shown as a diff", false, { inline: true }, undefined],
  ] as const) {
    it(`${what}, with one line of why`, async (t) => {
      const file = join(tempFolder(t), "f");
      writeFileSync(file, "one\n");
      const editor = new FakeEditor();
      const reviews = new Reviews(editor.ports, () => "r1");
      const why = "because\nof \u202eall this";
      void reviews.ask({ id: 1, notify: () => undefined }, request(file, "x\n", { description: why, ...more }), relative).answer;
      await settled();
      const shown = editor.view.shown.get("r1");
      assert.deepEqual([shown?.inline, shown?.description], [inline, "because of all this"]);
    });
  }

  const asked = async (t: TestContext, more: Partial<ReviewRequest>, name?: string) => {
    const file = join(tempFolder(t), "f");
    writeFileSync(file, "one\n");
    const editor = new FakeEditor();
    const reviews = new Reviews(editor.ports, () => "r1");
    const answers: Answer[] = [];
    const owner = { id: 1, notify: () => undefined, ...(name === undefined ? {} : { name }) };
    void reviews.ask(owner, request(file, "x\n", more), "f").answer.then((answer) => answers.push(answer));
    await settled();
    return { file, editor, reviews, answers };
  };

  it("cannot be typed in when it is first shown while the terminal edits it", async (t) => {
    const file = join(tempFolder(t), "f");
    writeFileSync(file, "one\n");
    const editor = new FakeEditor();
    editor.settings.open = "onDemand";
    const reviews = new Reviews(editor.ports, () => "r1");
    const owner = { id: 1, notify: () => undefined };
    void reviews.ask(owner, request(file, "x\n", { diffId: "d" }), "f").answer;
    await settled();
    reviews.claim(owner, "d", "hold");
    reviews.show("r1");
    await settled();
    assert.equal(editor.view.shown.get("r1")?.held, true);
  });

  it("asks once more about whatever is not what it looks like", () => {
    const kinds = ["name", "hidden", "look-alike", "odd-space", "whitespace"];
    const notes = kinds.map((kind) => ({ kind, text: "a remark" }));
    assert.deepEqual(mustLook(notes).map(({ kind }) => kind), ["name", "hidden", "look-alike"]);
    assert.deepEqual(shortNotes(notes, (text) => text), ["⚠ misleading name", "⚠ hidden characters", "⚠ look-alike letters", "⚠ unusual blanks", "⚠ only white space"]);
  });

  it("says who asks, which of how many it is, and what must be looked at", async (t) => {
    const notes = parseNotes([{ kind: "protected", text: "programs\u202e obey it" }, { kind: "protected", text: "and this" }, { kind: "odd", text: "a remark" }, 7]);
    const { editor, reviews } = await asked(t, { notes, batch: { id: "b", index: 1, total: 3 } }, "agent");
    const shown = editor.view.shown.get("r1");
    assert.deepEqual([shown?.asks, shown?.place, shown?.title], ["agent", "2 of 3", "f (2 of 3, ⚠ protected file)"]);
    assert.deepEqual(shown?.notes.map(({ text }) => text), ["programs obey it", "and this", "a remark"]);
    reviews.accept("r1", "command");
    await settled();
    assert.equal(reviews.get("r1")?.state, "shown", "there is a second question");
    editor.view.noteAnswers.shift()?.(false);
    await settled();
    reviews.accept("r1", "command");
    await settled();
    editor.view.noteAnswers.shift()?.(true);
    await settled();
    assert.equal(reviews.get("r1")?.outcome?.kind, "accepted");
  });

  it("of a file that has changed is accepted without a question if the client compares the file again", async (t) => {
    const { file, editor, reviews } = await asked(t, { rechecks: true });
    writeFileSync(file, "other\n");
    editor.documents.watchers.get(file)?.();
    await settled();
    reviews.accept("r1", "button");
    await settled();
    assert.equal(editor.view.staleAnswers.length, 0);
    assert.equal(reviews.get("r1")?.outcome?.kind, "accepted");
  });

  it("of a file that has changed is asked about, whatever the program is called", async (t) => {
    const { file, editor, reviews } = await asked(t, {}, "agent");
    writeFileSync(file, "other\n");
    editor.documents.watchers.get(file)?.();
    await settled();
    reviews.accept("r1", "button");
    await settled();
    assert.deepEqual([editor.view.staleAnswers.length, reviews.get("r1")?.state], [1, "shown"]);
  });

  it("of a file that has changed is given back to another program with the person's draft as a patch", async (t) => {
    const { file, editor, reviews, answers } = await asked(t, {}, "other");
    reviews.edited("r1", "x\nmine\n");
    editor.view.texts.set("r1", "x\nmine\n");
    writeFileSync(file, "other\n");
    editor.documents.watchers.get(file)?.();
    await settled();
    reviews.accept("r1", "button");
    editor.view.staleAnswers.shift()?.("redo");
    await settled();
    const [answer] = answers;
    assert.ok(typeof answer === "object");
    const { outcome, feedback } = answer.structuredContent as Details;
    assert.equal(outcome, "rejected");
    assert.match(feedback ?? "", /^The file has changed on disk .*\nI had changed .*\n--- a\/f\n\+\+\+ b\/f\n@@ .*\n x\n\+mine\n$/);
  });

  it("takes answers only when it has been before the person's eyes for a moment", async (t) => {
    const file = join(tempFolder(t), "f");
    writeFileSync(file, "one\n");
    const editor = new FakeEditor();
    const reviews = new Reviews(editor.ports, () => "r1");
    void reviews.ask({ id: 1, notify: () => undefined }, request(file, "x\n"), "f").answer;
    await settled();
    editor.clock.advance(399);
    assert.equal(reviews.isReady("r1"), false);
    editor.clock.advance(1);
    assert.equal(reviews.isReady("r1"), true);
    reviews.seen("r1");
    assert.equal(reviews.isReady("r1"), false, "it has come to the front again");
    editor.clock.advance(400);
    assert.equal(reviews.isReady("r1"), true);
  });
});

describe("an editor that closes the diff late", () => {
  it("still has the contents when it does, to save the draft in", async (t) => {
    const file = join(tempFolder(t), "f");
    writeFileSync(file, "one\n");
    const editor = new FakeEditor();
    const reviews = new Reviews(editor.ports, () => "r1");
    void reviews.ask({ id: 1, notify: () => undefined }, request(file, "x\n"), "f").answer;
    await settled();
    editor.view.closing = "hangs";
    reviews.accept("r1", "button");
    await settled();
    editor.clock.advance(5_000);
    await settled();
    assert.equal(reviews.get("r1")?.state, "done");
    editor.clock.advance(60_000);
    await settled();
    assert.deepEqual(editor.view.forgotten, []);
    editor.view.closeAtLast();
    await settled();
    editor.clock.advance(5_000);
    assert.deepEqual(editor.view.forgotten, ["r1"]);
  });
});
