// Where a review is to be shown, and what is said with it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
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
