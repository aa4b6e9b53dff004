// Whatever happens to the editor during a question: nothing is written without an answer,
// the terminal goes on asking, and the link comes back.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { edit } from "./lib/model.mjs";
import { Pty } from "./lib/pty.mjs";
import { stage, startScene, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";
const NAMES = ["tab", "reload", "host", "server", "again", "asleep", "draft", "gone"];
const files = Object.fromEntries(NAMES.map((name) => [`${name}.txt`, BASE]));
// The terminal reports within seconds that it is on its own; a busy machine gets more.
const STANDS = 30_000;
// An agent looks for a window that was away for long every 30 seconds.
const LOOKS_AGAIN = 120_000;

describe("a question whose editor fails", () => {
  const at = stage({ files });
  const read = (name) => at.scene.session.read(name).toString();

  /** An agent that asks on both surfaces; the file is not touched while it does. */
  const asked = async (name, more = []) => {
    const same = unchanged(at.scene.session.file(name), assert);
    const agent = await at.scene.agent([edit(name, "two", "TWO"), ...more, { text: "Good." }]);
    await at.scene.bench.diffShown();
    await agent.asks();
    same();
    return { agent, same };
  };

  it("the tab is closed: it goes on in the terminal, and comes back from the list", async () => {
    const { agent, same } = await asked("tab.txt");
    await at.scene.bench.closeActiveTab();
    await at.scene.session.noDiffs();
    await agent.asks();
    same();
    await at.scene.bench.statusItem("1 to review").click();
    await at.scene.bench.diffShown();
    await at.scene.bench.closeActiveTab();
    await at.scene.session.noDiffs();
    await agent.yes();
    assert.match(await agent.told(1), /^Wrote tab\.txt/);
    assert.equal(read("tab.txt"), PROPOSED);
    await until("no review to be left", async () => (await at.scene.bench.statusItem("to review").count()) === 0);
  });

  it("the window is reloaded: the diff comes again, and is answered there", async () => {
    const { agent, same } = await asked("reload.txt");
    const { pid } = await at.scene.session.lock();
    await at.scene.bench.command("Developer: Reload Window");
    await at.scene.session.backAfter(pid);
    await agent.shows("also open in code-server", LOOKS_AGAIN);
    await at.scene.bench.diffShown();
    await agent.asks();
    same();
    await at.scene.bench.press("Accept");
    await agent.asksNothing();
    assert.match(await agent.told(1), /^Wrote reload\.txt/);
    assert.equal(read("reload.txt"), PROPOSED);
    await at.scene.session.noDiffs();
  });

  it("the extension host is killed: the terminal's question stays, and the diff comes again", async () => {
    const { agent, same } = await asked("host.txt");
    const { pid } = await at.scene.session.lock();
    process.kill(pid, "SIGKILL");
    // VS Code starts another at once: a busy window may never paint the loss.
    const isBack = () => at.scene.session.host.locks().some((lock) => lock.pid !== pid);
    const alone = async () => (await at.scene.bench.terminalText()).replaceAll(/\s+/g, " ").includes("is lost: answer here");
    await until("the terminal to be on its own", async () => (await alone()) || isBack(), STANDS);
    await agent.asks();
    same();
    await at.scene.session.backAfterKill(pid);
    await agent.shows("also open in code-server", LOOKS_AGAIN);
    await at.scene.bench.diffShown();
    same();
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(1), /^Wrote host\.txt/);
    assert.equal(read("host.txt"), PROPOSED);
    await at.scene.session.noDiffs();
  });

  it("the server is stopped: the terminal answers, and the next question is in the editor again", async () => {
    const { agent, same } = await asked("server.txt", [edit("again.txt", "two", "TWO")]);
    await at.scene.session.probe(`await vscode.commands.executeCommand("agent.stop")`);
    await agent.shows("is lost: answer here", STANDS);
    await at.scene.session.noDiffs();
    same();
    await at.scene.session.probe(`await vscode.commands.executeCommand("agent.start")`);
    await agent.shows("also open in code-server", LOOKS_AGAIN);
    await at.scene.session.probe(`await vscode.commands.executeCommand("agent.stop")`);
    await agent.shows("is lost: answer here", STANDS);
    await agent.type("y");
    assert.match(await agent.told(1), /^Wrote server\.txt/);
    assert.equal(read("server.txt"), PROPOSED);
    await at.scene.session.probe(`await vscode.commands.executeCommand("agent.start")`);
    await at.scene.bench.diffShown();
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(2), /^Wrote again\.txt/);
    assert.equal(read("again.txt"), PROPOSED);
  });

  it("the extension host is suspended: the terminal says so, and its answer counts once the person knows what it takes", async () => {
    const { agent, same } = await asked("asleep.txt");
    const { pid } = await at.scene.session.lock();
    process.kill(pid, "SIGSTOP");
    try {
      await agent.shows("does not answer: answer here", STANDS);
      same();
      await at.scene.bench.typeInTerminal("y");
      await agent.shows("if it was edited there");
      await agent.asks();
      same();
      await at.scene.bench.typeInTerminal("y");
      assert.match(await agent.told(1), /^Wrote asleep\.txt/);
      assert.equal(read("asleep.txt"), PROPOSED);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await at.scene.session.noDiffs();
  });

  it("an edit in a suspended editor is never passed over: yes does not count, and the diff still does", async () => {
    const { agent, same } = await asked("draft.txt");
    await at.scene.bench.typeAtEnd("four");
    await agent.shows("edited in code-server");
    const { pid } = await at.scene.session.lock();
    process.kill(pid, "SIGSTOP");
    try {
      await agent.shows("does not answer", STANDS);
      await at.scene.bench.typeInTerminal("y");
      await agent.shows("that text cannot be fetched");
      same();
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(1), /changed the proposal before approving it[^]*\+four/);
    assert.equal(read("draft.txt"), `${PROPOSED}four`);
  });
});

describe("a question whose editor is gone for good", () => {
  it("stays in a terminal of its own, and is answered there", async () => {
    const scene = await startScene({ files, own: true });
    const { host, folder } = scene.session;
    const same = unchanged(scene.session.file("gone.txt"), assert);
    const agent = Pty.start(["agent", scene.conversation([edit("gone.txt", "two", "TWO"), { text: "Good." }])], { cwd: folder, env: host.env });
    try {
      await scene.bench.diffShown();
      await agent.paints("also open in code-server");
      agent.mark();
      host.child.kill("SIGKILL");
      process.kill((await scene.session.lock()).pid, "SIGKILL");
      await agent.paints("is lost: answer here", STANDS);
      same();
      agent.type("y");
      assert.match(await scene.model.told("scene-1", 1), /^Wrote gone\.txt/);
      assert.equal(scene.session.read("gone.txt").toString(), PROPOSED);
    } finally {
      await agent.stop();
      await scene.stop();
    }
  });
});
