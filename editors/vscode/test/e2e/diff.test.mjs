// A person answers diffs with mouse and keys; a client of the protocol asks.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, afterEach, before, describe, it } from "node:test";

import { Client } from "./lib/client.mjs";
import { startSession } from "./lib/session.mjs";
import { settled, until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";

describe("a diff in VS Code", () => {
  let session;
  let client;
  let bench;
  let failed;

  before(async () => {
    session = await startSession({ files: { "a.txt": BASE, "note.md": "# old\n" } });
    bench = session.bench;
    client = await Client.connect(await session.lock());
  });
  after(async () => {
    client?.close();
    await session?.stop(failed);
  });
  afterEach(async (t) => {
    if (t.passed === false) {
      failed = "diff";
      await session.keep(t.name);
    }
    await client.call("closeAllDiffTabs");
    await session.noDiffs();
  });

  const ask = (text = PROPOSED, more = {}) => client.openDiff(session.file("a.txt"), text, more);
  const untouched = () => {
    const before = fs.statSync(session.file("a.txt"));
    return () => {
      const now = fs.statSync(session.file("a.txt"));
      assert.deepEqual([now.ino, now.mtimeMs, now.size], [before.ino, before.mtimeMs, before.size]);
      assert.equal(session.read("a.txt").toString(), BASE);
    };
  };
  const verdict = async (answer) => {
    const [word, second, details] = await answer;
    return { word, second, details: details === undefined ? undefined : JSON.parse(details) };
  };

  it("is accepted with the button, exactly as proposed", async () => {
    const same = untouched();
    const answer = ask();
    await bench.diffShown();
    await bench.press("Accept");
    const { word, second, details } = await verdict(answer);
    assert.deepEqual([word, second, details.reason, details.userEdited], ["FILE_SAVED", PROPOSED, "button", false]);
    await session.noDiffs();
    same();
  });

  it("has the buttons that apply: a new file is not shown inline", async () => {
    for (const [name, text, inline] of [["a.txt", PROPOSED, true], ["new.txt", "new\n", false]]) {
      const answer = client.openDiff(session.file(name), text);
      await bench.diffShown(name);
      const shown = await until("the buttons", async () => {
        const all = await bench.titleButtons();
        return all.includes("Reject") && all.includes("Show Inline or as Diff") === inline && all;
      });
      assert.deepEqual(shown.slice(0, 3), ["Accept", "Reject", ...(inline ? ["Show Inline or as Diff"] : shown.slice(2, 3))], name);
      await bench.press("Reject");
      assert.equal((await verdict(answer)).word, "DIFF_REJECTED");
      await session.noDiffs();
    }
  });

  it("is accepted with the first click although another group has the focus", async () => {
    const buttons = (shown) => session.configure({ "workbench.editor.alwaysShowEditorActions": shown });
    await buttons(true);
    const answer = ask();
    await bench.diffShown();
    await session.probe(
      `await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false, viewColumn: vscode.ViewColumn.Beside })`,
      session.file("note.md"),
    );
    await bench.press("Accept");
    const { word, details } = await verdict(answer);
    assert.deepEqual([word, details.reason], ["FILE_SAVED", "button"]);
    await session.noDiffs();
    await session.closeEditors();
    await buttons(undefined);
  });

  it("is rejected with the button", async () => {
    const same = untouched();
    const answer = ask();
    await bench.diffShown();
    await bench.press("Reject");
    const { word, details } = await verdict(answer);
    assert.deepEqual([word, details.reason], ["DIFF_REJECTED", "button"]);
    await session.noDiffs();
    same();
  });

  it("is accepted with the text that the person typed into it", async () => {
    const answer = ask();
    await bench.diffShown();
    await bench.typeAtEnd("four");
    await bench.press("Accept");
    const { second, details } = await verdict(answer);
    assert.equal(second, `${PROPOSED}four`);
    assert.equal(details.userEdited, true);
    assert.match(details.patch, /^\+four$/m);
    await session.noDiffs();
  });

  it("is accepted without the change that was taken back with VS Code's own arrow", async () => {
    const lines = (third) => `${PROPOSED}${"-\n".repeat(20)}${third}\n`;
    fs.writeFileSync(session.file("long.txt"), lines("four").replace("TWO", "two"));
    const answer = client.openDiff(session.file("long.txt"), lines("FOUR"));
    await bench.diffShown();
    const arrows = bench.page.locator('.monaco-diff-editor .gutter .action-label[aria-label="Revert Block"]');
    await until("an arrow at each change", async () => (await arrows.count()) === 2);
    await arrows.first().click();
    await until("one change to be left", async () => (await arrows.count()) === 1);
    await bench.press("Accept");
    const { second, details } = await verdict(answer);
    assert.equal(second, lines("FOUR").replace("TWO", "two"));
    assert.match(details.patch, /^-TWO\n\+two$/m);
    await session.noDiffs();
  });

  it("is answered with keys", async () => {
    const accepted = ask();
    await bench.diffShown();
    await bench.page.click(".monaco-diff-editor .editor.modified .view-lines");
    await bench.answerByKey("Control+Enter", settled(accepted));
    assert.equal((await verdict(accepted)).details.reason, "command");
    await session.noDiffs();
    const rejected = ask();
    await bench.diffShown();
    await bench.page.click(".monaco-diff-editor .editor.original .view-lines");
    await bench.answerByKey("Control+Shift+Backspace", settled(rejected));
    assert.equal((await verdict(rejected)).word, "DIFF_REJECTED");
    await session.noDiffs();
  });

  it("is accepted by a save of the person", async () => {
    const answer = ask();
    await bench.diffShown();
    await bench.typeAtEnd("saved");
    await bench.page.keyboard.press("Control+S");
    const { second, details } = await verdict(answer);
    assert.deepEqual([second, details.reason], [`${PROPOSED}saved`, "save"]);
    await session.noDiffs();
  });

  it("is accepted by the key that saves, and by the terminal after a save by itself, as it was shown: no formatter of a save changes it", async () => {
    const [base, proposed] = ["one  \ntwo\nthree  \nlast  ", "one  \nTWO\nthree  \nlast  "];
    const set = (values) => session.configure(Object.fromEntries(Object.entries(values).map(([name, value]) => [`files.${name}`, value])));
    fs.writeFileSync(session.file("breaks.md"), base);
    await set({ trimTrailingWhitespace: true, insertFinalNewline: true });
    const first = client.openDiff(session.file("breaks.md"), proposed);
    await bench.diffShown("breaks.md");
    await bench.page.click(".monaco-diff-editor .editor.modified .view-lines");
    await bench.answerByKey("Control+s", settled(first));
    const { second, details } = await verdict(first);
    assert.deepEqual([second, details.userEdited, details.reason], [proposed, false, "save"]);
    await session.noDiffs();

    await session.probe(
      `globalThis.saved = 0;
       globalThis.noted = vscode.workspace.onDidSaveTextDocument(({ uri }) => uri.scheme === "agent-proposed" && globalThis.saved++);`,
    );
    await set({ autoSave: "afterDelay", autoSaveDelay: 1_000 });
    const again = client.openDiff(session.file("breaks.md"), proposed, { on_close: "keep", diff_id: "breaks" });
    await bench.diffShown("breaks.md");
    await bench.typeAtEnd("x");
    await until("the save", () => session.probe("return globalThis.saved > 0"));
    const right = `return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "agent-proposed" && uri.query === vscode.window.tabGroups.activeTabGroup.activeTab.input.modified.query)`;
    const told = JSON.parse((await client.call("resolveDiff", { diff_id: "breaks", outcome: "accept" }))[0]);
    assert.equal(told.text, `${proposed}x`);
    await again;
    await session.noDiffs();

    const shown = client.openDiff(session.file("breaks.md"), proposed);
    await bench.diffShown("breaks.md");
    await bench.typeAtEnd("y");
    await until("the text to be as it was typed again", () => session.probe(`${right}?.isDirty === false && ${right.replace("return ", "")}.getText() === args[0]`, `${proposed}y`));
    await bench.press("Accept");
    assert.equal((await verdict(shown)).second, `${proposed}y`);
    await session.probe("globalThis.noted.dispose()");
    await set({ trimTrailingWhitespace: null, insertFinalNewline: null, autoSave: null, autoSaveDelay: null });
  });

  it("is rejected with a reason", async () => {
    const answer = ask();
    await bench.diffShown();
    await bench.rejectWith("keep the old name");
    const { word, details } = await verdict(answer);
    assert.deepEqual([word, details.feedback], ["DIFF_REJECTED", "keep the old name"]);
    await session.noDiffs();
  });

  it("is rejected when its tab is closed and nobody else can answer", async () => {
    const answer = ask(PROPOSED, { on_close: "reject" });
    await bench.diffShown();
    await bench.closeActiveTab();
    const { word, details } = await verdict(answer);
    assert.deepEqual([word, details.reason], ["DIFF_REJECTED", "tab_closed"]);
  });

  it("keeps waiting when its tab is closed and the client says so, and comes back", async () => {
    const answer = ask(PROPOSED, { on_close: "keep", diff_id: "kept" });
    await bench.diffShown();
    await bench.closeActiveTab();
    await session.noDiffs();
    await bench.statusItem("1 to review").click();
    await bench.diffShown();
    await bench.press("Accept");
    assert.equal((await verdict(answer)).word, "FILE_SAVED");
    await session.noDiffs();
  });

  it("reports typing, and is answered from outside with the typed text", async () => {
    const answer = ask(PROPOSED, { diff_id: "typed", on_close: "keep" });
    await bench.diffShown();
    await bench.typeAtEnd("here");
    await until("diff_changed", () =>
      client.notifications.some(({ method, params }) => method === "diff_changed" && params.diffId === "typed" && params.edited),
    );
    const [result] = await client.call("resolveDiff", { diff_id: "typed", outcome: "accept" });
    const { outcome, text } = JSON.parse(result);
    assert.deepEqual([outcome, text], ["accepted", `${PROPOSED}here`]);
    assert.equal((await verdict(answer)).details.reason, "terminal");
    await session.noDiffs();
  });

  it("cannot be answered or changed here while the terminal edits it", async () => {
    const answer = ask(PROPOSED, { diff_id: "held", on_close: "keep" });
    await bench.diffShown();
    await client.call("resolveDiff", { diff_id: "held", outcome: "hold" });
    await bench.page.locator('.part.editor .tab.active [aria-label*="Read-only"]').waitFor(); // VS Code looks at the file again
    await bench.typeAtEnd("not here");
    await bench.press("Accept");
    const refused = bench.page.locator(".notification-toast", { hasText: "being changed in the terminal" });
    await refused.waitFor();
    await session.probe(`await vscode.commands.executeCommand("notifications.clearAll")`);
    await refused.waitFor({ state: "detached" });
    await bench.press("Show Inline or as Diff");
    await refused.waitFor();
    assert.match((await session.diffs()).join(), /^agent-proposed:/, "it stays a diff");
    await client.call("resolveDiff", { diff_id: "held", outcome: "release" });
    const writable = `return vscode.workspace.fs.isWritableFileSystem("agent-proposed") &&
      ((await vscode.workspace.fs.stat(vscode.window.tabGroups.activeTabGroup.activeTab.input.modified)).permissions ?? 0) === 0`;
    await until("the right side to be writable again", () => session.probe(writable));
    await bench.press("Accept");
    assert.equal((await verdict(answer)).second, PROPOSED);
    await session.probe(`await vscode.commands.executeCommand("notifications.clearAll")`);
  });

  it("cannot be changed here if the terminal edits it before it is first shown, in either view", async () => {
    const set = (name, value) => session.configure({ [`agent.${name}`]: value });
    await set("diff.open", "onDemand");
    for (const view of ["diff", "inline"]) {
      await set("review", view);
      const answer = ask(PROPOSED, { diff_id: view, on_close: "keep" });
      await bench.statusItem("1 to review").waitFor();
      await client.call("resolveDiff", { diff_id: view, outcome: "hold" });
      await session.probe(`await vscode.commands.executeCommand("agent.nextReview")`);
      const text = bench.page.locator(view === "diff" ? ".monaco-diff-editor .editor.modified .view-lines" : ".part.editor .monaco-editor[data-uri^='agent-inline:'] .view-lines").first();
      await text.click();
      await bench.page.keyboard.press("Control+End");
      await bench.page.keyboard.type("not here");
      await session.keepsUp();
      const { diffs } = JSON.parse((await client.call("getPendingDiffs"))[0]);
      assert.deepEqual(diffs.map(({ held, edited }) => [held, edited]), [[true, false]], view);
      const told = JSON.parse((await client.call("resolveDiff", { diff_id: view, outcome: "accept" }))[0]);
      assert.equal(told.text, PROPOSED);
      await answer;
      await session.noDiffs();
    }
    for (const name of ["diff.open", "review"]) await set(name, null);
  });

  it("takes no focus away", async () => {
    await session.probe(`const doc = await vscode.workspace.openTextDocument(args[0]); await vscode.window.showTextDocument(doc)`, session.file("note.md"));
    await bench.page.click(".monaco-editor .view-lines");
    await bench.page.keyboard.type("x");
    const answer = ask();
    await bench.titleButton("Accept").waitFor();
    const focused = await bench.page.evaluate(() => document.activeElement?.closest(".monaco-diff-editor") === null);
    assert.ok(focused, "the diff has the focus");
    await client.call("closeAllDiffTabs");
    assert.equal((await verdict(answer)).word, "TAB_CLOSED");
    await session.probe(`await vscode.commands.executeCommand("workbench.action.files.revert")`);
    await session.closeEditors();
  });

  it("carries comments on its lines", async () => {
    const answer = ask();
    await bench.diffShown();
    await bench.page.click(".monaco-diff-editor .editor.modified .view-lines .view-line >> nth=1");
    await bench.comment("use lower case");
    await bench.press("Reject");
    const { details } = await verdict(answer);
    const [comment] = details.comments;
    assert.deepEqual([comment.side, comment.startLine, comment.quote, comment.text], ["modified", 2, "TWO", "use lower case"]);
    await session.noDiffs();
  });

  it("quotes a line as it was when the comment was made: at the answer its text may be gone", async () => {
    const answer = ask();
    await bench.diffShown();
    const line = ".monaco-diff-editor .editor.modified .view-lines .view-line >> nth=1";
    await bench.page.click(line);
    await bench.comment("use lower case");
    await bench.page.click(line);
    await bench.page.keyboard.press("End");
    await bench.page.keyboard.type("!");
    await until("the typing", () => session.probe(`return vscode.workspace.textDocuments.some((each) => each.uri.scheme === "agent-proposed" && each.getText().includes("TWO!"))`));
    await bench.press("Accept");
    const { second, details } = await verdict(answer);
    assert.deepEqual([second, details.comments.map(({ quote }) => quote)], [PROPOSED.replace("TWO", "TWO!"), ["TWO"]]);
    await session.noDiffs();
  });
});
