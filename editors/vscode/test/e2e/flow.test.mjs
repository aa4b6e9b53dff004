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

/** Runs in the page: notes each text that VS Code has read out from now on. */
function noteAnnounced() {
  window.announced = [];
  const heard = (node) => node.textContent !== "" && window.announced.push(node.textContent);
  new MutationObserver((all) => all.forEach(({ addedNodes }) => addedNodes.forEach(heard))).observe(document.querySelector(".monaco-aria-container"), { childList: true, subtree: true });
}

describe("several edits", () => {
  const at = stage({ files: { "a.txt": BASE, "b.txt": BASE, "c.txt": BASE, "d.txt": BASE, "e.txt": BASE, "f.txt": BASE, "late.txt": BASE, "race.txt": BASE, "long.txt": LONG, ...Object.fromEntries(many.map((name) => [name, BASE])) } });
  const read = (name) => at.scene.session.read(name).toString();
  const focusIn = (what, selector) => until(`the focus in ${what}`, () => at.scene.session.page.evaluate((each) => document.activeElement?.closest(each) !== null, selector)).catch(async (error) => {
    throw new Error(`${error.message}; ${await at.scene.bench.state()}`);
  });
  /** The right sides in the editors that show diffs one below the other. */
  const below = () => at.scene.session.probe(`return vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).flatMap(({ input }) => input?.textDiffs ?? []).map(({ modified }) => modified.toString())`);
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

  it("are read out to people with a screen reader as they come and go, by keys alone", async (t) => {
    const { bench, session } = at.scene;
    const names = ["d.txt", "e.txt"];
    await session.configure({ "editor.accessibilitySupport": "on" });
    await session.page.evaluate(noteAnnounced);
    const announced = () => session.page.evaluate("window.announced");
    const says = (text) => until(`${text} to be read out`, async () => (await announced()).some((each) => each.includes(text)));
    const agent = await at.scene.agent([{ text: "I change two.", calls: names.map((name) => edit(name, "two", "TWO").calls[0]) }, edit("f.txt", "two", "TWO"), { text: "Good." }]);
    await bench.diffShown("d.txt");
    await says("d.txt waits for your review. From: agent, 1 of 2");
    await session.page.click(".monaco-diff-editor .editor.modified .view-lines");
    for (const [n, name] of names.entries()) {
      await bench.diffShown(name);
      await focusIn(`the diff of ${name}`, ".monaco-diff-editor");
      await bench.answerByKey("Control+Enter", () => read(name) === BASE.replace("two", "TWO"));
      await says(`${name} accepted`);
      if (n === 0) await says("e.txt waits for your review. From: agent, 2 of 2");
    }
    await agent.asks();
    await says("f.txt waits for your review. From: agent");
    await agent.type("n");
    await says("f.txt no longer waits");
    t.diagnostic(`read out: ${JSON.stringify(await announced())}`);
    await session.noDiffs();
  });

  it("that a busy window shows late are not called lost", async (t) => {
    const { bench, session } = at.scene;
    const client = await Client.connect(await session.lock());
    t.after(() => client.close());
    await session.page.evaluate(() => void setTimeout(() => {
      for (const end = performance.now() + 9_000; performance.now() < end; );
    }, 0));
    const answer = client.openDiff(session.file("late.txt"), BASE.replace("two", "TWO"));
    await bench.diffShown("late.txt");
    await bench.caughtUp();
    assert.equal(await toast("could not be shown").count(), 0);
    await bench.press("Accept");
    assert.equal((await answer)[0], "FILE_SAVED");
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
    assert.ok(tabs <= 3, `${tabs} tabs`);
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
    const said = await until("the question", async () => (await dialog.isVisible()) && dialog.textContent());
    const count = Number(/Accept the (\d+) Seen/.exec(said)?.[1] ?? 0);
    assert.ok(count <= 2 + long, said); // the first, and the last at the front
    assert.match(said, new RegExp(`${MANY - 10} more.*${MANY - count} have not been looked at`, "s"));
    assert.equal(said.match(/many\/\d+\.txt/g).length, 10, said);
    await at.scene.bench.leaveQuestions();
    for (const name of many) assert.equal(read(name), BASE);
    client.close();
    await Promise.all(answers);
  });

  it("of one answer are a list with its reason, in its order, and one diff; what was looked at is told, and the answer to all is one", async (t) => {
    const client = await Client.connect(await at.scene.session.lock());
    t.after(() => client.close());
    const { bench, session } = at.scene;
    const { page } = session;
    await session.probe(`await vscode.commands.executeCommand("workbench.view.explorer")`);
    const last = many.length - 1;
    const ask = (name, index) => client.openDiff(session.file(name), BASE.replace("two", "TWO"), { on_close: "keep", description: "I make all of them loud.", batch: { id: "all", index, total: MANY } }).catch((error) => error);
    const answers = [ask(many[0], 0), ...many.slice(1).toReversed().map((name, n) => ask(name, last - n))];
    const row = (words) => page.locator(".pane-body .monaco-list-row", { hasText: words });
    await row("I make all of them loud.").filter({ hasText: `+${MANY} −${MANY}` }).waitFor();
    assert.deepEqual((await session.diffs()).length, 1);
    const names = await page.locator(".pane-body .monaco-list-row .label-name").allInnerTexts();
    assert.deepEqual(names.filter((name) => name.endsWith(".txt")).slice(0, 5), [0, 1, 2, 3, 4].map((n) => `${n}.txt`));
    await page.locator(".part.sidebar .composite.title", { hasText: new RegExp(`to review \\(${MANY}\\)`, "i") }).waitFor();
    await page.locator(".pane-body .monaco-list-row[aria-label*=', looked at,']").first().waitFor();
    assert.equal(await page.locator(".pane-body .monaco-list-row[aria-label*=', not looked at yet,']").count() > 3, true);
    await session.probe(`await vscode.commands.executeCommand("agent.showTogether")`);
    assert.equal((await below()).length, MANY);
    const one = page.locator(".multiDiffEditor .codelens-decoration a, .multi-diff-editor .codelens-decoration a, .multiDiffEntry .codelens-decoration a", { hasText: /^\W*Accept/ });
    await one.first().click();
    await Promise.race(answers);
    await page.locator(".part.sidebar .composite.title", { hasText: new RegExp(`to review \\(${MANY - 1}\\)`, "i") }).waitFor();
    // A click does not count just after the next review has come to the front.
    await until("the question about all", async () => {
      await row("I make all of them loud.").hover();
      await row("I make all of them loud.").locator('.action-label[aria-label^="Accept All of This Answer"]').click();
      return until("its buttons", () => page.locator(".monaco-dialog-box").isVisible(), 10_000);
    });
    await bench.answer(`Accept All ${MANY - 1}`);
    const words = (await Promise.all(answers)).map((answer) => answer[0]);
    assert.deepEqual([...new Set(words)], ["FILE_SAVED"]);
    await session.noDiffs();
    await until("the editor of all to close", async () => (await below()).length === 0);
  });

  it("one below the other go with the last answer, and with the program that asked", async (t) => {
    const client = await Client.connect(await at.scene.session.lock());
    t.after(() => client.close());
    const { bench, session } = at.scene;
    const ask = (id) => many.slice(0, 4).map((name, index) => client.openDiff(session.file(name), BASE.replace("two", "TWO"), { on_close: "keep", batch: { id, index, total: 4 } }).catch((error) => error));
    const show = () => session.probe(`await vscode.commands.executeCommand("agent.showTogether")`);
    const answers = ask("answered");
    await bench.statusItem("4 to review").waitFor();
    await show();
    const edits = await below();
    assert.equal(edits.length, 4);
    for (const [index, uri] of edits.entries()) {
      assert.equal((await below()).length, 4, `${4 - index} wait`);
      let answer;
      void answers[index].then((each) => (answer = each[0]));
      await until("the answer to count", async () => {
        await session.probe(`await vscode.commands.executeCommand("agent.diffAccept", vscode.Uri.parse(args[0]))`, uri);
        return answer;
      });
      assert.equal(answer, "FILE_SAVED");
    }
    await until("the editor to close", async () => (await below()).length === 0);
    await session.noDiffs();
    const unanswered = ask("gone");
    await bench.statusItem("4 to review").waitFor();
    await show();
    assert.equal((await below()).length, 4);
    client.close();
    await Promise.all(unanswered);
    await until("the editor to close", async () => (await below()).length === 0);
    await session.noDiffs();
  });

  it("are seen when the end of their changes was on the screen", async (t) => {
    const client = await Client.connect(await at.scene.session.lock());
    t.after(() => client.close());
    const answer = client.openDiff(at.scene.session.file("long.txt"), LONG.replace("line 0\n", "first\n").replace("line 399\n", "last\n"), { on_close: "keep" });
    await at.scene.bench.diffShown("long.txt");
    await at.scene.session.page.waitForTimeout(1_000);
    await at.scene.session.probe(`void vscode.commands.executeCommand("agent.acceptAll")`);
    const question = at.scene.session.page.locator(".monaco-dialog-box", { hasText: "One has not been looked at." });
    await question.waitFor();
    await at.scene.bench.leaveQuestions();
    await at.scene.session.page.click(".monaco-diff-editor .editor.modified .view-lines");
    await at.scene.session.page.keyboard.press("Control+End");
    await at.scene.session.page.locator(".view-line", { hasText: "last" }).first().waitFor();
    await until("it to be seen", async () => {
      await at.scene.session.probe(`void vscode.commands.executeCommand("agent.acceptAll")`);
      await at.scene.session.page.locator(".monaco-dialog-box", { hasText: "Accept this edit?" }).waitFor();
      if (!(await question.isVisible())) return true;
      await at.scene.bench.leaveQuestions();
      return false;
    });
    await at.scene.bench.answer("Accept");
    assert.equal((await answer)[0], "FILE_SAVED");
  });
});
