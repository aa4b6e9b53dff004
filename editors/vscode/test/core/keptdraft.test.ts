import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import type { Answer, ReviewRequest } from "../../src/core/review";
import { Reviews } from "../../src/core/reviews";
import { FakeEditor, request, settled, tempFolder } from "./fakes";

const LIMIT = 1_000_000;

/** A review of a file of two lines, by a client that keeps the person's text. */
async function review(t: TestContext, what: Partial<ReviewRequest> = {}) {
  const file = join(tempFolder(t), "f");
  writeFileSync(file, "one\ntwo\n");
  const editor = new FakeEditor();
  const reviews = new Reviews(editor.ports, () => "r1");
  const heard: Record<string, unknown>[] = [];
  const owner = { id: 1, notify: (_method: string, params: object) => void heard.push({ ...params }) };
  const { answer } = reviews.ask(owner, request(file, "one\nTWO\n", { diffId: "q1", keepsDrafts: true, ...what }), "f");
  await settled();
  const told = () => {
    editor.clock.advance(100);
    return heard.at(-1);
  };
  return { editor, reviews, answer, told, file };
}

function textOf(answer: Answer): string | undefined {
  assert.ok(typeof answer === "object");
  return answer.content[1]?.text;
}

describe("a client that keeps the person's text", () => {
  it("hears it, with the line endings of the file", async (t) => {
    const { reviews, told } = await review(t);
    reviews.edited("r1", "one\r\nTWO\r\nthree\r\n");
    assert.deepEqual(told(), { diffId: "q1", state: "shown", edited: true, added: 1, removed: 0, text: "one\nTWO\nthree\n" });
    reviews.edited("r1", "one\nTWO\n");
    assert.deepEqual(told(), { diffId: "q1", state: "shown", edited: false, added: 0, removed: 0 });
    reviews.edited("r1", "x".repeat(LIMIT + 1));
    assert.equal("text" in (told() ?? {}), false, "a long text is not sent");
  });

  it("does not hear it without asking", async (t) => {
    const { reviews, told } = await review(t, { keepsDrafts: false });
    reviews.edited("r1", "typed");
    assert.deepEqual([told()?.["edited"], told()?.["text"]], [true, undefined]);
  });

  it("gives it to the next window to begin with", async (t) => {
    const { editor, reviews, answer, told } = await review(t, { draft: "one\nTWO\ntyped\n" });
    assert.equal(editor.view.shown.get("r1")?.proposed, "one\nTWO\ntyped\n");
    assert.deepEqual([told()?.["edited"], told()?.["text"]], [true, "one\nTWO\ntyped\n"]);
    reviews.accept("r1", "button");
    assert.equal(textOf(await answer), "one\nTWO\ntyped\n");
  });
});

describe("a moved file that has changed on disk", () => {
  it("is named by the place that it moves from", async (t) => {
    const { editor, reviews, file } = await review(t, { path: "/elsewhere/g", removal: "move" });
    writeFileSync(file, "other\n");
    editor.documents.watchers.get(file)?.();
    await settled();
    reviews.accept("r1", "button");
    await settled();
    assert.deepEqual(editor.view.staleAsked, [file]);
  });
});
