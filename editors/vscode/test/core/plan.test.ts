// The review of a plan, which no file holds.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import type { Details } from "../../src/core/outcome";
import { Reviews } from "../../src/core/reviews";
import { sha256 } from "../../src/core/text";
import { FakeEditor, request, settled, tempFolder } from "./fakes";

describe("a plan", () => {
  it("is accepted with a mode, whatever the file of its name holds or becomes", async (t) => {
    const file = path.join(tempFolder(t), "plan.md");
    writeFileSync(file, "one\n");
    const editor = new FakeEditor();
    const reviews = new Reviews(editor.ports, () => "r1");
    const owner = { id: 1, notify: () => undefined };
    const { answer } = reviews.ask(owner, request(file, "# Plan\n", { isPlan: true, baseSha256: sha256("") }), "plan.md");
    await settled();
    const shown = editor.view.shown.get("r1");
    assert.deepEqual([shown?.title, shown?.original, shown?.isPlan, shown?.canInline], ["Plan", "", true, false]);
    writeFileSync(file, "other\n");
    editor.documents.watchers.get(file)?.();
    await settled();
    reviews.accept("r1", "button", "accept-edits");
    const result = await answer;
    assert.ok(typeof result === "object");
    const told = JSON.parse(result.content.at(-1)?.text ?? "") as Details;
    assert.deepEqual([told.outcome, told.mode, told.stale], ["accepted", "accept-edits", false]);
  });
});
