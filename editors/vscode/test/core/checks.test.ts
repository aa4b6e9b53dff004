// The reports of a client about the check of its proposal, and about a refused one.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseCheck, parseRefused } from "../../src/core/checks";
import type { Owner } from "../../src/core/review";
import { Reviews } from "../../src/core/reviews";
import { FakeEditor, request, settled, tempFolder } from "./fakes";

const running = { state: "running", text: "go vet …", output: "", problems: [] } as const;
const failed = { state: "failed", text: "go vet ✗", output: "f:1:1: no", problems: [{ line: 1, column: 1, isWarning: false, text: "no" }] } as const;
const client = (id: number): Owner => ({ id, notify: () => undefined });

describe("a check", () => {
  it("may overtake its question, and is of one client", async (t) => {
    const file = join(tempFolder(t), "f");
    writeFileSync(file, "one\n");
    const editor = new FakeEditor();
    const reviews = new Reviews(editor.ports, () => "r1");
    reviews.checked(client(1), "q", running);
    reviews.ask(client(1), request(file, "two\n", { diffId: "q" }), "f");
    await settled();
    assert.deepEqual(editor.view.shown.get("r1")?.check, running);
    reviews.checked(client(2), "q", failed);
    assert.equal(editor.view.checks.size, 0);
    reviews.checked(client(1), "q", failed);
    assert.deepEqual([editor.view.checks.get("r1"), reviews.get("r1")?.check], [failed, failed]);
  });

  it("is read without its malformed parts", () => {
    const problems = [{ line: 1, column: 2, warning: true, text: "a\nb" }, { line: 0, text: "no" }, { line: 2 }, "x", { line: 3, column: -1, text: "c" }];
    assert.deepEqual(parseCheck({ state: "broken", text: 1, problems }), {
      state: "unknown", text: "", output: "",
      problems: [{ line: 1, column: 2, isWarning: true, text: "a b" }, { line: 3, column: 0, isWarning: false, text: "c" }],
    });
  });
});

describe("a refused proposal", () => {
  it("is read without its malformed parts", () => {
    assert.equal(parseRefused(undefined), undefined);
    assert.equal(parseRefused({ feedback: "no text" }), undefined);
    assert.deepEqual(parseRefused({ text: "a", comments: [{ line: 1, text: "b" }, { line: 1.5, text: "c" }, null] }), { text: "a", feedback: "", comments: [{ line: 1, text: "b" }] });
  });
});
