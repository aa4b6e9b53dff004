// The real agent deletes and moves files: VS Code shows the review with an end that cannot be
// typed in, and open tabs follow after the yes; unsaved text stays.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { call } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";
import { SIDE } from "./lib/workbench.mjs";

const BASE = "one\ntwo\nthree\n";
const names = ["gone.txt", "saved.txt", "here %20ü.txt", "kept.txt", "asked.txt"];

describe("deleted and moved files in VS Code", () => {
  const at = stage({ files: { ...Object.fromEntries(names.map((name) => [name, BASE])), "side.txt": BASE, "raw.bin": "\0raw" } });
  const isThere = (name) => fs.existsSync(at.scene.session.file(name));
  const open = (name) => at.scene.session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false })`, at.scene.session.file(name));
  const tabsAre = (want) => until(`the tabs ${want}`, async () => (await at.scene.session.tabs()).join() === want.join());
  const review = (title) => until(`the review ${title}`, async () => (await at.scene.session.tabs()).includes(title));

  /** The texts that are shown, and whether the last one can only be read. */
  const sides = () =>
    at.scene.session.probe(
      `const { original, modified, uri } = vscode.window.tabGroups.activeTabGroup.activeTab?.input ?? {};
       const shown = original === undefined ? [uri] : [original, modified];
       if (shown[0]?.scheme.startsWith("agent-") !== true) return [];
       const text = (uri) => vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString())?.getText();
       const { permissions } = await vscode.workspace.fs.stat(shown.at(-1));
       return [...shown.map(text), permissions === vscode.FilePermission.Readonly];`,
    );
  const accept = async () => {
    await at.scene.bench.diffShown();
    await at.scene.bench.press("Accept");
  };

  it("a deletion is one text, all red; after the yes its tab is gone, and the list was right", async () => {
    const { bench, session } = at.scene;
    await open("side.txt");
    await open("gone.txt");
    const same = unchanged(session.file("gone.txt"), assert);
    const agent = await at.scene.agent([call("delete_file", { path: "gone.txt" }), { text: "It is gone." }]);
    await agent.asks();
    await review("Delete gone.txt?");
    await bench.statusItem("1 to review").waitFor();
    await bench.diffShown();
    await until("the text", async () => JSON.stringify(await sides()) === JSON.stringify([BASE, true]));
    await bench.typeAtEnd("not taken");
    assert.deepEqual(await sides(), [BASE, true]);
    same();
    await accept();
    assert.match(await agent.told(1), /^Deleted gone\.txt/);
    assert.ok(!isThere("gone.txt"));
    await tabsAre(["side.txt"]);
  });

  it("a deletion is accepted by the key that saves, although there is nothing to save", async () => {
    const agent = await at.scene.agent([call("delete_file", { path: "saved.txt" }), { text: "It is gone." }]);
    await review("Delete saved.txt?");
    await at.scene.bench.diffShown();
    await at.scene.bench.page.click(SIDE);
    await at.scene.bench.answerByKey("Control+s", () => !isThere("saved.txt"));
    assert.match(await agent.told(1), /^Deleted saved\.txt/);
  });

  it("a move names both places, in the list too, and each of its tabs goes along, one in preview as well", async () => {
    const from = "here %20ü.txt";
    await at.scene.session.probe(
      `const uri = vscode.Uri.file(args[0]);
       await vscode.window.showTextDocument(uri, { preview: true });
       await vscode.window.showTextDocument(uri, { preview: false, viewColumn: vscode.ViewColumn.Beside });
       await vscode.commands.executeCommand("workbench.action.focusFirstEditorGroup")`,
      at.scene.session.file(from),
    );
    const labelled = async (label) => (await at.scene.session.tabs()).filter((each) => each === label).length;
    await until("two tabs", async () => (await labelled(from)) === 2);
    const agent = await at.scene.agent([call("move_file", { path: from, to: "there/moved 100%.txt" }), { text: "It is there." }]);
    await agent.asks();
    await review(`Move ${from} → there/moved 100%.txt`);
    await at.scene.session.probe(`await vscode.commands.executeCommand("agent.reviews.focus")`);
    await at.scene.session.page.locator(".pane-body .monaco-list-row", { hasText: `moved from ${from}` }).waitFor();
    await accept();
    await agent.told(1);
    assert.deepEqual([isThere(from), at.scene.session.read("there/moved 100%.txt").toString()], [false, BASE]);
    await until("the tabs to follow", async () => (await labelled(from)) === 0 && (await labelled("moved 100%.txt")) === 2);
  });

  it("the terminal's yes takes the diff away; text typed meanwhile stays in its tab, which is said", async () => {
    const { page } = at.scene.session;
    const agent = await at.scene.agent([call("delete_file", { path: "kept.txt" }), { text: "It is gone." }]);
    await agent.asks();
    await review("Delete kept.txt?");
    await at.scene.session.typeInto(at.scene.session.file("kept.txt"), "typed\n");
    await agent.yes();
    assert.match(await agent.told(1), /^Deleted kept\.txt/);
    await page.locator(".notification-toast", { hasText: "is gone, but not your unsaved changes" }).waitFor();
    await at.scene.session.noDiffs();
    const text = await at.scene.session.probe(`return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "file" && uri.fsPath === args[0])?.getText()`, at.scene.session.file("kept.txt"));
    assert.deepEqual([text, isThere("kept.txt")], [`typed\n${BASE}`, false]);
    await at.scene.session.probe(`await vscode.commands.executeCommand("notifications.clearAll")`);
  });

  it("a no keeps the file and its tab", async () => {
    await open("asked.txt");
    const same = unchanged(at.scene.session.file("asked.txt"), assert);
    const agent = await at.scene.agent([call("delete_file", { path: "asked.txt" })]);
    await agent.asks();
    await review("Delete asked.txt?");
    await at.scene.bench.diffShown();
    await at.scene.bench.press("Reject");
    await agent.asksNothing();
    await at.scene.session.noDiffs();
    await tabsAre(["asked.txt"]);
    same();
  });

  it("of a binary file there is a line about its bytes", async () => {
    const agent = await at.scene.agent([call("delete_file", { path: "raw.bin" }), { text: "It is gone." }]);
    await agent.asks();
    await review("Delete raw.bin?");
    await until("the line", async () => /^binary, 4 bytes, SHA-256 [0-9a-f]{64}\n,,true$/.test((await sides()).join()));
    await accept();
    assert.match(await agent.told(1), /^Deleted raw\.bin/);
    assert.ok(!isThere("raw.bin"));
  });
});
