// Text typed in a review is there again, or is offered, after the end of the window, its extensions or the agent.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

import WebSocket from "ws";

import { Client } from "./lib/client.mjs";
import { connect } from "./lib/door.mjs";
import { call, edit } from "./lib/model.mjs";
import { stage, startScene, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";
const NAMES = ["reload", "host", "plain", "door", "killed", "quiet", "unheard", "replaced", "crlf", "open", "bridge"];

describe("what a person typed in a review", () => {
  const at = stage({ files: Object.fromEntries(NAMES.map((name) => [`${name}.txt`, name === "crlf" ? BASE.replaceAll("\n", "\r\n") : BASE])) });
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
    at.scene.session.probe(`const shown = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).map(({ input }) => input?.modified).find((uri) => uri !== undefined && args[0].endsWith(uri.path));
      return vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === shown?.toString())?.getText()`, file(name));
  const bridge = async () => {
    await at.scene.session.configure({ "agent.bridge.enabled": true });
    const found = await until("bridge.json", () => JSON.parse(fs.readFileSync(path.join(at.scene.session.host.agentHome, "ide/bridge.json"), "utf8")));
    const socket = new WebSocket(found.url, { headers: { "x-agent-ide-authorization": found.authToken } });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return socket;
  };
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

  /** An agent's edit of a file that is in review, with a line of the person's. */
  const typed = async (name) => {
    const agent = await at.scene.agent([edit(`${name}.txt`, "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown(`${name}.txt`);
    await agent.asks();
    const same = unchanged(file(name), assert);
    await at.scene.bench.typeAtEnd("typed here");
    return { agent, name, same };
  };
  /** The review is there again with that line, which is written with the yes. */
  const kept = async ({ agent, name, same }) => {
    await until(`the text in ${name}.txt's review`, async () => (await proposal(name))?.endsWith("typed here"));
    same();
    await at.scene.bench.tab(`${name}.txt`).click();
    await at.scene.bench.diffShown(`${name}.txt`);
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(1), /typed here/);
    const eol = name === "crlf" ? "\r\n" : "\n";
    assert.equal(read(name), `${PROPOSED}typed here`.replaceAll("\n", eol));
  };

  it("is in the agents' diffs after Reload Window, whatever the line ends, and is written with the yes; that for a client that is gone with the window is offered, and put into the file by hand", async () => {
    const door = await connect(at.scene.session);
    const reviews = [await typed("reload"), await typed("crlf")];
    const answer = door.json("write_file", { path: "door.txt", content: PROPOSED }).catch((error) => error);
    await at.scene.bench.diffShown("door.txt");
    await at.scene.bench.typeAtEnd("mine");
    const program = await bridge();
    program.send(JSON.stringify({ type: "proposeDiff", file: file("bridge"), edits: [{ range: { start: { line: 1, character: 0 }, end: { line: 1, character: 3 } }, newText: "TWO" }] }));
    await until("the review of bridge.txt", () => at.scene.session.probe(`return vscode.window.activeTextEditor?.document.uri.scheme === "agent-inline"`));
    await at.scene.session.page.locator(".codelens-decoration", { hasText: "bridge client" }).waitFor();
    await at.scene.session.page.locator(".part.editor .editor-instance .view-lines").first().click();
    await at.scene.session.page.locator(".part.editor .editor-instance .monaco-editor.focused").waitFor();
    await at.scene.session.page.keyboard.press("Control+End");
    await at.scene.session.page.keyboard.type("mine");
    await until("the typing", () => at.scene.session.probe(`return vscode.workspace.textDocuments.some(({ uri, getText }) => uri.scheme === "agent-inline" && getText().endsWith("mine"))`));
    await reload();
    await answer;
    await press("no longer asks about bridge.txt", "Copy");
    await until("the clipboard", async () => (await at.scene.session.probe("return vscode.env.clipboard.readText()")) === `${PROPOSED}mine`);
    await press("no longer asks about door.txt", "Put Into the File");
    await until("the text in the file's document", async () => (await document("door"))?.[0] === `${PROPOSED}mine`);
    assert.equal((await document("door"))[1], true, "it is not saved");
    assert.equal(read("door"), BASE);
    for (const each of reviews) await until("its diff", () => proposal(each.name));
    await until("the dead tab to go", async () => (await at.scene.session.diffs()).length === 2);
    await at.scene.session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0])); await vscode.commands.executeCommand("workbench.action.files.revert")`, file("door"));
    for (const each of reviews) await kept(each);
    await door.close().catch(() => undefined);
  });

  it("is in the agent's diff after the death of the extension host, and is written with the yes", async () => {
    const review = await typed("host");
    await killHost();
    await at.scene.bench.diffShown("host.txt");
    assert.equal((await at.scene.session.diffs()).length, 1, "no dead tab is left");
    await kept(review);
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
    await toast("it was not told that you accepted its edit of unheard.txt").waitFor();
    assert.equal(read("unheard"), BASE);
    await at.scene.bench.command("Notifications: Clear All Notifications");
    await at.scene.bench.command("Agent: Show Texts Kept from Reviews");
    await at.scene.session.page.locator(".quick-input-widget .monaco-list-row", { hasText: "unheard.txt" }).click();
    await press("it was not told that you accepted its edit of unheard.txt", "Put Into the File");
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
    // Of suites before, there may be some.
    const rows = at.scene.session.page.locator(".quick-input-widget .monaco-list-row");
    await until("the list, or that there is none", async () => (await toast("No texts are kept").isVisible()) || (await rows.count()) > 0);
    assert.doesNotMatch((await rows.allInnerTexts()).join("\n"), /plain\.txt|open\.txt/);
    await at.scene.session.page.keyboard.press("Escape");
  });
});

/** The files of a host whose path matches and that hold a text, each with its bytes. Those of suites before may be among them. */
function holding({ host }, pattern, text) {
  try {
    const names = fs.readdirSync(host.root, { recursive: true }).filter((name) => pattern.test(name)).map((name) => path.join(host.root, name));
    return names.map((name) => ({ name, bytes: fs.readFileSync(name) })).filter(({ bytes }) => bytes.includes(text));
  } catch (error) {
    if (error.code === "ENOENT") return []; // one has just gone: look again
    throw error;
  }
}

describe("a window whose page crashes", () => {
  it("is opened again with the review and the text typed in it, though the extensions of before live on", (t) => crashed(t, "typed", () => undefined));
  it("is opened again with the last words typed, though the editor's own copy of them is older, and the extensions of before have ended", (t) => crashed(t, "words", (pid) => process.kill(pid, "SIGKILL")));

  it("leaves its port, though the window that is opened again does not listen", async (t) => {
    const scene = await startScene({ fresh: true });
    t.after(() => scene.stop());
    const { session, bench } = scene;
    const { pid } = await session.lock();
    session.host.configure({ ...(await session.host.settings()), "agent.autoStart": false });
    await crash(bench);
    await bench.another(session.host.url(session.folder));
    await until("the log to say so", () => session.agentLog().includes("not listening: agent.autoStart is off"), 120_000);
    await until("the files of the window before to go", () => session.host.locks().length === 0);
    process.kill(pid, 0); // it waits for its window to come back
  });

  const crash = async (bench) => {
    const devtools = await bench.context.newCDPSession(bench.page);
    devtools.send("Page.crash").catch(() => undefined); // it never answers
    await until("the crash", () => bench.page.evaluate("1").then(() => false, () => true), 10_000);
  };

  /** A word is typed, and one more; the page crashes, and end gets the process of the extensions. */
  const crashed = async (t, word, end) => {
    const scene = await startScene({ fresh: true, files: { "crash.txt": BASE } });
    t.after(() => scene.stop());
    const { session, bench } = scene;
    const file = session.file("crash.txt");
    const agent = await scene.agent([edit("crash.txt", "two", "TWO"), { text: "Good." }]);
    await bench.diffShown("crash.txt");
    await agent.asks();
    const same = unchanged(file, assert);
    await bench.typeAtEnd(word);
    const copy = await until("the editor's own copy of it", () => holding(session, /\/Backups\/.*\/[0-9a-f-]+$/, word)[0]);
    await bench.typeAtEnd(" here");
    await agent.shows("edited in code-server");
    await until("the text that is kept", () => holding(session, /\/drafts\/.*\.json$/, `${word} here`).length > 0);
    const { pid } = await session.lock();
    await crash(bench);
    fs.writeFileSync(copy.name, copy.bytes); // as if it had come before the next copy
    process.kill(pid, 0); // as a host that waits for its window to come back
    end(pid);
    const again = await bench.another(session.host.url(session.folder));
    await until("the window to be back", async () => (await session.probe("return process.pid")) !== pid, 120_000);
    await again.diffShown("crash.txt");
    await again.page.locator(".monaco-diff-editor .editor.modified .view-line", { hasText: `${word} here` }).waitFor();
    same();
    await again.press("Accept");
    assert.match(await agent.told(1), new RegExp(`${word} here`));
    assert.equal(session.read("crash.txt").toString(), `${PROPOSED}${word} here`);
  };
});
