// "Accept Always…" in VS Code: an edit is accepted there with a rule for further ones.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { call } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const write = (path) => call("write_file", { path, content: "new\n" });

/** Runs the command, unless it asks just now: another run would take its list away. */
const RUN = `if (globalThis.asks) return;
  globalThis.asks = true;
  void vscode.commands.executeCommand("agent.acceptAlways").then(() => (globalThis.asks = false));`;

describe("an acceptance that allows more, in VS Code", () => {
  const at = stage({ files: { "note.md": "old\n", "docs/a.md": "old\n", "docs/sub/b.md": "old\n", "c.txt": "old\n", "e.md": "old\n" } });
  const input = () => at.scene.bench.page.locator(".quick-input-widget input.input");
  const row = (text) => at.scene.bench.page.locator(".quick-input-list .monaco-list-row:visible", { hasText: text }).first(); // an earlier list stays, hidden
  const shown = async (file) => {
        await at.scene.bench.diffShown(`/${file}`);
  };
  /** Runs the command until its list is there: a key counts only once the review has had the focus for a while. */
  const always = () =>
    until("the list of what to allow", async () => {
      if ((await row("this project").count()) > 0) return true;
      await at.scene.session.probe(RUN);
      return false;
    });
  const read = (file) => at.scene.session.read(file).toString();

  it("makes the rule that the person has changed, for as long as they chose", async () => {
    const { bench } = at.scene;
    const agent = await at.scene.agent([write("docs/a.md"), write("docs/sub/b.md"), write("c.txt"), { text: "Good." }]);
    await shown("docs/a.md");
    await always();
    assert.match(await row("10 times").innerText(), /Edits of docs\/a\.md, the next 10 times/);
    await row("Change the Rule").click();
    await until("the rule to be there", async () => (await input().inputValue()) === "edit(docs/a.md)");
    await input().fill("edit(docs/**)");
    await bench.page.keyboard.press("Enter");
    await row("edit(docs/**)").waitFor();
    assert.equal(read("docs/a.md"), "old\n");
    await row("Edits of all files in docs, the next 10 times").click();
    await shown("c.txt");
    assert.deepEqual([read("docs/a.md"), read("docs/sub/b.md"), read("c.txt")], ["new\n", "new\n", "old\n"]);
    await agent.shows("1 grant");
    await bench.press("Accept");
    await agent.told(3);
  });

  it("approves nothing with a rule that is too wide, and explains why", async () => {
    const { bench } = at.scene;
    const agent = await at.scene.agent([write("note.md"), write("c.txt"), { text: "Good." }]);
    await shown("note.md");
    await always();
    await row("Change the Rule").click();
    await until("the rule to be there", async () => (await input().inputValue()) === "edit(note.md)");
    await input().fill("edit(**)");
    await bench.page.keyboard.press("Enter");
    await row("Edits of all files, for this session").click();
    await bench.page.locator(".notification-list-item", { hasText: "The rule edit(**) was not made: it covers every file" }).waitFor();
    assert.equal(read("note.md"), "old\n");
    await shown("note.md");
    await always();
    await row("All edits").click();
    await agent.told(2);
    assert.deepEqual([read("note.md"), read("c.txt")], ["new\n", "new\n"]);
  });

  it("is not there for a protected file, and Escape is no answer", async () => {
    const { bench } = at.scene;
    const agent = await at.scene.agent([write("e.md"), write(".vscode/tasks.json"), { text: "Good." }]);
    await shown("e.md");
    await always();
    await bench.page.keyboard.press("Escape");
    await until("the list to go", async () => (await bench.page.locator(".quick-input-list .monaco-list-row:visible").count()) === 0);
    assert.equal(read("e.md"), "old\n");
    await bench.press("Accept");
    await agent.told(1);
    await shown(".vscode/tasks.json");
    await until("the reason", () => at.scene.session.probe(RUN).then(() => bench.page.locator(".notification-list-item", { hasText: "No rule can be made with this edit" }).count()));
    await bench.press("Reject");
  });
});
