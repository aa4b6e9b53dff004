// The real agent and a person in front of VS Code: the answer given there is written, and
// sent to the model.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { describe, it } from "node:test";

import { call, edit } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";
const NAMES = ["accept", "reject", "reason", "typed", "back", "comment", "headless", "closed"];

describe("an answer in VS Code", () => {
  const at = stage({ files: Object.fromEntries(NAMES.map((name) => [`${name}.txt`, BASE])) });
  const read = (name) => at.scene.session.read(name).toString();

  it("Accept: exactly the proposed bytes are written, not before and once", async () => {
    const agent = await at.scene.agent([edit("accept.txt", "two", "TWO"), { text: "Good." }]);
    const same = unchanged(at.scene.session.file("accept.txt"), assert);
    await at.scene.bench.diffShown();
    await agent.asks();
    same();
    await at.scene.bench.press("Accept");
    const told = await agent.told(1);
    assert.equal(read("accept.txt"), PROPOSED);
    assert.match(told, /^Wrote accept\.txt: 1 added, 1 removed/);
    assert.doesNotMatch(told, /changed the proposal/);
    await at.scene.session.noDiffs();
    assert.deepEqual(fs.readdirSync(at.scene.session.folder).sort(), NAMES.map((name) => `${name}.txt`).sort());
  });

  it("Reject: nothing of the file changes, and the model is told with the next prompt", async () => {
    const same = unchanged(at.scene.session.file("reject.txt"), assert);
    const agent = await at.scene.agent([edit("reject.txt", "two", "TWO"), { text: "I see." }]);
    await at.scene.bench.diffShown();
    await agent.asks();
    await at.scene.bench.press("Reject");
    await agent.asksNothing();
    await agent.shows("declined");
    await agent.type("go on\r");
    assert.match(await agent.told(1), /The user declined this edit\. Nothing was changed\./);
    same();
    await at.scene.session.noDiffs();
  });

  it("Reject with a reason: the model gets the reason and can go on at once", async () => {
    const same = unchanged(at.scene.session.file("reason.txt"), assert);
    const agent = await at.scene.agent([edit("reason.txt", "two", "TWO"), { text: "I see." }]);
    await at.scene.bench.diffShown();
    await agent.asks();
    await at.scene.bench.rejectWith("keep it lower case");
    assert.match(await agent.told(1), /declined this edit\. Nothing was changed\.\nThe user says: keep it lower case/);
    same();
  });

  it("text typed into the right side is written, and the next request holds its patch", async () => {
    const agent = await at.scene.agent([edit("typed.txt", "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown();
    await at.scene.bench.typeAtEnd("four");
    await at.scene.bench.press("Accept");
    const told = await agent.told(1);
    assert.equal(read("typed.txt"), `${PROPOSED}four`);
    assert.match(told, /The user changed the proposal before approving it/);
    assert.match(told, /^--- .*typed\.txt\n\+\+\+ .*typed\.txt\n@@ .* @@\n(.*\n)*\+four$/m);
    assert.doesNotMatch(told, /^[-+](one|two|TWO|three)$/m, "the patch holds more than the person's edit");
  });

  it("a proposal that is changed back to what the file holds writes nothing", async () => {
    const same = unchanged(at.scene.session.file("back.txt"), assert);
    const agent = await at.scene.agent([edit("back.txt", "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown();
    await at.scene.bench.page.click(".monaco-diff-editor .editor.modified .view-lines");
    await at.scene.bench.page.keyboard.press("Control+A");
    await at.scene.bench.page.keyboard.insertText(BASE);
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(1), /changed the proposal back .* nothing was written/);
    same();
  });

  it("a comment on a line of the diff reaches the model with the answer", async () => {
    const agent = await at.scene.agent([edit("comment.txt", "two", "TWO"), { text: "Good." }]);
    const { bench } = at.scene;
    await bench.diffShown();
    await bench.page.click(".monaco-diff-editor .editor.modified .view-lines .view-line >> nth=1");
    await bench.comment("why upper case?");
    assert.ok(await bench.page.locator(".terminal-wrapper.active").isVisible(), "the terminal that asks is still there");
    await agent.asks();
    await bench.press("Accept");
    assert.match(await agent.told(1), /comment on line 2 of the proposal: why upper case\?/);
    assert.equal(read("comment.txt"), PROPOSED);
  });

  /** The agent without a screen, outside the window; resolves to its exit status when it has ended. */
  const headless = (turns) => {
    const { env } = at.scene.session.host;
    const args = ["-p", at.scene.conversation(turns), "--ide"];
    const child = spawn("agent", args, { env, cwd: at.scene.session.folder, stdio: ["ignore", "pipe", "pipe"] });
    const said = { out: "", status: undefined };
    child.stdout.on("data", (data) => (said.out += data));
    child.stderr.on("data", (data) => (said.out += data));
    said.status = once(child, "close").then(([status]) => status);
    return said;
  };
  /** Waits for the diff of a run, which must not end before. */
  const asks = (run) => {
    const ended = run.status.then((status) => Promise.reject(new Error(`it ended with status ${status}`)));
    return Promise.race([at.scene.bench.diffShown(), ended]).catch((error) => assert.fail(`${error.message}; the agent said: ${run.out}`));
  };

  it("without a terminal the editor is the one that is asked", async () => {
    const run = headless([call("write_file", { path: "headless.txt", content: PROPOSED }), { text: "Good." }]);
    await asks(run);
    assert.equal(read("headless.txt"), BASE);
    await at.scene.bench.press("Accept");
    assert.equal(await run.status, 0, run.out);
    assert.equal(read("headless.txt"), PROPOSED);
  });

  it("without a terminal, closing the tab is a no", async () => {
    const same = unchanged(at.scene.session.file("closed.txt"), assert);
    const run = headless([edit("closed.txt", "two", "TWO"), { text: "I see." }]);
    await asks(run);
    await at.scene.bench.closeActiveTab();
    assert.equal(await run.status, 3, run.out);
    same();
    await until("no review to be left", async () => (await at.scene.bench.statusItem("to review").count()) === 0);
  });
});
