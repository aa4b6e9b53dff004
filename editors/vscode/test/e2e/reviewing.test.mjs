// A person's view of a review, and where they go on after it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

import { Client } from "./lib/client.mjs";
import { call, edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";
import { SIDE } from "./lib/workbench.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = BASE.replace("two", "TWO");
const WHY = "I replace the second line because the list is read by a program that knows upper case alone, and this is the only place that still has *lower* case, as $(bell) https://a.example/x says.";
const pictures = process.env.AGENT_TEST_PICTURES;

describe("reviewing in VS Code", () => {
  const at = stage({ files: { "a.txt": BASE, "b.txt": BASE, "c.txt": BASE, "stale.txt": BASE, "plan.md": "theirs\n", ".vscode/tasks.json": "{}\n", ".vscode/launch.json": "{}\n" } });
  const file = (name) => at.scene.session.file(name);
  const read = (name) => at.scene.session.read(name).toString();
  const picture = async (name) => pictures && (await at.scene.bench.screenshot(path.join(pictures, `${name}.png`)));
  const focusIn = (what, selector) => until(`the focus in ${what}`, () => at.scene.session.page.evaluate((each) => document.activeElement?.closest(each) !== null, selector));
  const box = () => at.scene.session.page.locator(".review-widget .comment-body");
  const connect = async () => Client.connect(await at.scene.session.lock());

  it("after Accept by mouse the focus is in the terminal, and the file is shown", async () => {
    const agent = await at.scene.agent([edit("a.txt", "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown();
    await at.scene.bench.press("Accept");
    await agent.told(1);
    await focusIn("the terminal", ".terminal-wrapper.active");
    await at.scene.bench.tab("a.txt").waitFor();
    await until("the file to be shown", async () => (await at.scene.session.probe("return vscode.window.activeTextEditor?.document.uri.fsPath")) === file("a.txt"));
    await picture("after-accept");
  });

  it("after Accept the file is shown at the change, which is marked for a moment; what was read in preview stays", async () => {
    const far = (word) => `${"-\n".repeat(300)}${word}\n${"-\n".repeat(300)}`;
    fs.writeFileSync(file("far.txt"), far("two"));
    await at.scene.session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: true })`, file("b.txt"));
    const agent = await at.scene.agent([edit("far.txt", "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown("far.txt");
    await at.scene.session.page.evaluate(noteMarks);
    await at.scene.bench.press("Accept");
    await agent.told(1);
    const shown = () => at.scene.session.probe(`return vscode.window.visibleTextEditors.filter(({ document }) => document.uri.fsPath === args[0]).flatMap(({ visibleRanges }) => visibleRanges.map(({ start, end }) => [start.line, end.line]))`, file("far.txt"));
    await until("the change to be in view", async () => (await shown()).some(([from, to]) => from < 300 && 300 < to));
    await until("the mark", () => at.scene.session.page.evaluate(() => window.marked === true));
    const tabs = await at.scene.session.probe(`return vscode.window.tabGroups.all.flatMap((group) => group.tabs).map(({ label, isPreview }) => label + (isPreview ? " in preview" : ""))`);
    assert.deepEqual(tabs, ["b.txt in preview", "far.txt"]);
  });

  it("after Reject by key the focus is in the terminal", async () => {
    const agent = await at.scene.agent([edit("b.txt", "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown();
    await at.scene.session.page.click(".monaco-diff-editor .editor.modified .view-lines");
    await at.scene.bench.answerByKey("Control+Shift+Backspace", () => agent.asksNothing());
    await focusIn("the terminal", ".terminal-wrapper.active");
    assert.equal(read("b.txt"), BASE);
  });

  it("after a plan the focus is in the terminal, and no file of the plan's name is opened", async () => {
    const plan = ".part.editor .monaco-editor[data-uri^='agent-plan:']";
    const agent = await at.scene.agent([call("present_plan", { plan: "# Mine\n\n1. Do.\n" }, "Read."), { text: "Good." }], { flags: ["--permission-mode", "plan"] });
    const { page } = at.scene.session;
    await page.locator(plan).first().waitFor();
    await page.click(".part.editor .view-lines");
    const row = page.locator(".quick-input-list .monaco-list-row:visible", { hasText: "Ask About Edits" }); // an earlier list stays, hidden
    await at.scene.bench.answerByKey("Control+Enter", async () => (await row.count()) === 1);
    await row.click();
    await agent.told(1);
    await focusIn("the terminal", ".terminal-wrapper.active");
    const shown = await at.scene.session.probe("return vscode.window.visibleTextEditors.map((each) => each.document.uri.fsPath)");
    assert.ok(!shown.includes(file("plan.md")), shown.join());
  });

  it("after an answer to a program outside of the terminals the focus is in the editor, not in another agent's prompt", async () => {
    await at.scene.linkedAgent([]);
    const client = await connect();
    let answered = false;
    client.openDiff(file("b.txt"), BASE.replace("two", "TWO"), { on_close: "keep" }).then(() => (answered = true), () => undefined);
    await at.scene.bench.diffShown();
    await at.scene.session.page.click(".monaco-diff-editor .editor.modified .view-lines");
    await at.scene.bench.answerByKey("Control+Shift+Backspace", () => answered);
    await at.scene.session.noDiffs();
    await focusIn("the editor", ".part.editor");
    client.close();
  });

  it("after Accept the focus does not wait for a new file, which is shown when it is written", async () => {
    const client = await connect();
    // The client is in a terminal, as far as the window knows, and writes the file when the focus is there.
    const pid = await at.scene.session.probe(`const terminal = vscode.window.createTerminal("its"); terminal.show(true); return terminal.processId`);
    client.notify("ide_connected", { pid });
    let answered = false;
    client.openDiff(file("late.txt"), BASE, { on_close: "keep" }).then(() => (answered = true), () => undefined);
    await at.scene.bench.diffShown("late.txt");
    await at.scene.session.page.click(SIDE);
    await at.scene.bench.answerByKey("Control+Enter", () => answered);
    await focusIn("the terminal", ".terminal-wrapper.active");
    fs.writeFileSync(file("late.txt"), BASE);
    await at.scene.bench.tab("late.txt").waitFor();
    await focusIn("the terminal", ".terminal-wrapper.active");
    client.close();
  });

  it("asks one warning after the other, and each for its time", async () => {
    const client = await connect();
    const notes = [{ kind: "protected", text: "programs run what this file says" }];
    const answered = [];
    for (const name of ["tasks.json", "launch.json"]) {
      client.openDiff(file(`.vscode/${name}`), "{ }\n", { on_close: "keep", notes, diff_id: name }).then(() => answered.push(name), () => undefined);
      await at.scene.bench.diffShown(name);
    }
    void at.scene.session.probe(`void vscode.commands.executeCommand("agent.acceptAll")`);
    const { page } = at.scene.session;
    const dialog = (name) => page.locator(".monaco-dialog-box", { hasText: name });
    const accept = (name) => at.scene.bench.answer("Accept", name);
    await at.scene.bench.answer("Accept");
    await dialog("tasks.json").waitFor();
    // The second dialog is answered in the same instant in which it appears.
    await page.evaluate(() => {
      const look = new MutationObserver(() => {
        const box = document.querySelector(".monaco-dialog-box");
        if (!box?.textContent.includes("launch.json")) return;
        const button = [...box.querySelectorAll(".monaco-button")].find((each) => each.textContent === "Accept");
        if (button === undefined) return;
        look.disconnect();
        window.early = true;
        button.click();
      });
      look.observe(document.body, { childList: true, subtree: true });
    });
    await until("the first answer to count", async () => {
      if (answered.length === 0 && (await dialog("tasks.json").count()) > 0) await accept("tasks.json").catch(() => undefined);
      return answered.includes("tasks.json");
    });
    await until("the early answer", () => page.evaluate(() => window.early === true));
    await until("the second warning to be there again", async () => (await dialog("launch.json").count()) === 1);
    assert.deepEqual(answered, ["tasks.json"]);
    await until("the second answer to count", async () => {
      if ((await dialog("launch.json").count()) > 0) await accept("launch.json").catch(() => undefined);
      return answered.includes("launch.json");
    });
    client.close();
  });

  it("with another review waiting the focus goes there, and a second key at once does not answer it", async () => {
    const client = await connect();
    const answered = [];
    const ask = (name) => client.openDiff(file(name), BASE.replace("two", "TWO"), { on_close: "keep", diff_id: name }).then(() => answered.push(name));
    void ask("a.txt");
    void ask("b.txt").catch(() => undefined);
    await at.scene.bench.statusItem("2 to review").click();
    await at.scene.bench.diffShown();
    await focusIn("the review", ".monaco-diff-editor");
    await at.scene.bench.answerByKey("Control+Enter", () => answered.length === 1, 2);
    await focusIn("the next review", ".monaco-diff-editor");
    assert.equal(answered.length, 1);
    await at.scene.bench.diffShown();
    await at.scene.bench.answerByKey("Control+Enter", () => answered.length === 2);
    client.close();
  });

  it("says in one row above the first change who asks, why and which of how many it is, and how to answer; the row goes when that change is taken back", async () => {
    const client = await connect();
    const lines = (second, last) => `one\n${second}\n${"-\n".repeat(8)}${last}\n`;
    fs.writeFileSync(file("c.txt"), lines("two", "three"));
    client.openDiff(file("c.txt"), lines("TWO", "THREE"), { on_close: "keep", description: WHY, batch: { id: "b", index: 1, total: 3 } }).catch(() => undefined);
    await at.scene.bench.diffShown();
    const { page } = at.scene.session;
    const rows = (side) => page.locator(`.monaco-diff-editor .editor.${side} .codelens-decoration`);
    await rows("modified").first().locator("a", { hasText: "Reject with Reason…" }).waitFor(); // by now it can be clicked
    const words = (await rows("modified").first().innerText()).replaceAll(/\s+/g, " ");
    assert.match(words, /^test · 2 of 3 ?\| ?Accept (Ctrl\+|⌘)Enter ?\| ?Reject ?\| ?Reject with Reason… ?\| ?I replace the second line/);
    assert.match(await rows("original").first().innerText(), /^test · 2 of 3 · I replace/, "beside it, where there is room");
    assert.ok(words.includes("$(bell)") || !words.includes("bell"), "as written");
    const heights = await rows("modified").evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
    assert.ok(heights.length === 1 && heights[0] < 30, `one row: ${heights}`);
    assert.equal(await box().count(), 0, "no box");
    await picture("reason");
    const top = async () => (await at.scene.bench.middle(rows("modified").first()))[1];
    const before = await top();
    await page.locator('.monaco-diff-editor .gutter .action-label[aria-label="Revert Block"]').first().click();
    await until("the row to go to the change that is left", async () => (await top()) > before + 50);
    await picture("reason-after-revert");
    client.close();
  });

  it("in a window 700 pixels wide the row still says who asks, and how to accept", async () => {
    const client = await connect();
    const { page } = at.scene.session;
    const size = page.viewportSize();
    await page.setViewportSize({ width: 700, height: 900 });
    try {
      await at.scene.session.probe(`await vscode.commands.executeCommand("workbench.view.explorer")`);
      client.openDiff(file("c.txt"), "TWO\n", { on_close: "keep", description: WHY, batch: { id: "b", index: 1, total: 3 } }).catch(() => undefined);
      await at.scene.bench.diffShown("c.txt");
      await page.locator(".part.editor .codelens-decoration a", { hasText: /Accept\s+(Ctrl|⌘)/ }).waitFor({ state: "attached" });
      const words = ["test · 2 of 3", "Accept"];
      assert.deepEqual(await page.evaluate(wordsInSight, words), words);
      await picture("narrow");
    } finally {
      await page.setViewportSize(size);
      client.close();
    }
  });

  it("the list counts what waits where its title is not cut off", async () => {
    const client = await connect();
    const { page } = at.scene.session;
    for (let n = 0; n < 12; n++) client.openDiff(file(`listed${n}.txt`), "new\n", { on_close: "keep", batch: { id: "l", index: n, total: 12 } }).catch(() => undefined);
    await at.scene.bench.statusItem("12 to review").waitFor();
    await at.scene.session.probe(`await vscode.commands.executeCommand("agent.reviews.focus")`);
    const title = page.locator(".part.sidebar .title-label h2");
    await title.filter({ hasText: "(12)" }).waitFor();
    assert.deepEqual(await title.evaluate((each) => [each.textContent, each.scrollWidth <= each.clientWidth]), ["Agent: To Review (12)", true]);
    await at.scene.session.probe(`await vscode.commands.executeCommand("workbench.view.explorer")`);
    client.close();
  });

  it("a new file is one text, all added, in which the person types and comments", async () => {
    const client = await connect();
    const { page } = at.scene.session;
    const answer = client.openDiff(file("made.txt"), "one\ntwo", { on_close: "keep" });
    await at.scene.bench.diffShown("made.txt");
    assert.equal(await page.locator(".monaco-diff-editor").count(), 0);
    await until("all lines to be added ones", async () => (await page.locator(".part.editor .view-overlays .cdr").count()) >= 2);
    await at.scene.bench.typeAtEnd("\nmine");
    await page.keyboard.press("ArrowUp");
    await at.scene.bench.comment("and more");
    await at.scene.bench.press("Accept");
    const [word, text, details] = await answer;
    assert.deepEqual([word, text], ["FILE_SAVED", "one\ntwo\nmine"]);
    const [{ side, startLine, quote }] = JSON.parse(details).comments;
    assert.deepEqual([side, startLine, quote], ["modified", 2, "two"]);
    client.close();
  });

  it("a reason that no row holds is in a box in full, as written, which is folded after the first look", async () => {
    const client = await connect();
    const long = `${WHY} ${WHY}`;
    client.openDiff(file("c.txt"), "TWO\n", { on_close: "keep", description: long }).catch(() => undefined);
    await at.scene.bench.diffShown("c.txt");
    await box().filter({ hasText: "the only place that still" }).waitFor();
    const widget = at.scene.session.page.locator(".review-widget");
    const words = (await widget.first().innerText()).replaceAll(/\s+/g, " ");
    assert.ok(words.includes(long), words);
    assert.equal(await widget.first().locator(".comment-body a, .comment-body em, .comment-body .codicon-bell").count(), 0, "as written");
    await at.scene.session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0]))`, file("a.txt"));
    await at.scene.session.probe(`await vscode.commands.executeCommand("agent.nextReview")`);
    await at.scene.bench.diffShown("c.txt");
    await until("the box to be folded", async () => (await box().count()) === 0);
    client.close();
  });

  it("is answered by the words in the row and in the status bar", async () => {
    const client = await connect();
    const { page } = at.scene.session;
    const ask = (name) => client.openDiff(file(name), "other\n", { on_close: "keep" });
    const first = ask("b.txt");
    await at.scene.bench.diffShown("b.txt");
    await page.locator(".editor.modified .codelens-decoration a[role=button], .editor.modified .codelens-decoration a[id]", { hasText: /^\W*Accept/ }).first().click();
    assert.equal((await first)[0], "FILE_SAVED");
    await at.scene.session.noDiffs();
    const second = ask("c.txt");
    await at.scene.bench.diffShown("c.txt");
    await page.click(".monaco-diff-editor .editor.modified .view-lines");
    const reject = page.locator(".statusbar-item a[aria-label^='Reject the edit of c.txt']");
    await until("the answer in the status bar", async () => {
      await reject.click();
      return until("the review to go", async () => (await at.scene.session.diffs()).length === 0, 5_000);
    });
    assert.equal((await second)[0], "DIFF_REJECTED");
    await reject.waitFor({ state: "detached" });
    client.close();
  });

  it("titles say what is asked; files that wait are marked in the Explorer, and breadcrumbs begin at the folder", async () => {
    const client = await connect();
    const { page } = at.scene.session;
    const asks = async (title, name, text, more) => {
      client.openDiff(file(name), text, { on_close: "keep", ...more }).catch(() => undefined);
      await until(`the title ${title}`, async () => (await at.scene.session.tabs()).includes(title));
    };
    await asks("New: sub/new.txt", "sub/new.txt", "new\n");
    await asks("Delete b.txt?", "b.txt", "", { removal: "delete" });
    await asks("Move c.txt → sub/c.txt", "c.txt", BASE, { removal: "move", new_file_path: file("sub/c.txt") });
    await client.call("closeAllDiffTabs");
    await asks("a.txt ← test", "a.txt", "a\n");
    await asks("tasks.json (2 of 3)", ".vscode/tasks.json", "{ }\n", { batch: { id: "b", index: 1, total: 3 } });
    await at.scene.session.probe(`await vscode.commands.executeCommand("workbench.view.explorer")`);
    await page.waitForFunction(isMarkedInExplorer, "a.txt");
    await at.scene.bench.tab("tasks.json (2 of 3)").click();
    await until("the breadcrumbs", async () => (await page.locator(".breadcrumbs-control .monaco-breadcrumb-item").allInnerTexts()).join("/").startsWith(".vscode/tasks.json"));
    client.close();
  });

  it("remarks are in the title and the box, and asked about once more", async () => {
    const client = await connect();
    const notes = [{ kind: "protected", text: "programs run what this file says" }];
    const answer = client.openDiff(file(".vscode/tasks.json"), '{ "version": "2.0.0" }\n', { on_close: "keep", description: "why", notes });
    await at.scene.bench.diffShown();
    await at.scene.bench.tab("protected file").waitFor();
    await box().filter({ hasText: "programs run what this file says" }).waitFor();
    await picture("notes");
    await at.scene.bench.press("Accept");
    const dialog = at.scene.session.page.locator(".monaco-dialog-box", { hasText: "programs run what this file says" });
    await dialog.waitFor();
    await picture("notes-modal");
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    await at.scene.bench.press("Accept");
    await dialog.waitFor();
    await at.scene.bench.answer("Accept");
    assert.equal((await answer)[0], "FILE_SAVED");
    client.close();
  });

  it("a file that changed meanwhile: the edit with the person's own text is merged, and opens again", async () => {
    const agent = await at.scene.agent([call("edit_file", { path: "stale.txt", old_string: "two", new_string: "TWO" }), { text: "I see." }]);
    await at.scene.bench.diffShown();
    await at.scene.bench.typeAtEnd("mine");
    fs.writeFileSync(file("stale.txt"), `zero\n${BASE}`);
    await at.scene.session.page.waitForFunction(isMarked);
    await at.scene.bench.press("Accept");
    await agent.shows("changed while you looked");
    await agent.asks();
    assert.equal(read("stale.txt"), `zero\n${BASE}`);
    await at.scene.bench.diffShown();
    await picture("stale");
    await at.scene.bench.press("Accept");
    const told = await agent.told(1);
    assert.match(told, /merged with the new text and shown again/);
    assert.match(told, /^\+mine$/m);
    assert.equal(read("stale.txt"), `zero\n${PROPOSED}mine`);
  });

  it("a click on what waits leads to the review, and without one to the terminal that asks", async () => {
    const agent = await at.scene.agent([edit("a.txt", "one", "ONE"), call("execute_command", { command: "touch ran" }), { text: "Good." }]);
    await at.scene.bench.diffShown();
    await agent.asks();
    await at.scene.bench.statusItem("1 to review").click();
    await focusIn("the review", ".monaco-diff-editor");
    await picture("waits");
    await at.scene.bench.press("Accept");
    await agent.shows("touch ran");
    await at.scene.session.probe(`await vscode.commands.executeCommand("workbench.action.focusActiveEditorGroup"); await vscode.commands.executeCommand("workbench.action.closePanel")`);
    await at.scene.bench.statusItem("waits for you").click();
    await focusIn("the terminal", ".terminal-wrapper.active");
  });
});

/** Runs in the page: notes whether a whole line of an editor of a file is marked from now on. */
function noteMarks() {
  const look = () => {
    const editor = document.querySelector(".part.editor .monaco-editor[data-uri^='file:'][data-uri$='far.txt'], .part.editor .monaco-editor[data-uri^='vscode-remote:'][data-uri$='far.txt']");
    if ([...(editor?.querySelectorAll(".view-overlays .cdr") ?? [])].some((each) => getComputedStyle(each).backgroundColor !== "rgba(0, 0, 0, 0)")) window.marked = true;
    if (!window.marked) requestAnimationFrame(look);
  };
  look();
}

/** Runs in the page: the words of the row above the change that are not cut off. */
function wordsInSight(words) {
  const row = document.querySelector(".part.editor .codelens-decoration:has(.codicon-check)");
  const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  const seen = [];
  while (texts.nextNode()) {
    const node = texts.currentNode;
    for (const word of words.filter((each) => node.data.includes(each))) {
      const range = document.createRange();
      range.setStart(node, node.data.indexOf(word));
      range.setEnd(node, node.data.indexOf(word) + word.length);
      const { left, right, top, height } = range.getBoundingClientRect();
      if ([left + 1, right - 1].every((x) => row.contains(document.elementFromPoint(x, top + height / 2)))) seen.push(word);
    }
  }
  return seen;
}

/** Runs in the page: whether a file is marked as waiting in the Explorer. */
function isMarkedInExplorer(name) {
  const row = [...document.querySelectorAll(".explorer-folders-view .monaco-list-row")].find((each) => each.textContent.trim() === name);
  return [...(row?.querySelectorAll("*") ?? [])].some((each) => getComputedStyle(each, "::after").content === '"?"');
}

/** Runs in the page: whether the tab in front shows that its file has changed on disk. */
function isMarked() {
  const labels = [...document.querySelectorAll(".part.editor .tab.active .monaco-icon-label, .part.editor .tab.active .monaco-icon-label *")];
  return labels.some((label) => getComputedStyle(label, "::after").content === '"!"');
}
