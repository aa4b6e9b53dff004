// The edits of a turn, reviewed together (review: turn): a review for each file, and nothing
// on disk before the last answer.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const TOTAL = 12;
const BASE = "one\ntwo\n";
const numbers = Array.from({ length: TOTAL }, (_, i) => i + 1);
const name = (number) => `turn/${number}.txt`;
const isNew = (number) => number > 10;
/** The answers that are not a plain yes. */
const [REJECTED, CHANGED] = [4, 7];

const proposal = (number) => (isNew(number) ? `new ${number}\n` : `one\n${number}\n`);
const change = (number) =>
  isNew(number)
    ? { tool: "write_file", args: { path: name(number), content: proposal(number) } }
    : { tool: "edit_file", args: { path: name(number), old_string: "two", new_string: `${number}` } };

describe("the edits of a turn in VS Code", () => {
  const at = stage({ files: Object.fromEntries(numbers.filter((n) => !isNew(n)).map((n) => [name(n), BASE])) });
  const read = (number) => (fs.existsSync(at.scene.session.file(name(number))) ? at.scene.session.read(name(number)).toString() : undefined);

  const reviews = async () => (await at.scene.session.tabs()).filter((label) => label.startsWith("Review: "));

  /** Shows the review of a file, with its place among the others. */
  const show = async (number) => {
    const { bench, session } = at.scene;
    const index = (await session.tabs()).findIndex((label) => label.includes(`/${number}.txt`));
    await session.probe(`await vscode.commands.executeCommand("workbench.action.openEditorAtIndex", args[0])`, index);
    await session.page.locator(".review-widget:visible", { hasText: `Proposed edit ${number} of ${TOTAL}` }).waitFor();
    await bench.diffShown();
  };

  /** Answers the review of a file with a button; a click that comes too soon after the review does not count. */
  const answer = (number, button) =>
    until(`${button} of ${name(number)}`, async () => {
      const open = async () => (await reviews()).some((label) => label.includes(`/${number}.txt`));
      if (!(await open())) return true;
      await show(number);
      await at.scene.bench.titleButton(button).click({ timeout: 5_000 });
      return until("the review to go", async () => !(await open()), 5_000);
    }, 60_000);

  /** Accepts one review after the other; returns the files that were written before the last answer. */
  const acceptAll = async () => {
    const early = new Set();
    const accept = at.scene.bench.titleButton("Accept").and(at.scene.session.page.locator(":not(.disabled)"));
    await until("all answers", async () => {
      const before = (await reviews()).length;
      if (before === 0) return true;
      const written = numbers.filter((n) => read(n) !== (isNew(n) ? undefined : BASE));
      if ((await reviews()).length > 0) for (const n of written) early.add(name(n));
      await accept.click({ timeout: 5_000 });
      await until("the review to go", async () => (await reviews()).length < before, 5_000);
      return (await reviews()).length === 0;
    }, 180_000);
    return [...early];
  };

  const typed = (text) =>
    until("the typed text", () =>
      at.scene.session.probe(`return vscode.workspace.textDocuments.some(({ uri, getText }) => uri.scheme === "agent-proposed" && getText().endsWith(args[0]))`, text),
    );

  it("are a review for each file; accepted, rejected and changed there, they are written after the last answer", async () => {
    const { bench, session } = at.scene;
    const turns = [{ text: "I change twelve files.", calls: numbers.map(change) }, { text: "All is done." }, { text: "I know." }];
    const agent = await at.scene.agent(turns, { env: { AGENT_REVIEW: "turn" } });
    await until("all reviews", async () => (await reviews()).length === TOTAL);
    await bench.statusItem(`${TOTAL} to review`).waitFor();
    for (const number of numbers) await show(number);
    await show(CHANGED);
    await bench.typeAtEnd("typed");
    await typed("typed");
    await answer(REJECTED, "Reject");
    assert.deepEqual(await acceptAll(), [], "written before the last answer");
    const want = (n) => (n === REJECTED ? BASE : n === CHANGED ? `${proposal(n)}typed` : proposal(n));
    await until("the files to be written", () => numbers.every((n) => read(n) === want(n)));
    await session.noDiffs();
    await agent.idle();
    await agent.type("and now?\r");
    const request = JSON.stringify(await at.scene.model.request(agent.prompt, 2));
    assert.ok(request.includes(`the disk keeps as before: ${name(REJECTED)}`), request);
    assert.ok(request.includes("+typed"), request);
  });
});
