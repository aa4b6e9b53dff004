// Several edits one after the other: the focus goes from one to the next, and an edit that was not looked at is not accepted.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { Client } from "./lib/client.mjs";
import { edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const MANY = 40;
const LONG = Array.from({ length: 400 }, (_, n) => `line ${n}\n`).join("");
const many = Array.from({ length: MANY }, (_, n) => `many/${n}.txt`);

/** Runs in the page: notes each place that gets the focus from now on. */
function noteFocus() {
  window.focusedPlaces = [];
  document.addEventListener("focusin", ({ target }) => {
    const terminal = target.closest(".terminal-wrapper") !== null;
    window.focusedPlaces.push(terminal ? "terminal" : (target.closest(".monaco-diff-editor, .monaco-editor, .part")?.className.split(" ")[0] ?? "nothing"));
  });
}

describe("several edits", () => {
  const at = stage({ files: { "a.txt": BASE, "b.txt": BASE, "c.txt": BASE, "race.txt": BASE, "long.txt": LONG, ...Object.fromEntries(many.map((name) => [name, BASE])) } });
  const read = (name) => at.scene.session.read(name).toString();
  const focusIn = (what, selector) => until(`the focus in ${what}`, () => at.scene.session.page.evaluate((each) => document.activeElement?.closest(each) !== null, selector));
  const toast = (text) => at.scene.session.page.locator(".notification-toast", { hasText: text }).first();

  it("of one answer are accepted by Ctrl+Enter alone: the focus is never in the terminal between them", async () => {
    const names = ["a.txt", "b.txt", "c.txt"];
    const agent = await at.scene.agent([{ text: "I change three.", calls: names.map((name) => edit(name, "two", "TWO").calls[0]) }, { text: "Good." }]);
    await at.scene.bench.diffShown("a.txt");
    await at.scene.session.page.click(".monaco-diff-editor .editor.modified .view-lines");
    await at.scene.session.page.evaluate(noteFocus);
    for (const name of names) {
      await at.scene.bench.diffShown(name);
      await focusIn(`the diff of ${name}`, ".monaco-diff-editor");
      if (name === "c.txt") assert.ok(!(await at.scene.session.page.evaluate("window.focusedPlaces")).includes("terminal"), "between the edits");
      await at.scene.bench.answerByKey("Control+Enter", () => read(name) === BASE.replace("two", "TWO"));
    }
    await agent.told(1);
    await focusIn("the terminal", ".terminal-wrapper.active");
  });

  it("that were accepted and not written are said where the click was", async () => {
    const agent = await at.scene.agent([edit("race.txt", "two", "TWO"), { text: "I see." }]);
    await at.scene.bench.diffShown("race.txt");
    await agent.asks();
    fs.writeFileSync(at.scene.session.file("race.txt"), "someone else's\n");
    await at.scene.bench.press("Accept");
    await toast("The edit of race.txt that you accepted was not written").waitFor();
    await agent.told(1);
    assert.equal(read("race.txt"), "someone else's\n");
  });

  it("do not open a tab for each of forty, and those that flashed by are not accepted", async (t) => {
    const client = await Client.connect(await at.scene.session.lock());
    t.after(() => client.close());
    const answers = many.map((name) => client.openDiff(at.scene.session.file(name), BASE.replace("two", "TWO"), { on_close: "keep" }).catch((error) => error));
    await at.scene.bench.statusItem(`${MANY} to review`).waitFor();
    await until("the diffs to settle", async () => (await at.scene.session.diffs()).length > 0);
    await at.scene.bench.caughtUp();
    const tabs = (await at.scene.session.diffs()).length;
    assert.ok(tabs <= 12, `${tabs} tabs`);
    // On a busy machine some stay in front for long enough: a tab is there from its opening to the next one's at most.
    const long = await at.scene.session.probe(
      `const long = [];
       for (let n = 0; n < args[0]; n++) {
         const began = performance.now();
         await vscode.commands.executeCommand("workbench.action.openEditorAtIndex", n);
         await new Promise((done) => setTimeout(done, 60));
         long.push(performance.now() - began);
       }
       return long.filter((time, n) => time + (long[n + 1] ?? 0) >= 400).length`, tabs);
    await at.scene.session.probe(`void vscode.commands.executeCommand("agent.acceptAll")`);
    const dialog = at.scene.session.page.locator(".monaco-dialog-box");
    const said = await until("an answer", async () => {
      for (const each of [dialog, toast("on the screen yet")]) if (await each.isVisible()) return (await each.textContent()) ?? "";
      return undefined;
    });
    const count = Number(/Accept (\d+) edits/.exec(said)?.[1] ?? 1);
    assert.ok(count <= 2 + long, said); // the first, and the last at the front
    await at.scene.bench.leaveQuestions();
    for (const name of many) assert.equal(read(name), BASE);
    client.close();
    await Promise.all(answers);
  });

  it("are seen when the end of their changes was on the screen", async (t) => {
    const client = await Client.connect(await at.scene.session.lock());
    t.after(() => client.close());
    const answer = client.openDiff(at.scene.session.file("long.txt"), LONG.replace("line 0\n", "first\n").replace("line 399\n", "last\n"), { on_close: "keep" });
    await at.scene.bench.diffShown("long.txt");
    await at.scene.session.page.waitForTimeout(1_000);
    await at.scene.session.probe(`void vscode.commands.executeCommand("agent.acceptAll")`);
    await toast("One edit has not been on the screen yet").waitFor();
    await at.scene.session.page.click(".monaco-diff-editor .editor.modified .view-lines");
    await at.scene.session.page.keyboard.press("Control+End");
    await at.scene.session.page.locator(".view-line", { hasText: "last" }).first().waitFor();
    await until("it to be seen", async () => {
      await at.scene.session.probe(`void vscode.commands.executeCommand("agent.acceptAll")`);
      return until("the question", () => at.scene.session.page.locator(".monaco-dialog-box", { hasText: "the edit that you have seen" }).isVisible(), 3_000).catch(() => undefined);
    });
    await at.scene.bench.answer("Accept");
    assert.equal((await answer)[0], "FILE_SAVED");
  });
});
