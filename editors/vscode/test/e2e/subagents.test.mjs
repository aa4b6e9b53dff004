// Sub-agents that work at the same time ask in VS Code, one after another and each by name.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const PARTS = [0, 1, 2, 3, 4, 5, 6, 7];
const BASE = "one\ntwo\n";
const change = (part, step, from, to) => ({ text: `step ${step}`, calls: [{ tool: "edit_file", args: { path: `${part}.txt`, old_string: from, new_string: to } }] });

describe("sub-agents in VS Code", () => {
  const at = stage({ files: Object.fromEntries(PARTS.map((part) => [`${part}.txt`, BASE])) });
  const read = (part) => at.scene.session.read(`${part}.txt`).toString();

  /** An agent that delegates to eight sub-agents at once; each edits its file in two steps. */
  const delegates = async () => {
    const { model, session } = at.scene;
    const home = path.join(session.host.agentHome, "agents");
    fs.mkdirSync(home, { recursive: true });
    fs.writeFileSync(path.join(home, "editor.md"), "---\nname: editor\ndescription: edits\ntools: edit_file\n---\nYou edit.\n");
    for (const part of PARTS) {
      fs.writeFileSync(session.file(`${part}.txt`), BASE);
      model.play(`part-${part}`, [change(part, 1, "one", "ONE"), change(part, 2, "two", "TWO"), { text: `<${part} is done>` }]);
    }
    const task = (part) => ({ tool: "task", args: { agent: "editor", description: `part ${part}`, prompt: `part-${part}` } });
    return at.scene.agent([{ text: "I delegate.", calls: PARTS.map(task) }, { text: "All is done." }]);
  };

  /** The question that is shown: of which part, and its step; none of those answered before. */
  const question = (answered) =>
    until("the next question", async () => {
      const words = (await at.scene.session.page.locator(".codelens-decoration").allInnerTexts()).join(" ").replaceAll(/\s+/g, " ");
      const found = /editor: part (\d) – step (\d)/.exec(words);
      return found !== null && !answered.includes(found[0]) ? found : undefined;
    });

  it("each question is asked once, with the one that asks; a no ends that one alone", async () => {
    const agent = await delegates();
    const answered = [];
    for (let n = 0; n < 2 * PARTS.length - 1; n++) {
      const [words, part, step] = await question(answered);
      await at.scene.bench.diffShown();
      answered.push(words);
      await at.scene.bench.press(part === "3" ? "Reject" : "Accept");
      if (part !== "3") await until(`step ${step} of part ${part}`, () => read(part).startsWith(step === "1" ? "ONE" : "ONE\nTWO"));
    }
    const told = await agent.told(1);
    const want = PARTS.map((part) => (part === 3 ? "The user declined a step of this task" : `<${part} is done>`));
    for (const words of want) assert.ok(told.includes(words), told);
    for (const part of PARTS) assert.equal(read(part), part === 3 ? BASE : "ONE\nTWO\n");
    assert.equal(new Set(answered).size, 2 * PARTS.length - 1);
    await at.scene.session.noDiffs();
  });

  it("Esc in the terminal ends them all, and no question is left", async () => {
    const agent = await delegates();
    await question([]);
    await agent.asks();
    await agent.type("\x1b");
    await at.scene.session.noDiffs();
    await agent.asksNothing();
    await agent.shows("Interrupted.");
    for (const part of PARTS) assert.equal(read(part), BASE);
  });
});
