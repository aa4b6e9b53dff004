// The first minutes: the extension gets in, starts quickly, and works in a folder
// that the person has not said they trust.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { edit } from "./lib/model.mjs";
import { Pty } from "./lib/pty.mjs";
import { stage, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";

describe("a window without the extension", () => {
  const at = stage({ bare: true, files: { "a.txt": BASE } });

  it("gets it from agent ide install in its terminal, and reviews an edit of the agent that it starts", async (t) => {
    const { session, bench } = at.scene;
    await session.probe(`const terminal = vscode.window.createTerminal("install"); terminal.show(); terminal.sendText("agent ide install");`);
    await session.terminalShows("installed with", 60_000);
    const { trusted, ideName } = await session.lock();
    assert.deepEqual([trusted, ideName], [true, "code-server"]);

    t.diagnostic(`the extension's activation took ${await activation(bench)} ms`);

    const agent = at.scene.agentOf(at.scene.conversation([edit("a.txt", "two", "TWO"), { text: "Good." }]), "Agent");
    await bench.command("Agent: Start in Terminal");
    await agent.shows("· code-server");
    await agent.type(`${agent.prompt}\r`);
    await bench.diffShown();
    await agent.asks();
    await bench.press("Accept");
    assert.match(await agent.told(1), /^Wrote a\.txt/);
    assert.equal(session.read("a.txt").toString(), PROPOSED);
  });
});

/**
 * How long the extension's activation took, by VS Code's own list. The list holds only the rows that are on
 * the screen, and is sorted again while extensions start: a row that was below may be above.
 */
async function activation(bench) {
  await bench.command("Developer: Show Running Extensions");
  const list = bench.page.locator(".runtime-extensions-editor .monaco-list");
  await list.click();
  const row = list.locator(".monaco-list-row", { hasText: /^Agent/ });
  let pages = 0;
  const found = await until("the extension among those that run", async () => {
    if ((await row.count()) === 0) return void (await bench.page.keyboard.press(++pages % 6 === 0 ? "Home" : "PageDown"));
    return /Activation: (\d+)\s*ms/.exec(await row.textContent());
  });
  await bench.page.keyboard.press("Escape");
  await list.waitFor({ state: "detached" });
  return Number(found[1]);
}

describe("a folder that is not trusted", () => {
  const settings = { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" };
  const at = stage({ settings, fresh: true, files: { "a.txt": BASE } });

  it("is reviewed like any other: the extension shows, the agent writes", async () => {
    const { session, bench, model } = at.scene;
    assert.equal(await session.probe("return vscode.workspace.isTrusted"), false);
    assert.equal((await session.lock()).trusted, false);
    const same = unchanged(session.file("a.txt"), assert);
    const prompt = at.scene.conversation([edit("a.txt", "two", "TWO"), { text: "Good." }]);
    const agent = Pty.start(["agent", prompt], { cwd: session.folder, env: session.host.env });
    try {
      await bench.diffShown();
      await agent.paints("also open in code-server");
      same();
      await bench.press("Accept");
      assert.match(await model.told(prompt, 1), /^Wrote a\.txt/);
      assert.equal(session.read("a.txt").toString(), PROPOSED);
    } finally {
      await agent.stop();
    }
  });
});
