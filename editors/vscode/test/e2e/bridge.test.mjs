// The door of typed messages (rows C1 to C5): a program of that kind and a person in front of VS Code.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";

import WebSocket from "ws";

import { keepSettings, startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\nfour\nfive\n";
const edit = (line, oldText, newText) => ({
  range: { start: { line, character: 0 }, end: { line, character: oldText.length } },
  oldText,
  newText,
});
const BOTH = [edit(0, "one", "ONE"), edit(4, "five", "FIVE")];

describe("a program that speaks in typed messages", () => {
  let session;
  let socket;
  const received = [];
  const names = ["diff", "inline", "front", "saved", "dirty", "apply", "once", "closed"];
  before(async () => {
    const files = Object.fromEntries(names.map((name) => [`${name}.txt`, BASE]));
    session = await startSession({ files, settings: { "diffEditor.codeLens": true } });
    await turnOn(true);
    const file = path.join(session.host.agentHome, "ide/bridge.json");
    const found = await until("bridge.json", () => JSON.parse(fs.readFileSync(file, "utf8")));
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    socket = new WebSocket(found.url, { headers: { "x-agent-ide-authorization": found.authToken } });
    socket.on("message", (data) => received.push(JSON.parse(data.toString("utf8"))));
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  });
  keepSettings(() => session);
  afterEach(async (t) => {
    if (t.passed === false) await session.keep(t.name);
    await session.noDiffs();
    await session.closeEditors();
  });
  after(async () => {
    socket?.close();
    await turnOn(undefined);
    await session?.stop();
  });
  const turnOn = (value) => session.configure({ "agent.bridge.enabled": value });
  const send = (message) => socket.send(JSON.stringify(message));
  const next = () => until("an answer", () => received.shift());
  const read = (name) => session.read(`${name}.txt`).toString();
  const lens = (title, nth = 0) => session.page.locator(".codelens-decoration a", { hasText: new RegExp(`${title}(?! All| with)`) }).nth(nth);
  const inDocument = (name) =>
    session.probe("return vscode.workspace.textDocuments.find((each) => each.uri.scheme === 'file' && args[0].endsWith(each.uri.path))?.getText()", session.file(`${name}.txt`));

  it("C2: connects, and is told what can be done", async () => {
    send({ type: "connect", client: "typed" });
    const answer = await next();
    assert.deepEqual([answer.type, answer.workspaceFolders], ["connected", [session.folder]]);
    assert.ok(answer.capabilities.includes("proposeDiff"));
  });

  it("C2: openDiff is accepted with the person's edits, and nothing is written", async () => {
    send({ type: "openDiff", file: session.file("diff.txt"), before: BASE, after: "ONE\n", description: "why not" });
    await session.bench.diffShown();
    await session.bench.typeAtEnd("more\n");
    await session.bench.press("Accept");
    const answer = await next();
    assert.deepEqual([answer.type, answer.content], ["diffAccepted", "ONE\nmore\n"]);
    assert.equal(read("diff"), BASE);
  });

  const proposed = (name) =>
    session.probe("return vscode.workspace.textDocuments.find((each) => each.uri.scheme === 'agent-inline' && args[0].endsWith(each.uri.path))?.getText()", session.file(`${name}.txt`));

  it("C2: proposeDiff is shown in one text with the file; one change is accepted, the other rejected, then it is saved", async () => {
    send({ type: "proposeDiff", file: session.file("inline.txt"), edits: BOTH, description: "louder" });
    await lens("Accept", 1).waitFor();
    assert.equal(await proposed("inline"), "one\nONE\ntwo\nthree\nfour\nfive\nFIVE\n");
    assert.equal(read("inline"), BASE);
    await lens("Reject", 1).click();
    await until("one change is left", async () => (await proposed("inline")) === "one\nONE\ntwo\nthree\nfour\nfive\n");
    assert.equal(read("inline"), BASE);
    await lens("Accept").click();
    const answer = await next();
    assert.deepEqual([answer.type, answer.content], ["diffAccepted", "ONE\ntwo\nthree\nfour\nfive\n"]);
    assert.match(answer.patch, /^-FIVE$/m);
    assert.equal(read("inline"), "ONE\ntwo\nthree\nfour\nfive\n");
    await lens("Accept").waitFor({ state: "detached" });
  });

  it("C2: a file that was accepted before does not cover a proposal when it comes", async () => {
    send({ type: "openDiff", file: session.file("late.txt"), after: "late\n" });
    await session.bench.diffShown("late.txt");
    await session.bench.press("Accept");
    assert.equal((await next()).type, "diffAccepted");
    await session.noDiffs();
    send({ type: "proposeDiff", id: "front", file: session.file("front.txt"), edits: BOTH });
    await lens("Accept", 1).waitFor();
    fs.writeFileSync(session.file("late.txt"), "late\n");
    await session.page.locator(".explorer-folders-view .monaco-list-row", { hasText: "late.txt" }).waitFor();
    // VS Code may show the file of the test before only now, for it was accepted.
    assert.deepEqual((await session.tabs()).filter((tab) => tab !== "inline.txt"), ["front.txt ← typed"]);
    send({ type: "closeDiff", id: "front" });
    assert.equal((await next()).type, "diffRejected");
  });

  it("C2: Ctrl+S accepts the proposal", async () => {
    send({ type: "proposeDiff", file: session.file("saved.txt"), edits: BOTH });
    await lens("Accept", 1).waitFor();
    await session.page.locator(".part.editor .editor-instance .view-lines").first().click();
    await session.page.keyboard.press("Control+s");
    assert.equal((await next()).type, "diffAccepted");
    assert.equal(read("saved"), "ONE\ntwo\nthree\nfour\nFIVE\n");
  });

  it("C2: a document with unsaved changes gets a diff instead", async () => {
    await session.typeInto(session.file("dirty.txt"), "mine\n", 5);
    send({ type: "proposeDiff", file: session.file("dirty.txt"), edits: BOTH });
    await session.bench.diffShown();
    await session.bench.press("Reject");
    assert.equal((await next()).type, "diffRejected");
    assert.equal(await inDocument("dirty"), `${BASE}mine\n`);
    await session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0])); await vscode.commands.executeCommand("workbench.action.files.revert")`, session.file("dirty.txt"));
  });

  it("C2: applyDiff asks, changes the document and does not save it", async () => {
    send({ type: "applyDiff", file: session.file("apply.txt"), edits: BOTH });
    await session.bench.diffShown();
    await session.bench.press("Accept");
    assert.equal((await next()).type, "diffAccepted");
    assert.equal(await inDocument("apply"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    assert.equal(read("apply"), BASE);
    await session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0])); await vscode.commands.executeCommand("workbench.action.files.revert")`, session.file("apply.txt"));
  });

  it("C2: applyDiff asks nothing where its result is what was just accepted, once", async () => {
    const result = "ONE\ntwo\nthree\nfour\nFIVE\n";
    const apply = () => send({ type: "applyDiff", file: session.file("once.txt"), edits: BOTH });
    const revert = () =>
      session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0])); await vscode.commands.executeCommand("workbench.action.files.revert")`, session.file("once.txt"));
    send({ type: "openDiff", file: session.file("once.txt"), before: BASE, after: result });
    await session.bench.diffShown();
    await session.bench.press("Accept");
    assert.equal((await next()).type, "diffAccepted");
    await session.noDiffs();
    apply();
    assert.equal((await next()).type, "diffAccepted");
    assert.equal(await inDocument("once"), result);
    await revert();
    apply();
    await session.bench.diffShown();
    await session.bench.press("Reject");
    assert.equal((await next()).type, "diffRejected");
    assert.equal(await inDocument("once"), BASE);
    assert.equal(read("once"), BASE);
  });

  it("C2: closeDiff takes a proposal back; status is in the status bar", async () => {
    send({ type: "proposeDiff", file: session.file("closed.txt"), edits: BOTH });
    await lens("Accept", 1).waitFor();
    send({ type: "status", message: "$(bell) pondering", level: "info" });
    send({ type: "closeDiff", file: session.file("closed.txt") });
    assert.deepEqual(await next(), { type: "diffRejected", file: session.file("closed.txt"), reason: "closed" });
    assert.equal(read("closed"), BASE);
    await session.bench.statusItem("$(bell) pondering").waitFor();
  });

  it("C2: errors have their codes", async () => {
    send({ type: "proposeDiff", file: session.file("none.txt"), edits: BOTH });
    assert.equal((await next()).code, "FILE_NOT_FOUND");
    send({ type: "proposeDiff", file: session.file("closed.txt"), edits: [edit(1, "one", "x")] });
    assert.equal((await next()).code, "HUNK_MISMATCH");
    for (const type of ["openDiff", "proposeDiff", "applyDiff"]) {
      for (const file of ["/etc/hostname", session.file("../outside.txt")]) {
        send({ type, file, before: "", after: "x", edits: BOTH });
        assert.equal((await next()).code, "OUTSIDE_WORKSPACE", `${type} ${file}`);
      }
    }
  });
});
