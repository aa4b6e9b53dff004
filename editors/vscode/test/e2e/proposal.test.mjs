// A proposal in one text with its file (row C2): only a person's answer accepts it,
// and whatever else happens, the file and its document stay as they are.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";

import WebSocket from "ws";

import { Client } from "./lib/client.mjs";
import { keepSettings, startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";
import { watchFile } from "./lib/watch.mjs";

const BASE = "one\ntwo\nthree\nfour\nfive\n";
const PROPOSED = "ONE\ntwo\nthree\nfour\nFIVE\n";
const MERGED = "one\nONE\ntwo\nthree\nfour\nfive\nFIVE\n";
const JSON_BASE = '{"a":1}\n';
const edit = (line, oldText, newText) => ({
  range: { start: { line, character: 0 }, end: { line, character: oldText.length } },
  oldText,
  newText,
});
const BOTH = [edit(0, "one", "ONE"), edit(4, "five", "FIVE")];

describe("a proposal in one text with its file", () => {
  let session;
  let socket;
  const received = [];
  const names = ["saves", "save0", "save1", "save2", "save3", "save4", "other", "disk", "tab", "renamed", "deleted", "killed", "reloaded"];
  before(async () => {
    const files = Object.fromEntries(names.map((name) => [`${name}.txt`, BASE]));
    const more = { "reject.json": JSON_BASE, "accept.json": JSON_BASE };
    session = await startSession({
      files: { ...files, ...more },
      settings: { "[json]": { "editor.formatOnSave": true } },
    });
    await session.configure({ "agent.bridge.enabled": true });
    await dial();
  });
  keepSettings(() => session);
  afterEach(async (t) => {
    if (t.passed === false) await session.keep(t.name);
    // Unsaved text of a failed test causes a question on closing that nobody answers.
    await session.probe(
      `for (const document of vscode.workspace.textDocuments.filter((each) => each.isDirty && each.uri.scheme === "file")) {
         await vscode.window.showTextDocument(document);
         await vscode.commands.executeCommand("workbench.action.files.revert");
       }`,
    );
    await session.noDiffs();
    await session.closeEditors();
    received.length = 0;
  });
  after(async () => {
    socket?.close();
    await session?.stop();
  });
  const dial = async () => {
    const file = path.join(session.host.agentHome, "ide/bridge.json");
    const { port } = await session.lock();
    // A window that has just come may not have written the file again: it holds the token of the one before.
    await until("the bridge", async () => {
      const found = [JSON.parse(fs.readFileSync(file, "utf8"))].find((each) => each.port === port);
      socket = new WebSocket(found.url, { headers: { "x-agent-ide-authorization": found.authToken } });
      await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
      return true;
    });
    socket.on("message", (data) => received.push(JSON.parse(data.toString("utf8"))));
  };
  const send = (message) => socket.send(JSON.stringify(message));
  const next = () => until("an answer", () => received.shift());
  const answerTo = (id) => until(`an answer to ${id}`, () => received.find((message) => message.id === id));
  const read = (name) => session.read(name).toString();
  const lens = (title, nth = 0) => session.page.locator(".codelens-decoration a", { hasText: new RegExp(`${title}(?! All| with)`) }).nth(nth);
  const find = "vscode.workspace.textDocuments.find((each) => each.uri.scheme === 'file' && args[0].endsWith(each.uri.path))";
  const text = (name) => session.probe(`return ${find}?.getText()`, session.file(name));
  const shown = "vscode.workspace.textDocuments.find((each) => each.uri.scheme === 'agent-inline' && args[0].endsWith(each.uri.path))";
  const dirty = (name) => session.probe(`return ${find}?.isDirty ?? false`, session.file(name));
  const show = (name) => session.probe("await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false })", session.file(name));
  const propose = async (name) => {
    send({ type: "proposeDiff", id: name, file: session.file(name), edits: BOTH });
    await lens("Accept", 1).waitFor();
    assert.equal(await session.probe(`return ${shown}.getText()`, session.file(name)), MERGED);
  };
  const asBefore = async (name) => {
    assert.equal(read(name), BASE, "on disk");
    assert.equal((await text(name)) ?? BASE, BASE, "in the editor");
    assert.equal(await dirty(name), false, "unsaved");
  };

  it("C2: Ctrl+S accepts the rest, and a client's saveDocument nothing", async () => {
    const name = "saves.txt";
    await show(name);
    await propose(name);
    const client = await Client.connect(await session.lock());
    await client.call("saveDocument", { filePath: session.file(name) });
    client.close();
    assert.equal(read(name), BASE, "on disk");
    assert.deepEqual(received, []);
    await session.page.locator(".part.editor .editor-instance .view-lines").first().click();
    await session.page.keyboard.press("Control+s");
    const answer = await next();
    assert.deepEqual([answer.type, answer.content, answer.saved], ["diffAccepted", PROPOSED, true]);
    assert.equal(read(name), PROPOSED);
    assert.equal(await dirty(name), false);
  });

  const others = {
    "an extension or a task": (name) => session.probe(`return ${shown}.save()`, session.file(name)),
    "Save All": () => session.probe(`await vscode.commands.executeCommand("workbench.action.files.saveAll")`),
    "Save All, from another file": async () => {
      await show("other.txt");
      await session.probe("return vscode.workspace.saveAll()");
    },
    "Save without Formatting, which asks no extension": () =>
      session.probe(`await vscode.commands.executeCommand("workbench.action.files.saveWithoutFormatting")`),
    "an editor that saves by itself from now on": async () => {
      const set = (value) => session.configure({ "files.autoSave": value });
      await set("onFocusChange");
      await show("other.txt");
      await set("off");
    },
  };
  for (const [index, [who, save]] of Object.entries(others).entries()) {
    it(`C2: a save by ${who} writes nothing of it and is no answer; it waits on`, async () => {
      const name = `save${index}.txt`;
      const watched = watchFile(session.file(name));
      await propose(name);
      await save(name);
      await asBefore(name);
      assert.deepEqual(received, []);
      await session.probe(`const tab = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ input }) => input?.uri?.scheme === "agent-inline"); await vscode.window.showTextDocument(tab.input.uri)`);
      await lens("Accept", 1).waitFor();
      assert.deepEqual(await watched.stop(), [], "not a byte for an instant");
      await session.bench.press("Accept");
      const answer = await next();
      assert.deepEqual([answer.type, answer.content, answer.saved], ["diffAccepted", PROPOSED, true]);
      assert.equal(read(name), PROPOSED);
    });
  }

  it("C2: a file that changed on disk meanwhile is never written, and what was typed is not lost", async () => {
    const name = "disk.txt";
    await propose(name);
    await session.page.locator(".part.editor .editor-instance .view-lines").first().click();
    await session.page.keyboard.press("Control+End");
    await session.page.keyboard.type("of mine");
    await until("the typing", () => session.probe(`return ${shown}.getText().includes("of mine")`, session.file(name)));
    fs.writeFileSync(session.file(name), "other\n");
    await session.bench.press("Accept");
    await session.bench.answer("Ask for It Again");
    const answer = await next();
    assert.equal(answer.type, "diffRejected");
    assert.match(answer.feedback, /^\+.*of mine$/m, "what was typed comes with it");
    await until("the editor shows the file", async () => ((await text(name)) ?? "other\n") === "other\n");
    assert.equal(await dirty(name), false);
    assert.equal(read(name), "other\n");
  });

  it("C2: a rejection writes nothing, and an accepted text is reported as it was saved", async () => {
    const change = [{ range: { start: { line: 0, character: 5 }, end: { line: 0, character: 6 } }, oldText: "1", newText: "2" }];
    const { mtimeMs } = fs.statSync(session.file("reject.json"));
    send({ type: "proposeDiff", file: session.file("reject.json"), edits: change });
    await lens("Reject").click();
    assert.deepEqual((await next()).reason, "button");
    assert.equal(read("reject.json"), JSON_BASE);
    assert.equal(fs.statSync(session.file("reject.json")).mtimeMs, mtimeMs);
    assert.equal(await dirty("reject.json"), false);
    await lens("Accept").waitFor({ state: "detached" });
    await session.formats(session.file("accept.json"));
    send({ type: "proposeDiff", file: session.file("accept.json"), edits: change });
    await lens("Accept").waitFor();
    await session.probe(
      `globalThis.texts = []; // those that a tab shows: a document that closes is reverted
       const isShown = () => vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(({ input }) => input?.uri?.scheme === "agent-inline"));
       globalThis.noted = vscode.workspace.onDidChangeTextDocument(({ document }) => document.uri.scheme === "agent-inline" && isShown() && globalThis.texts.push(document.getText()));`,
    );
    // The lens answers the edit, whose text stays as it is; the key decides the change in the text first.
    await session.page.locator(".part.editor .editor-instance .view-lines").first().click();
    await session.page.keyboard.press("Alt+y");
    const answer = await next();
    const texts = await session.probe("globalThis.noted.dispose(); return globalThis.texts");
    assert.ok(texts.length > 0 && texts.every((each) => !each.includes("1")), `it was undecided again while it was saved and closed: ${JSON.stringify(texts)}`);
    assert.match(read("accept.json"), /^\{\n +"a": 2\n\}/, "formatted");
    assert.equal(answer.content, read("accept.json"));
    assert.match(answer.formatEdits, /^-\{"a":2\}$/m);
  });

  it("C2: closing the tab rejects", async () => {
    await propose("tab.txt");
    await session.bench.closeActiveTab();
    assert.equal((await next()).type, "diffRejected");
    await asBefore("tab.txt");
  });

  it("C2: a file that is renamed or deleted takes nothing undecided along", async () => {
    await propose("renamed.txt");
    await session.probe(
      `const edit = new vscode.WorkspaceEdit(); edit.renameFile(vscode.Uri.file(args[0]), vscode.Uri.file(args[1])); return vscode.workspace.applyEdit(edit)`,
      session.file("renamed.txt"),
      session.file("moved.txt"),
    );
    await until("it is renamed", () => fs.existsSync(session.file("moved.txt")));
    assert.equal(read("moved.txt"), BASE);
    assert.equal(await dirty("moved.txt"), false);
    const closed = async (name) => {
      send({ type: "closeDiff", id: name });
      assert.equal((await answerTo(name)).type, "diffRejected");
      await session.noDiffs();
    };
    await closed("renamed.txt");
    await propose("deleted.txt");
    fs.rmSync(session.file("deleted.txt"));
    await closed("deleted.txt");
    assert.equal(fs.existsSync(session.file("deleted.txt")), false);
    assert.equal(await dirty("deleted.txt"), false);
  });

  it("C2: an extension host that is killed, and a window that is reloaded, leave nothing undecided", async () => {
    const ends = {
      killed: async (pid) => {
        process.kill(pid, "SIGKILL");
        await session.backAfterKill(pid);
      },
      reloaded: async (pid) => {
        await session.bench.command("Developer: Reload Window");
        await session.backAfter(pid);
      },
    };
    for (const [how, end] of Object.entries(ends)) {
      await propose(`${how}.txt`);
      const { pid } = await session.lock();
      await end(pid);
      await session.noDiffs(30_000);
      await asBefore(`${how}.txt`);
      await dial();
    }
  });
});
