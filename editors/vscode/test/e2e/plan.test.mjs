// The plan of the plan mode in VS Code: a document in Markdown that a person comments on,
// changes and accepts there, or in the terminal.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { call, edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const PLAN = "# Upper case\n\n1. Change the second line.\n";
const presents = (plan) => call("present_plan", { plan }, "I have read enough.");
const PLANNING = { flags: ["--permission-mode", "plan"] };

describe("a plan in VS Code", () => {
  const at = stage({ files: { "a.txt": "one\ntwo\nthree\n" } });
  const plan = () => at.scene.bench.tab("Plan of agent");
  const PLAN_TEXT = ".part.editor .monaco-editor[data-uri^='agent-plan:']";
  /** Waits until a plan takes answers, which is not that of before; resolves to its address. */
  const shown = async (before) => {
    const { page } = at.scene.bench;
    const address = await until("a plan", async () => {
      const found = await page.locator(PLAN_TEXT).first().getAttribute("data-uri", { timeout: 5_000 });
      return found !== before && found;
    });
    await at.scene.bench.titleButton("Accept").and(page.locator(":not(.disabled)")).waitFor();
    return address;
  };
  const gone = () => until("the plan to go", async () => (await plan().count()) === 0);
  const choose = async (mode) => {
    const row = at.scene.bench.page.locator(".quick-input-list .monaco-list-row", { hasText: mode });
    await row.waitFor();
    await row.click();
  };
  const plans = `return vscode.workspace.textDocuments.filter((each) => each.uri.scheme === "agent-plan" && !each.isClosed).map((each) => [each.languageId, each.getText()])`;

  it("is commented on, changed and accepted with the mode to go on in", async () => {
    const { bench, session } = at.scene;
    const agent = await at.scene.agent([presents(PLAN), presents(PLAN), edit("a.txt", "two", "TWO"), { text: "Good." }], PLANNING);
    const first = await shown();
    assert.deepEqual(await session.probe(plans), [["markdown", PLAN]]);
    assert.equal(await bench.page.locator(".monaco-diff-editor").count(), 0, "it is no diff");
    await bench.page.click(".part.editor .view-lines .view-line >> nth=2");
    await bench.comment("only that one?");
    await bench.press("Reject");
    assert.match(await agent.told(1), /comment on line 3 of the proposal, "1\. Change the second line\.": only that one\?/);

    await shown(first);
    await bench.page.click(".part.editor .view-lines");
    await bench.page.keyboard.press("Control+End");
    await bench.page.keyboard.type("2. And no other.");
    await bench.press("Accept");
    await choose("Carry It Out, Accept Edits");
    assert.match(await agent.told(2), /changed the plan and accepted it[^]*1\. Change the second line\.\n2\. And no other\./);
    await agent.told(3);
    assert.equal(session.read("a.txt").toString(), "one\nTWO\nthree\n");
    await gone();
  });

  it("goes away when the terminal answers first, with the text of the document", async () => {
    const { bench } = at.scene;
    const agent = await at.scene.agent([presents(PLAN), { text: "Good." }], PLANNING);
    await shown();
    await bench.page.click(".part.editor .view-lines");
    await bench.page.keyboard.press("Control+End");
    await bench.page.keyboard.type("2. Typed in the window.");
    await agent.shows("edited in code-server");
    await at.scene.session.keepsUp();
    await agent.type("y");
    assert.match(await agent.told(1), /changed the plan and accepted it[^]*2\. Typed in the window\./);
    await gone();
  });

  it("is no answer when the question for the mode is left", async () => {
    const { bench } = at.scene;
    const agent = await at.scene.agent([presents(PLAN), { text: "Good." }], PLANNING);
    await shown();
    await bench.press("Accept");
    await bench.page.locator(".quick-input-list .monaco-list-row", { hasText: "Ask About Edits" }).waitFor();
    await bench.page.keyboard.press("Escape");
    await shown();
    await bench.press("Accept");
    await choose("Carry It Out, Ask About Edits");
    assert.match(await agent.told(1), /accepted this plan unchanged[^]*Permission mode: default/);
    await gone();
  });
});
