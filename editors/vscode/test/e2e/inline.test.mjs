// The agent's proposals in the open document itself (ide.review: inline).
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { before, describe, it } from "node:test";

import { call } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\nfour\nfive\n";
const BOTH = "ONE\ntwo\nthree\nfour\nFIVE\n";
const NAMES = ["lenses", "all", "terminal", "undo", "saved", "other", "tab", "close", "auto", "begins", "disk", "link", "reload", "kill", "focus"];
const louder = (name, why = "I make it louder.") => call("write_file", { path: `${name}.txt`, content: BOTH }, why);

describe("the agent's proposals in the document itself", () => {
  const at = stage({ fresh: true, files: { ...Object.fromEntries(NAMES.map((name) => [`${name}.txt`, BASE])), "mine.txt": "mine\n" }, settings: { "diffEditor.codeLens": true } });
  const read = (name) => at.scene.session.read(`${name}.txt`).toString();
  const file = (name) => at.scene.session.file(`${name}.txt`);
  const lens = (title, nth = 0) => at.scene.session.page.locator(".codelens-decoration a", { hasText: title }).nth(nth);
  const document = (name) =>
    at.scene.session.probe(
      `const found = vscode.workspace.textDocuments.find((each) => each.uri.scheme === "file" && each.uri.fsPath === args[0]);
       return found && { text: found.getText(), dirty: found.isDirty };`,
      file(name),
    );
  const clean = (name, text) => until(`${name} to be as on disk`, async () => JSON.stringify(await document(name)) === JSON.stringify({ text, dirty: false }));
  const unmarked = () => lens("Accept").waitFor({ state: "detached" });

  before(() => {
    const config = path.join(at.scene.session.host.agentHome, "config.yaml");
    fs.writeFileSync(config, JSON.stringify({ ...JSON.parse(fs.readFileSync(config, "utf8")), ide: { review: "inline" } }), { mode: 0o600 });
  });

  /** An agent whose proposal stands in the document and in the terminal; the file is not touched. */
  const asked = async (name, why) => {
    const same = unchanged(file(name), assert);
    const agent = await at.scene.agent([louder(name, why), { text: "Good." }]);
    await lens("Accept", 1).waitFor({ timeout: 60_000 });
    await agent.asks();
    assert.deepEqual(await document(name), { text: BOTH, dirty: true });
    same();
    return { agent, same };
  };

  it("one change is rejected, the other accepted: the agent writes what is left and is told", async () => {
    const { agent, same } = await asked("lenses", "I make it $(bell) louder.");
    await lens("Accept: “I make it $(bell) louder.”").waitFor();
    await at.scene.session.page.locator(".dirty-diff-glyph").first().waitFor();
    await lens("Reject", 1).click();
    await until("one change is left", async () => (await document("lenses")).text === "ONE\ntwo\nthree\nfour\nfive\n");
    await agent.shows("edited in");
    same();
    await lens("Accept").click();
    const told = await agent.told(1);
    assert.match(told, /^Wrote lenses\.txt: 1 added, 1 removed/);
    assert.match(told, /^-FIVE$/m);
    assert.equal(read("lenses"), "ONE\ntwo\nthree\nfour\nfive\n");
    await clean("lenses", "ONE\ntwo\nthree\nfour\nfive\n");
    await unmarked();
    await agent.asksNothing();
  });

  it("everything is rejected from the title bar", async () => {
    const { agent, same } = await asked("all");
    await at.scene.bench.titleButton("Reject").click();
    await agent.asksNothing();
    same();
    await clean("all", BASE);
    await unmarked();
  });

  it("the terminal answers: what is typed in the document counts, and its marks go", async () => {
    const { agent } = await asked("terminal");
    await at.scene.session.page.locator(".part.editor .view-lines").first().click();
    await at.scene.session.page.keyboard.press("Control+End");
    await at.scene.session.page.keyboard.type("six");
    await until("the edit", async () => (await document("terminal")).text === `${BOTH}six`);
    await agent.shows("y takes that text");
    await agent.type("y");
    assert.match(await agent.told(1), /^Wrote terminal\.txt/);
    assert.equal(read("terminal"), `${BOTH}six`);
    await clean("terminal", `${BOTH}six`);
    await unmarked();
  });

  it("the terminal says no: another file's unsaved text, and the tab in front, stay as they are", async () => {
    const { agent, same } = await asked("focus");
    await at.scene.session.probe(
      `const editor = await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false });
       await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "still "));
       await vscode.commands.executeCommand("workbench.files.action.focusOpenEditorsView");`,
      file("mine"),
    );
    await agent.type("n");
    await agent.asksNothing();
    same();
    await clean("focus", BASE);
    assert.deepEqual(await document("mine"), { text: "still mine\n", dirty: true });
    assert.equal(await at.scene.session.probe("return vscode.window.tabGroups.all.length"), 1);
    assert.equal(await at.scene.session.probe("return vscode.window.activeTextEditor.document.uri.fsPath"), file("mine"));
  });

  it("one undo takes the proposal back, which rejects it", async () => {
    const { agent, same } = await asked("undo");
    await at.scene.session.page.locator(".part.editor .view-lines").first().click();
    await at.scene.session.page.keyboard.press("Control+z");
    await agent.asksNothing();
    same();
    await clean("undo", BASE);
  });

  it("saving the document accepts what is in it", async () => {
    const { agent } = await asked("saved");
    await at.scene.session.page.locator(".part.editor .view-lines").first().click();
    await at.scene.session.page.keyboard.press("Control+s");
    assert.match(await agent.told(1), /^Wrote saved\.txt/);
    assert.equal(read("saved"), BOTH);
    await unmarked();
  });

  it("a save that is not the person's word writes nothing of it, and the terminal goes on asking", async () => {
    const { agent } = await asked("other");
    await at.scene.session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0])); await vscode.workspace.saveAll()`, file("mine"));
    await unmarked();
    assert.equal(read("other"), BASE);
    await agent.asks();
    await at.scene.bench.statusItem("1 to review").click();
    await lens("Accept", 1).waitFor();
    await agent.type("y");
    assert.match(await agent.told(1), /^Wrote other\.txt/);
    assert.equal(read("other"), BOTH);
    await clean("other", BOTH);
  });

  it("the document is put back by hand: that is no answer", async () => {
    const { agent, same } = await asked("tab");
    await at.scene.session.probe(
      `await vscode.window.showTextDocument(vscode.Uri.file(args[0])); await vscode.commands.executeCommand("workbench.action.files.revert")`,
      file("tab"),
    );
    await unmarked();
    await agent.asks();
    same();
    await agent.type("n");
    await agent.asksNothing();
    same();
  });

  it("its tab is closed: that is no answer, and it can be seen again", async () => {
    const { agent, same } = await asked("close");
    await at.scene.bench.closeActiveTab();
    await at.scene.session.page.locator(".monaco-dialog-box .monaco-button", { hasText: /^Don't Save/ }).click();
    await unmarked();
    await agent.asks();
    same();
    await at.scene.bench.statusItem("1 to review").click();
    await lens("Accept", 1).waitFor();
    await agent.type("y");
    assert.match(await agent.told(1), /^Wrote close\.txt/);
    await clean("close", BOTH);
  });

  it("the file is changed by somebody else: that stays, and a yes writes nothing", async () => {
    const { agent } = await asked("disk");
    fs.writeFileSync(file("disk"), "other\n");
    await agent.type("y");
    assert.match(await agent.told(1), /^disk\.txt changed while the edit was being reviewed/);
    assert.equal(read("disk"), "other\n");
    await clean("disk", "other\n");
    await unmarked();
  });

  it("its document begins to save itself: nothing of it is written, and it goes on as a diff", async () => {
    const { agent } = await asked("begins");
    await at.scene.session.probe(`await vscode.workspace.getConfiguration("files").update("autoSave", "afterDelay", 1)`);
    await unmarked();
    await agent.asks();
    await clean("begins", BASE);
    await at.scene.bench.statusItem("1 to review").click();
    await at.scene.bench.diffShown();
    await at.scene.bench.titleButton("Reject").click();
    await agent.asksNothing();
    assert.equal(read("begins"), BASE);
  });

  it("a document that saves itself gets a diff instead", async () => {
    await at.scene.session.probe(`await vscode.workspace.getConfiguration("files").update("autoSave", "afterDelay", 1)`);
    const agent = await at.scene.agent([louder("auto"), { text: "Good." }]);
    await at.scene.bench.diffShown();
    assert.equal(await lens("Accept").count(), 0);
    await until("the agent's words in the diff", () => at.scene.session.page.evaluate(() =>
      [...document.querySelectorAll(".editor.modified .view-lines span")].some((span) => getComputedStyle(span, "::after").content.includes("the agent: “I make it louder.”"))));
    await at.scene.bench.titleButton("Accept").click();
    assert.match(await agent.told(1), /^Wrote auto\.txt/);
    assert.equal(read("auto"), BOTH);
  });

  it("the agent's link is lost: the marks go, and the file is as it was", async () => {
    const { same } = await asked("link");
    await at.scene.session.probe(`for (const terminal of vscode.window.terminals) terminal.dispose()`);
    await unmarked();
    await clean("link", BASE);
    same();
  });

  it("the window is reloaded: the document is without the proposal, which comes again", async () => {
    const { agent, same } = await asked("reload");
    const { pid } = await at.scene.session.lock();
    await at.scene.bench.command("Developer: Reload Window");
    await until(
      "the extension to be back",
      async () => at.scene.session.host.locks().some((lock) => lock.pid !== pid) && (await at.scene.session.probe("return process.pid")) !== pid,
      60_000,
    );
    await lens("Accept", 1).waitFor({ timeout: 60_000 });
    same();
    await agent.type("n");
    await agent.asksNothing();
    same();
    await clean("reload", BASE);
  });

  it("the extension host is killed: the same", async () => {
    const { agent, same } = await asked("kill");
    const { pid } = await at.scene.session.lock();
    process.kill(pid, "SIGKILL");
    await until("the extension to be back", () => at.scene.session.host.locks().some((lock) => lock.pid !== pid), 60_000);
    await lens("Accept", 1).waitFor({ timeout: 60_000 });
    same();
    await agent.type("n");
    await agent.asksNothing();
    same();
    await clean("kill", BASE);
  });
});
