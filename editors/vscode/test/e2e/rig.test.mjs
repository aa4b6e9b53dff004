// The scenarios rely on this: each finds the window as the one before did.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { stage } from "./lib/scene.mjs";

describe("the window of the scenarios", () => {
  const at = stage();
  const look = "return vscode.workspace.getConfiguration('files').get('autoSave')";

  it("has a setting changed and a question open, as by a test that fails half-way", async () => {
    await at.scene.session.configure({ "files.autoSave": "afterDelay" });
    assert.equal(await at.scene.session.probe(look), "afterDelay");
    await at.scene.session.probe("void vscode.window.showWarningMessage('Really?', { modal: true }, 'Yes')");
    await at.scene.bench.page.locator(".monaco-dialog-box").waitFor();
  });

  it("has it as before", async () => {
    assert.equal(await at.scene.session.probe(look), "off");
    assert.equal(await at.scene.bench.page.locator(".monaco-dialog-box").count(), 0);
  });
});
