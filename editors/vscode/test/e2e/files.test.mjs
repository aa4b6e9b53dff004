// Files of every kind, from the agent's proposal to the bytes on the disk.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { call, edit } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";
// 日本, 語 and 本 in Shift-JIS.
const SJIS = { before: Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x0a]), after: Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea, 0x0a]) };
const utf16 = (text) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
const NOTEBOOK = JSON.stringify({ cells: [{ cell_type: "markdown", id: "a", metadata: {}, source: ["two\n"] }], metadata: {}, nbformat: 4, nbformat_minor: 5 }, undefined, 1);
const big = (middle) => {
  const line = (n) => `line ${n} of a large file, which goes on for a while so that it becomes one\n`;
  const lines = Array.from({ length: 72_000 }, (_, n) => line(n));
  lines[36_000] = `${middle}\n`;
  return Buffer.from(lines.join(""));
};

describe("a file", () => {
  const at = stage({
    files: {
      "deleted.txt": BASE,
      "vanishing.txt": BASE,
      "bom.txt": "\ufeffone\r\ntwo\r\n",
      "utf16.txt": utf16("one\r\ntwo\r\n"),
      "sjis.txt": SJIS.before,
      "note.md": "# old\n",
      "dirty.txt": BASE,
      "kept.txt": BASE,
      "moving.txt": BASE,
      "auto.txt": BASE,
      "big.txt": big("the old middle"),
      "book.ipynb": NOTEBOOK,
    },
    settings: { "workbench.editorAssociations": { "*.md": "vscode.markdown.preview.editor" } },
  });

  const file = (name) => at.scene.session.file(name);
  const read = (name) => at.scene.session.read(name);
  /** Has the agent take a turn and accepts the diff; returns the result that the model got. */
  const accepted = async (turn) => {
    const agent = await at.scene.agent([turn, { text: "Good." }]);
    await at.scene.bench.diffShown();
    await at.scene.bench.press("Accept");
    return agent.told(1);
  };
  const typeInto = (name, text) => at.scene.session.typeInto(file(name), text);

  it("that is new: it and its folders are made with the acceptance, not before", async () => {
    const agent = await at.scene.agent([call("write_file", { path: "new/deep/file.txt", content: PROPOSED }), { text: "Good." }]);
    await at.scene.bench.diffShown();
    await agent.asks();
    assert.equal(fs.existsSync(file("new")), false);
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(1), /^Created new\/deep\/file\.txt/);
    assert.equal(read("new/deep/file.txt").toString(), PROPOSED);
  });

  it("that is new and rejected: no folder is left", async () => {
    const agent = await at.scene.agent([call("write_file", { path: "never/file.txt", content: PROPOSED }), { text: "I see." }]);
    await at.scene.bench.diffShown();
    await at.scene.bench.press("Reject");
    await agent.shows("declined");
    assert.equal(fs.existsSync(file("never")), false);
  });

  it("that was deleted while it was open is new again", async () => {
    await at.scene.session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false })`, file("deleted.txt"));
    fs.rmSync(file("deleted.txt"));
    const told = await accepted(call("write_file", { path: "deleted.txt", content: PROPOSED }));
    assert.match(told, /^Created deleted\.txt/);
    assert.equal(read("deleted.txt").toString(), PROPOSED);
  });

  it("that is deleted under the diff is not brought back unseen", async () => {
    const agent = await at.scene.agent([edit("vanishing.txt", "two", "TWO"), { text: "I see." }]);
    await at.scene.bench.diffShown();
    await agent.asks();
    fs.rmSync(file("vanishing.txt"));
    await agent.yes();
    assert.match(await agent.told(1), /was deleted while the edit was being reviewed: nothing was written/);
    assert.equal(fs.existsSync(file("vanishing.txt")), false);
  });

  it("of 5 MB is reviewed and written like any other", async () => {
    assert.ok(read("big.txt").length > 5 * 1024 * 1024);
    const told = await accepted(edit("big.txt", "the old middle", "the new middle"));
    assert.match(told, /^Wrote big\.txt: 1 added, 1 removed/);
    assert.ok(read("big.txt").equals(big("the new middle")));
  });

  it("with CRLF and a byte order mark keeps both", async () => {
    assert.match(await accepted(edit("bom.txt", "two", "TWO")), /^Wrote bom\.txt/);
    assert.equal(read("bom.txt").toString(), "\ufeffone\r\nTWO\r\n");
  });

  it("with CRLF keeps it in what the person types, too", async () => {
    const agent = await at.scene.agent([edit("bom.txt", "TWO", "2"), { text: "Good." }]);
    await at.scene.bench.diffShown();
    await at.scene.bench.typeAtEnd("three\n");
    await at.scene.bench.press("Accept");
    await agent.told(1);
    assert.equal(read("bom.txt").toString(), "\ufeffone\r\n2\r\nthree\r\n");
  });

  it("in UTF-16 stays so", async () => {
    assert.match(await accepted(edit("utf16.txt", "two", "zwei ü")), /^Wrote utf16\.txt/);
    assert.ok(read("utf16.txt").equals(utf16("one\r\nzwei ü\r\n")));
  });

  it("in Shift-JIS, which VS Code is told of, stays so", async () => {
    await at.scene.session.configure({ "files.encoding": "shiftjis" });
    const agent = await at.scene.linkedAgent([edit("sjis.txt", "日本", "日本語"), { text: "Good." }]);
    await agent.type("go on\r");
    await at.scene.bench.diffShown();
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(2), /^Wrote sjis\.txt/);
    assert.ok(read("sjis.txt").equals(SJIS.after), read("sjis.txt").toString("hex"));
  });

  it("of Markdown is a diff of text although its default editor is the preview", async () => {
    assert.match(await accepted(edit("note.md", "# old", "# new")), /^Wrote note\.md/);
    assert.equal(read("note.md").toString(), "# new\n");
  });

  it("with unsaved changes is saved first, if the person says so, and edited as saved", async () => {
    await typeInto("dirty.txt", "mine\n");
    const agent = await at.scene.linkedAgent([edit("dirty.txt", "two", "TWO"), { text: "Good." }]);
    await agent.type("go on\r");
    await agent.asks();
    await agent.shows("unsaved");
    assert.equal(read("dirty.txt").toString(), BASE);
    await agent.type("y");
    await at.scene.bench.diffShown();
    assert.equal(read("dirty.txt").toString(), `mine\n${BASE}`);
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(2), /^Wrote dirty\.txt: 1 added, 1 removed/);
    assert.equal(read("dirty.txt").toString(), `mine\n${PROPOSED}`);
  });

  it("that is a notebook with unsaved changes is saved first, and not undone while it has others", async () => {
    const change = `const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(args[0]));
      await vscode.window.showNotebookDocument(notebook, { preview: false });
      const edit = new vscode.WorkspaceEdit();
      edit.set(notebook.uri, [vscode.NotebookEdit.insertCells(0, [new vscode.NotebookCellData(vscode.NotebookCellKind.Markup, args[1], "markdown")])]);
      if (!(await vscode.workspace.applyEdit(edit))) throw new Error("the edit was not applied");`;
    const dirty = () => at.scene.session.probe("return vscode.workspace.notebookDocuments.filter(({ isDirty }) => isDirty).length");
    await at.scene.session.probe(change, file("book.ipynb"), "mine");
    const agent = await at.scene.linkedAgent([call("read_file", { path: "book.ipynb" }), edit("book.ipynb", "two", "TWO"), { text: "Good." }]);
    await agent.type("go on\r");
    await agent.asks();
    await agent.shows("unsaved");
    assert.equal(read("book.ipynb").toString(), NOTEBOOK);
    await agent.type("y");
    await at.scene.bench.diffShown();
    assert.match(read("book.ipynb").toString(), /mine[^]*two/);
    assert.equal(await dirty(), 0);
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(3), /^Wrote book\.ipynb/);
    await agent.idle();
    // VS Code reads the written file again a moment later, which takes back earlier changes.
    const cells = "return vscode.workspace.notebookDocuments.flatMap((each) => each.getCells().map(({ document }) => document.getText()))";
    await until("the notebook to be as it was written", async () => (await at.scene.session.probe(cells)).some((cell) => cell.includes("TWO")));
    await at.scene.session.probe(change, file("book.ipynb"), "more");
    await agent.type("/undo\r");
    await agent.shows("book.ipynb cannot be undone: it has unsaved changes");
    assert.match(read("book.ipynb").toString(), /mine[^]*TWO/);
  });

  it("with unsaved changes is left alone, if the person says so", async () => {
    const same = unchanged(file("kept.txt"), assert);
    await typeInto("kept.txt", "mine\n");
    const agent = await at.scene.linkedAgent([edit("kept.txt", "two", "TWO"), { text: "I see." }]);
    await agent.type("go on\r");
    await agent.asks();
    await agent.type("n");
    await agent.asksNothing();
    await agent.type("go on\r");
    assert.match(await agent.told(2), /unsaved changes in the user's editor, so it cannot be edited/);
    same();
    const text = `return vscode.workspace.textDocuments.find((document) => document.uri.fsPath === args[0]).getText()`;
    assert.equal(await at.scene.session.probe(text, file("kept.txt")), `mine\n${BASE}`);
  });

  it("that changes on the disk under the diff in the same place is not overwritten: the agent is told of the conflict", async () => {
    const agent = await at.scene.agent([edit("moving.txt", "two", "TWO"), { text: "I see." }]);
    await at.scene.bench.diffShown();
    fs.writeFileSync(file("moving.txt"), "someone else's\n");
    await at.scene.bench.page.waitForFunction(isMarked);
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(1), /changed while the edit was being reviewed: nothing was written/);
    assert.equal(read("moving.txt").toString(), "someone else's\n");
  });

  it("is not accepted by auto-save", async () => {
    await at.scene.session.configure({ "files.autoSave": "afterDelay", "files.autoSaveDelay": 100 });
    const same = unchanged(file("auto.txt"), assert);
    const agent = await at.scene.agent([edit("auto.txt", "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown();
    await agent.asks();
    await at.scene.bench.typeAtEnd("four");
    const draft = `return vscode.workspace.textDocuments.some((document) =>
      document.uri.scheme === "agent-proposed" && document.getText().endsWith("four") && !document.isDirty)`;
    await until("the draft to be saved by itself", () => at.scene.session.probe(draft));
    await agent.shows("edited in code-server");
    await agent.asks();
    same();
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(1), /\+four/);
    assert.equal(read("auto.txt").toString(), `${PROPOSED}four`);
  });
});

/** Runs in the page: whether the active tab shows that its file has changed on disk. */
function isMarked() {
  const labels = [...document.querySelectorAll(".part.editor .tab.active .monaco-icon-label, .part.editor .tab.active .monaco-icon-label *")];
  return labels.some((label) => getComputedStyle(label, "::after").content === '"!"');
}
