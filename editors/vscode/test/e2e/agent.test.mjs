// The real agent in the integrated terminal, with a scripted model: it connects by
// itself, its edits come up as diffs, and the model learns how they were answered.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, afterEach, before, describe, it } from "node:test";

import { startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const edit = (name, from, to) => ({
  text: "I change a line.",
  calls: [{ tool: "edit_file", args: { path: name, old_string: from, new_string: to } }],
});
const looks = (name) => ({ text: "I look.", calls: [{ tool: "read_file", args: { path: name } }] });

describe("agent in the integrated terminal", () => {
  let session;
  before(async () => {
    session = await startSession({ files: { "a.txt": BASE, "b.txt": BASE, "c.txt": BASE, "d.txt": BASE } });
  });
  after(() => session?.stop());
  afterEach(async (t) => {
    if (t.passed === false) await session.keep(t.name);
    await session.probe("for (const terminal of vscode.window.terminals) terminal.dispose()");
    await session.noDiffs();
  });

  it("Accept writes exactly the proposed bytes, and the model is told", async () => {
    const turns = [
      looks("a.txt"),
      edit("a.txt", "two", "TWO"),
      { expect: [{ result_contains: "Wrote" }], text: "The model knows it was accepted." },
    ];
    await session.startAgent(turns, "please");
    await session.bench.diffShown();
    assert.equal(session.read("a.txt").toString(), BASE);
    await session.bench.press("Accept");
    await until("the edit to be written", () => session.read("a.txt").toString() === "one\nTWO\nthree\n");
    await session.terminalShows("The model knows it was accepted.");
  });

  it("Reject leaves inode, bytes and time, and the model is told", async () => {
    const before = fs.statSync(session.file("b.txt"));
    const turns = [
      looks("b.txt"),
      edit("b.txt", "two", "TWO"),
      { expect: [{ result_contains: "use lower case" }], text: "The model knows it was rejected." },
    ];
    await session.startAgent(turns, "please");
    await session.bench.diffShown();
    await session.bench.rejectWith("use lower case");
    await session.terminalShows("The model knows it was rejected.");
    const now = fs.statSync(session.file("b.txt"));
    assert.deepEqual([now.ino, now.mtimeMs, now.size], [before.ino, before.mtimeMs, before.size]);
    assert.equal(session.read("b.txt").toString(), BASE);
  });

  it("text typed into the diff is written, and the model gets the patch", async () => {
    const turns = [
      looks("c.txt"),
      edit("c.txt", "two", "TWO"),
      { expect: [{ result_contains: "+four" }], text: "The model knows the patch." },
    ];
    await session.startAgent(turns, "please");
    await session.bench.diffShown();
    await session.bench.typeAtEnd("four");
    await session.bench.press("Accept");
    await session.terminalShows("The model knows the patch.");
    assert.equal(session.read("c.txt").toString(), "one\nTWO\nthree\nfour");
  });

  it("its keys reach it in the terminal, and Shift+Enter begins a new line", async () => {
    await session.startAgent([{ text: "hello" }, { expect: [{ prompt_contains: "first\nsecond" }], text: "Two lines." }], "hi");
    await session.terminalShows("hello");
    await session.agentHasKeys();
    await session.bench.typeInTerminal("first");
    await session.page.keyboard.press("Shift+Enter");
    await session.page.keyboard.type("second x");
    await session.page.keyboard.press("Control+B");
    await session.page.keyboard.press("Control+K");
    await session.page.keyboard.press("Enter");
    await session.terminalShows("Two lines.");
    assert.equal(await session.page.locator(".quick-input-widget:visible").count(), 0);
    await session.page.keyboard.press("Control+P");
    await session.terminalShows("second");
    assert.equal(await session.page.locator(".quick-input-widget:visible").count(), 0);
  });

  it("answered in the terminal, the diff goes away with its text written", async () => {
    const turns = [looks("d.txt"), edit("d.txt", "two", "TWO"), { expect: [{ result_contains: "Wrote" }], text: "Written." }];
    await session.startAgent(turns, "please");
    await session.bench.diffShown();
    await session.bench.typeAtEnd("typed in the diff");
    await session.terminalShows("edited in code-server");
    await session.keepsUp();
    await session.bench.typeInTerminal("y");
    await session.noDiffs();
    await session.terminalShows("Written.");
    assert.equal(session.read("d.txt").toString(), "one\nTWO\nthree\ntyped in the diff");
  });
});
