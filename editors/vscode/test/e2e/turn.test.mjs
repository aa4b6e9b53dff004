// The edits of a turn, reviewed together (review: turn): a review for each file, and nothing
// on disk before the last answer.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
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

const program = (body) => `package main\n\n${body}\n`;
const go = { "turn/go.mod": "module turn.test\n\ngo 1.26\n", "turn/main.go": program("func main() { println(1) }"), "turn/lib.go": program("func f() {}") };
const env = { AGENT_REVIEW: "turn", AGENT_CHECK: "auto", GOCACHE: execFileSync("go", ["env", "GOCACHE"]).toString().trim() };

describe("the edits of a turn in VS Code", () => {
  const at = stage({ files: { ...go, ...Object.fromEntries(numbers.filter((n) => !isNew(n)).map((n) => [name(n), BASE])) } });
  const read = (number) => (fs.existsSync(at.scene.session.file(name(number))) ? at.scene.session.read(name(number)).toString() : undefined);

  /** How many reviews wait, as the status bar says. */
  const waiting = async () => Number(/(\d+) to review/.exec(await at.scene.bench.statusItem("Agent").first().innerText())?.[1] ?? 0);

  /** Shows the review of a file, with its place among the others: one diff is open, and the rest on demand. */
  const show = async (number) => {
    const { bench, session } = at.scene;
    const front = () => session.probe("return vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? ''");
    await until(`the review ${number}`, async () => {
      const before = await front();
      if (before.includes(`(${number} of ${TOTAL})`)) return true;
      await session.probe(`await vscode.commands.executeCommand("agent.nextReview")`);
      await until("another review", async () => (await front()) !== before, 10_000);
      return false;
    });
    await session.page.locator(".codelens-decoration:visible", { hasText: `agent · ${number} of ${TOTAL}` }).first().waitFor();
    await bench.diffShown(`/${number}.txt`);
  };

  /** Answers the review of a file with a button; a click that comes too soon after the review does not count. */
  const answer = (number, button) =>
    until(`${button} of ${name(number)}`, async () => {
      const before = await waiting();
      await show(number);
      await at.scene.bench.titleButton(button).click({ timeout: 5_000 });
      return until("the review to go", async () => (await waiting()) < before, 5_000);
    }, 60_000);

  /** Accepts one review after the other; returns the files that were written before the last answer. */
  const acceptAll = async () => {
    const early = new Set();
    const accept = at.scene.bench.titleButton("Accept").and(at.scene.session.page.locator(":not(.disabled)"));
    await until("all answers", async () => {
      const before = await waiting();
      if (before === 0) return true;
      const written = numbers.filter((n) => read(n) !== (isNew(n) ? undefined : BASE));
      if ((await waiting()) > 0) for (const n of written) early.add(name(n));
      await accept.first().click({ timeout: 5_000 });
      await until("the review to go", async () => (await waiting()) < before, 5_000);
      return (await waiting()) === 0;
    }, 180_000);
    return [...early];
  };

  const typed = (text) =>
    until("the typed text", () =>
      at.scene.session.probe(`return vscode.workspace.textDocuments.some(({ uri, getText }) => ["agent-proposed", "agent-inline"].includes(uri.scheme) && getText().endsWith(args[0]))`, text),
    );

  it("are tried together; the result is in the head of each review and of the terminal's question, red and green", async () => {
    const { bench, model, session } = at.scene;
    const row = (words) => session.page.locator(".codelens-decoration a").filter({ hasText: words }).first();
    const problems = () =>
      session.probe(
        `return vscode.languages.getDiagnostics().filter(([uri]) => uri.scheme === "agent-proposed").flatMap(([, all]) => all.map(({ message }) => message)).sort().join(", ")`,
      );
    const edit = (file, body) => ({ tool: "write_file", args: { path: `turn/${file}.go`, content: program(body) } });
    const needing = edit("main", "func main() { g() }");
    const agent = await at.scene.agent(
      [{ calls: [needing, edit("lib", "func f() { missing() }")] }, { text: "First." }, { calls: [edit("lib", "func g() {}")] }, { text: "Second." }],
      { env },
    );
    await until("both reviews", async () => (await waiting()) === 2);
    await bench.diffShown();
    await row("go vet . ✗ 2 new errors").waitFor();
    await until("the problems of both files", async () => (await problems()) === "undefined: g, undefined: missing");
    await agent.shows("check: go vet . ✗ 2 new errors");
    await agent.shows("c why not");
    await agent.type("c");
    await agent.shows("no, because:");
    await agent.type("mend it\r");
    await model.request(agent.prompt, 3);
    await until("the reviews of the next proposal", async () => (await waiting()) === 2 && (await problems()) === "");
    await agent.shows("check: go vet . ✔");
    await row("go vet . ✔").waitFor();
    assert.equal(session.read("turn/lib.go").toString(), go["turn/lib.go"], "written before the answer");
    assert.deepEqual(await acceptAll(), []);
    await until("the files to be written", () => session.read("turn/lib.go").toString() === program("func g() {}"));
    await session.noDiffs();
    await agent.idle();
  });

  it("are a review for each file; accepted, rejected and changed there, they are written after the last answer", async () => {
    const { bench, session } = at.scene;
    const turns = [{ text: "I change twelve files.", calls: numbers.map(change) }, { text: "All is done." }, { text: "I know." }];
    const agent = await at.scene.agent(turns, { env: { AGENT_REVIEW: "turn" } });
    await bench.statusItem(`${TOTAL} to review`).waitFor();
    await bench.diffShown();
    assert.equal((await session.diffs()).length, 1, "one diff");
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
