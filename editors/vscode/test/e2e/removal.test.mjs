// The real agent deletes and moves files: VS Code shows the review with an end that cannot be
// typed in, and open tabs follow after the yes; unsaved text stays.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { call } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const names = ["gone.txt", "here.txt", "kept.txt", "asked.txt"];

describe("deleted and moved files in VS Code", () => {
  const at = stage({ files: { ...Object.fromEntries(names.map((name) => [name, BASE])), "side.txt": BASE, "raw.bin": "\0raw" } });
  const isThere = (name) => fs.existsSync(at.scene.session.file(name));
  const open = (name) => at.scene.session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false })`, at.scene.session.file(name));
  const tabsAre = (want) => until(`the tabs ${want}`, async () => (await at.scene.session.tabs()).join() === want.join());
  const review = (title) => until(`the review ${title}`, async () => (await at.scene.session.tabs()).includes(title));

  /** The texts of both sides, and whether the right one can be changed. */
  const sides = () =>
    at.scene.session.probe(
      `const { original, modified } = vscode.window.tabGroups.activeTabGroup.activeTab?.input ?? {};
       if (modified === undefined) return [];
       const text = (uri) => vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString())?.getText();
       const { permissions } = await vscode.workspace.fs.stat(modified);
       return [text(original), text(modified), permissions === vscode.FilePermission.Readonly];`,
    );
  const accept = async () => {
    await at.scene.bench.diffShown();
    await at.scene.bench.titleButton("Accept").click();
  };

  it("a deletion is a diff to nothing; after the yes its tab is gone, and the list was right", async () => {
    const { bench, session } = at.scene;
    await open("side.txt");
    await open("gone.txt");
    const same = unchanged(session.file("gone.txt"), assert);
    const agent = await at.scene.agent([call("delete_file", { path: "gone.txt" }), { text: "It is gone." }]);
    await agent.asks();
    await review("Review: gone.txt (deleted)");
    await bench.statusItem("1 to review").waitFor();
    await bench.diffShown();
    await until("both sides", async () => JSON.stringify(await sides()) === JSON.stringify([BASE, "", true]));
    await bench.typeAtEnd("not taken");
    assert.deepEqual(await sides(), [BASE, "", true]);
    same();
    await accept();
    assert.match(await agent.told(1), /^Deleted gone\.txt/);
    assert.ok(!isThere("gone.txt"));
    await tabsAre(["side.txt"]);
  });

  it("a move names both places, and its tab goes along", async () => {
    await open("here.txt");
    await open("side.txt");
    const agent = await at.scene.agent([call("move_file", { path: "here.txt", to: "there/moved.txt" }), { text: "It is there." }]);
    await agent.asks();
    await review("Review: here.txt → there/moved.txt");
    await accept();
    assert.match(await agent.told(1), /^Moved here\.txt → there\/moved\.txt/);
    assert.deepEqual([isThere("here.txt"), at.scene.session.read("there/moved.txt").toString()], [false, BASE]);
    await until("the tab to follow", async () => {
      const tabs = await at.scene.session.tabs();
      return tabs.includes("moved.txt") && !tabs.includes("here.txt");
    });
  });

  it("the terminal's yes takes the diff away; text typed meanwhile stays in its tab, which is said", async () => {
    const { page } = at.scene.session;
    const agent = await at.scene.agent([call("delete_file", { path: "kept.txt" }), { text: "It is gone." }]);
    await agent.asks();
    await review("Review: kept.txt (deleted)");
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
    await review("Review: asked.txt (deleted)");
    await at.scene.bench.diffShown();
    await at.scene.bench.titleButton("Reject").click();
    await agent.asksNothing();
    await at.scene.session.noDiffs();
    await tabsAre(["asked.txt"]);
    same();
  });

  it("of a binary file there is a line about its bytes", async () => {
    const agent = await at.scene.agent([call("delete_file", { path: "raw.bin" }), { text: "It is gone." }]);
    await agent.asks();
    await review("Review: raw.bin (deleted)");
    await until("the line", async () => /^binary, 4 bytes, SHA-256 [0-9a-f]{64}\n,,true$/.test((await sides()).join()));
    await accept();
    assert.match(await agent.told(1), /^Deleted raw\.bin/);
    assert.ok(!isThere("raw.bin"));
  });
});
