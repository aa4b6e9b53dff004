// Text typed in a review is there again, or is offered, after the end of the window, its extensions or the agent.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Client } from "./lib/client.mjs";
import { connect } from "./lib/door.mjs";
import { call, edit } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";
const NAMES = ["reload", "host", "plain", "door", "killed", "quiet", "unheard", "replaced", "crlf", "open"];

describe("what a person typed in a review", () => {
  const at = stage({ files: Object.fromEntries(NAMES.map((name) => [`${name}.txt`, name === "crlf" ? BASE.replaceAll("\n", "\r\n") : BASE])), fresh: true });
  const read = (name) => at.scene.session.read(`${name}.txt`).toString();
  const file = (name) => at.scene.session.file(`${name}.txt`);
  const toast = (text) => at.scene.session.page.locator(".notification-toast", { hasText: text }).first();
  const press = async (text, button) => {
    await toast(text).waitFor();
    await toast(text).locator(".monaco-button", { hasText: button }).click();
  };
  /** The text of a file's document, saved or not. */
  const document = (name) =>
    at.scene.session.probe(`const found = vscode.workspace.textDocuments.find(({ uri }) => ["file", "untitled"].includes(uri.scheme) && uri.fsPath === args[0]);
      return found && [found.getText(), found.isDirty]`, file(name));
  const proposal = (name) =>
    at.scene.session.probe(`const shown = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).map(({ input }) => input?.modified).find((uri) => uri?.fsPath === args[0]);
      return vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === shown?.toString())?.getText()`, file(name));
  const reload = async () => {
    const { pid } = await at.scene.session.lock();
    await at.scene.bench.command("Developer: Reload Window");
    await at.scene.session.backAfter(pid);
  };
  const killHost = async () => {
    const { pid } = await at.scene.session.lock();
    process.kill(pid, "SIGKILL");
    await at.scene.session.backAfterKill(pid);
  };
  /** The process of the agent that is linked to the window. */
  const linkedPid = () =>
    until("the agent's process", async () => {
      const label = await at.scene.session.page.locator("[id$='agent.link'] a").getAttribute("aria-label");
      return Number(/process (\d+)/.exec(label ?? "")?.[1]);
    });

  for (const [how, name, again] of [["Reload Window", "reload", reload], ["the death of the extension host", "host", killHost], ["Reload Window, with CRLF", "crlf", reload]]) {
    it(`is in the agent's diff after ${how}, and is written with the yes`, async () => {
      const agent = await at.scene.agent([edit(`${name}.txt`, "two", "TWO"), { text: "Good." }]);
      await at.scene.bench.diffShown(`${name}.txt`);
      await agent.asks();
      const same = unchanged(file(name), assert);
      await at.scene.bench.typeAtEnd("typed here");
      await again();
      await at.scene.bench.diffShown(`${name}.txt`);
      await until(`the text, and not ${JSON.stringify(await proposal(name))}`, async () => (await proposal(name))?.endsWith("typed here"));
      assert.equal((await at.scene.session.diffs()).length, 1, "no dead tab is left");
      same();
      await at.scene.bench.press("Accept");
      assert.match(await agent.told(1), /typed here/);
      const eol = name === "crlf" ? "\r\n" : "\n";
      assert.equal(read(name), `${PROPOSED}typed here`.replaceAll("\n", eol));
    });
  }

  it("for a client that is gone with the window is offered, and put into the file by hand", async () => {
    const door = await connect(at.scene.session);
    const answer = door.json("write_file", { path: "door.txt", content: PROPOSED }).catch((error) => error);
    await at.scene.bench.diffShown("door.txt");
    await at.scene.bench.typeAtEnd("mine");
    await reload();
    await answer;
    await press("no longer asks about door.txt", "Put Into the File");
    await until("the text in the file's document", async () => (await document("door"))?.[0] === `${PROPOSED}mine`);
    assert.equal((await document("door"))[1], true, "it is not saved");
    assert.equal(read("door"), BASE);
    assert.deepEqual(await at.scene.session.diffs(), []);
    await at.scene.session.probe(`await vscode.commands.executeCommand("workbench.action.files.revert")`);
    await door.close().catch(() => undefined);
  });

  it("is offered when the agent was killed; a diff without any says that it is gone", async () => {
    const agent = await at.scene.agent([edit("killed.txt", "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown("killed.txt");
    await at.scene.bench.typeAtEnd("mine");
    await agent.shows("edited in code-server");
    process.kill(await linkedPid(), "SIGKILL");
    await press("no longer asks about killed.txt", "Copy");
    await until("the clipboard", async () => (await at.scene.session.probe("return vscode.env.clipboard.readText()")) === `${PROPOSED}mine`);
    await at.scene.session.noDiffs();
    assert.equal(read("killed"), BASE);
    const other = await at.scene.agent([edit("quiet.txt", "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown("quiet.txt");
    await other.asks();
    process.kill(await linkedPid(), "SIGKILL");
    await toast("is gone: its edit of quiet.txt was not written").waitFor();
    await at.scene.session.noDiffs();
    assert.equal(read("quiet"), BASE);
  });

  it("and accepted is offered when nobody has heard of that; left alone, it stays in the list", async () => {
    const client = await Client.connect(await at.scene.session.lock());
    const answer = client.openDiff(file("unheard"), PROPOSED).catch((error) => error);
    await at.scene.bench.diffShown("unheard.txt");
    await at.scene.bench.typeAtEnd("mine");
    await at.scene.bench.caughtUp();
    client.socket.terminate();
    await at.scene.session.page.keyboard.press("Control+Enter");
    await answer;
    await toast("nobody has heard that you accepted its edit of unheard.txt").waitFor();
    assert.equal(read("unheard"), BASE);
    await at.scene.bench.command("Notifications: Clear All Notifications");
    await at.scene.bench.command("Agent: Show Texts Kept from Reviews");
    await at.scene.session.page.locator(".quick-input-widget .monaco-list-row", { hasText: "unheard.txt" }).click();
    await press("nobody has heard that you accepted its edit of unheard.txt", "Put Into the File");
    await until("the text in the file's document", async () => (await document("unheard"))?.[0] === `${PROPOSED}mine`);
    await at.scene.session.probe(`await vscode.commands.executeCommand("workbench.action.files.revert")`);
  });

  it("is no longer kept once it was answered, in the editor or in the terminal", async () => {
    const agent = await at.scene.agent([edit("plain.txt", "two", "TWO"), edit("open.txt", "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown("plain.txt");
    await at.scene.bench.typeAtEnd("mine");
    await at.scene.bench.press("Accept");
    await at.scene.bench.diffShown("open.txt");
    await at.scene.bench.typeAtEnd("mine");
    await agent.shows("edited in code-server");
    await agent.yes();
    await agent.told(2);
    assert.equal(read("open"), `${PROPOSED}mine`);
    await at.scene.bench.command("Agent: Show Texts Kept from Reviews");
    await toast("No text of a review is kept").waitFor();
  });
});
