// The permission that a person gives with an acceptance, beyond the edit.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { parseOffer } from "../../src/core/always";
import type { Always } from "../../src/core/always";
import type { Details } from "../../src/core/outcome";
import { Reviews } from "../../src/core/reviews";
import { FakeEditor, request, settled, tempFolder } from "./fakes";

describe("an acceptance that allows more", () => {
  const rule: Always = { rule: "edit(docs/**)", uses: 10 };
  const offer = { rule: "edit(docs/a.md)", problem: "" };
  const owner = { id: 1, notify: () => undefined };

  it("is told with the rule, and only if one was offered and a button was pressed", async (t) => {
    const file = path.join(tempFolder(t), "a.md");
    writeFileSync(file, "one\n");
    const cases: [string, typeof offer | undefined, (reviews: Reviews) => void, Always | undefined][] = [
      ["with a rule", offer, (reviews) => reviews.accept("r1", "button", undefined, rule), rule],
      ["for the session", offer, (reviews) => reviews.accept("r1", "command", undefined, { session: true }), { session: true }],
      ["nothing more", offer, (reviews) => reviews.accept("r1", "button"), undefined],
      ["not offered", undefined, (reviews) => reviews.accept("r1", "button", undefined, rule), undefined],
      ["by the terminal", offer, (reviews) => reviews.resolve(owner, "q", "accept"), undefined],
    ];
    for (const [name, offered, answers, want] of cases) {
      const reviews = new Reviews(new FakeEditor().ports, () => "r1");
      const { answer } = reviews.ask(owner, request(file, "two\n", { diffId: "q", offer: offered }), "a.md");
      await settled();
      answers(reviews);
      const result = await answer;
      assert.ok(typeof result === "object", name);
      const told = JSON.parse(result.content.at(-1)?.text ?? "") as Details;
      assert.deepEqual([told.outcome, told.always], ["accepted", want], name);
    }
  });

  it("is not told if the person takes it back and accepts only the edit", async (t) => {
    const file = path.join(tempFolder(t), "a.md");
    writeFileSync(file, "one\n");
    const editor = new FakeEditor();
    const reviews = new Reviews(editor.ports, () => "r1");
    const notes = [{ kind: "hidden", text: "A character does not show." }];
    const { answer } = reviews.ask(owner, request(file, "two\n", { offer, notes }), "a.md");
    await settled();
    editor.view.confirmNotes = () => Promise.resolve(false);
    reviews.accept("r1", "button", undefined, rule);
    await settled();
    editor.view.confirmNotes = () => Promise.resolve(true);
    reviews.accept("r1", "button");
    const result = await answer;
    assert.ok(typeof result === "object");
    assert.equal((JSON.parse(result.content.at(-1)?.text ?? "") as Details).always, undefined);
  });

  it("is offered only with a rule that can be shown as it is", () => {
    assert.deepEqual(parseOffer({ rule: "edit(a)" }), { rule: "edit(a)", problem: "" });
    assert.equal(parseOffer({ rule: "edit(a)", problem: "It covers\nevery file." })?.problem, "It covers every file.");
    for (const bad of [undefined, "edit(a)", {}, { rule: "" }, { rule: 1 }, { rule: "edit(a)\nb" }, { rule: "x".repeat(501) }]) assert.equal(parseOffer(bad), undefined);
  });
});
