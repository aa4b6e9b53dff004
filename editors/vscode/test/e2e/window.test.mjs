// What surrounds a diff: lists, settings, auto-save, reloads, encodings, terminals.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";

import { Client, secretOf } from "./lib/client.mjs";
import { keepSettings, startSession } from "./lib/session.mjs";
import { until, within } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";
const SHIFT_JIS = Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x0a]); // 日本

describe("a window with reviews", () => {
  let session;
  let client;
  let bench;

  before(async () => {
    session = await startSession({
      files: { "a.txt": BASE, "b.txt": BASE, "note.md": "# old\n", "sjis.txt": SHIFT_JIS, "crlf.txt": "\ufeffa\r\nb\r\n" },
      settings: { "workbench.editorAssociations": { "*.md": "vscode.markdown.preview.editor" } },
    });
    bench = session.bench;
    client = await Client.connect(await session.lock());
  });
  after(async () => {
    client?.close();
    await session?.stop();
  });
  keepSettings(() => session);
  afterEach(async (t) => {
    if (t.passed === false) await session.keep(t.name);
    await client.call("closeAllDiffTabs");
    await session.noDiffs();
    await session.closeEditors();
  });

  const set = (section, key, value) => session.configure({ [`${section}.${key}`]: value });
  const ask = (name, text, more = {}) => client.openDiff(session.file(name), text, more);
  const notListening = () => bench.page.locator(".statusbar-item[aria-label*='not listening']");
  const activeTab = () => session.probe("return vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? ''");
  // The newest document of a side: closed ones linger.
  const side = (scheme, name) =>
    session.probe(
      `const document = vscode.workspace.textDocuments.findLast((d) => d.uri.scheme === args[0] && args[1].endsWith(d.uri.path));
       return { text: document.getText(), language: document.languageId, dirty: document.isDirty };`,
      scheme,
      session.file(name),
    );
  const accept = async (answer) => {
    await bench.diffShown();
    await bench.press("Accept");
    const [word, text, details] = await answer;
    assert.equal(word, "FILE_SAVED");
    await session.noDiffs();
    return { text, details: JSON.parse(details) };
  };

  /** Has the next question answered in the same instant in which it appears. */
  const answerAtOnce = () =>
    bench.page.evaluate(() => {
      window.early = false;
      const look = new MutationObserver(() => {
        const button = [...document.querySelectorAll(".monaco-dialog-box .monaco-button")].find((each) => each.textContent.startsWith("Accept"));
        if (button === undefined) return;
        look.disconnect();
        window.early = true;
        button.click();
      });
      look.observe(document.body, { childList: true, subtree: true });
    });
  const askedAgain = async () => {
    await until("the early answer", () => bench.page.evaluate(() => window.early === true));
    const dialog = bench.page.locator(".monaco-dialog-box");
    await dialog.waitFor();
    return dialog;
  };

  it("lists two reviews, and goes from one to the next by keys", async () => {
    const first = ask("a.txt", PROPOSED, { on_close: "keep", description: "make it loud" });
    await bench.diffShown();
    const second = ask("b.txt", PROPOSED, { on_close: "keep" });
    await bench.statusItem("2 to review").waitFor();
    await session.probe(`await vscode.commands.executeCommand("agent.reviews.focus")`);
    const rows = bench.page.locator(".pane-body .monaco-list-row", { hasText: ".txt" });
    await until("two rows", async () => (await rows.count()) === 2);
    assert.match(await rows.filter({ hasText: "a.txt" }).innerText(), /\+1 −1/);
    await bench.diffShown("/b.txt");
    await bench.page.click(".monaco-diff-editor .editor.modified .view-lines");
    await bench.page.keyboard.press("Alt+]");
    await until("a.txt to be shown", async () => (await activeTab()).includes("a.txt"));
    await bench.diffShown("/a.txt");
    await bench.press("Accept");
    assert.equal((await within("the answer", first))[0], "FILE_SAVED");
    await until("one row", async () => (await rows.count()) === 1);
    await rows.first().hover();
    // A click that comes sooner does not count.
    await bench.diffShown("/b.txt");
    await rows.first().locator('.action-label[aria-label^="Reject"]').first().click();
    assert.equal((await within("the answer", second))[0], "DIFF_REJECTED");
    await until("the list to go", async () => (await rows.count()) === 0);
    await session.probe(`await vscode.commands.executeCommand("workbench.view.explorer")`);
  });

  it("says so, if a review that has just appeared is answered in the list", async () => {
    const first = ask("a.txt", PROPOSED, { on_close: "keep" });
    await bench.diffShown("/a.txt");
    const second = ask("b.txt", PROPOSED, { on_close: "keep" });
    await bench.statusItem("2 to review").waitFor();
    await bench.diffShown("/b.txt");
    await session.probe(`
      const reviews = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter(({ input }) => input?.modified?.scheme === "agent-proposed");
      const other = reviews().find(({ isActive }) => !isActive);
      const shown = new Promise((resolve) => {
        const listener = vscode.window.tabGroups.onDidChangeTabs(({ changed }) => changed.some((tab) => tab === other && tab.isActive) && resolve(listener.dispose()));
      });
      await Promise.all([vscode.commands.executeCommand("agent.nextReview"), shown.then(() => vscode.commands.executeCommand("agent.diffReject", { resourceUri: other.input.modified }))]);
    `);
    await bench.page.locator(".statusbar-item", { hasText: "The review has just appeared" }).waitFor();
    await bench.diffShown("/a.txt");
    await bench.press("Reject");
    assert.equal((await within("the answer", first))[0], "DIFF_REJECTED");
    await bench.diffShown("/b.txt");
    await bench.press("Reject");
    assert.equal((await within("the answer", second))[0], "DIFF_REJECTED");
  });

  it("accepts all that was on the screen, and shows what was not", async () => {
    await session.probe(`await vscode.commands.executeCommand("agent.reviews.focus")`);
    const first = ask("a.txt", PROPOSED, { on_close: "keep" });
    await bench.diffShown();
    await set("agent", "diff.open", "onDemand");
    const second = ask("b.txt", PROPOSED, { on_close: "keep" });
    await bench.statusItem("2 to review").waitFor();
    const all = (title) => bench.page.locator(`.part.sidebar .title-actions .action-label[aria-label^="${title}"]`).click();
    await answerAtOnce();
    await all("Accept All");
    const dialog = await askedAgain();
    const words = await dialog.innerText();
    for (const want of ["Accept 2 edits?", "● a.txt", "○ b.txt", "One has not been looked at."]) assert.ok(words.includes(want), words);
    assert.match(await bench.page.evaluate(() => document.activeElement?.textContent), /Look at the Next/, "Enter accepts nothing");
    await bench.answer("Accept the 1 Seen");
    assert.equal((await first)[0], "FILE_SAVED");
    await bench.diffShown("/b.txt");
    await all("Reject All");
    await bench.answer("Reject");
    assert.equal((await second)[0], "DIFF_REJECTED");
    await session.probe(`await vscode.commands.executeCommand("workbench.view.explorer")`);
  });

  it("takes no early answer to a question that a busy window shows late", async () => {
    const answer = ask("a.txt", PROPOSED, { on_close: "keep" });
    await bench.diffShown("/a.txt");
    await answerAtOnce();
    await bench.page.evaluate(() => void setTimeout(() => {
      for (const end = performance.now() + 1_500; performance.now() < end; );
    }));
    await session.probe(`void vscode.commands.executeCommand("agent.acceptAll")`);
    await askedAgain();
    await bench.answer("Accept");
    assert.equal((await within("the answer", answer))[0], "FILE_SAVED");
  });

  it("says why, if nothing can be accepted or rejected at once, and speaks of one edit as of one", async () => {
    const said = (text) => bench.page.locator(".notification-toast", { hasText: text }).waitFor();
    const clear = () => session.probe(`await vscode.commands.executeCommand("notifications.clearAll")`);
    await session.probe(`await vscode.commands.executeCommand("agent.acceptAll")`); // the palette hides it
    await said("No edit waits for your review.");
    await clear();
    ask("a.txt", PROPOSED, { on_close: "keep", diff_id: "alone" }).catch(() => undefined);
    await bench.diffShown("/a.txt");
    await client.call("resolveDiff", { diff_id: "alone", outcome: "hold" });
    await bench.command("Agent: Accept All");
    await said("Accept All skips plans");
    await clear();
    await bench.command("Agent: Reject All");
    await said("Finish there first.");
    await clear();
    await client.call("resolveDiff", { diff_id: "alone", outcome: "release" });
    const dialog = bench.page.locator(".monaco-dialog-box", { hasText: "Reject this edit?" });
    await until("the question", async () => {
      await bench.command("Agent: Reject All");
      return dialog.waitFor({ timeout: 3_000 }).then(() => true, () => false);
    });
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
  });

  it("leaves an edit that is queued behind another of its file alone, and gives it no focus later", async () => {
    const other = await Client.connect(await session.lock());
    try {
      const first = ask("a.txt", PROPOSED, { on_close: "keep", diff_id: "first" });
      await bench.diffShown("/a.txt");
      other.openDiff(session.file("a.txt"), `${PROPOSED}more\n`, { on_close: "keep", diff_id: "queued" }).catch(() => undefined);
      await until("it to be queued", async () => JSON.parse((await other.call("getPendingDiffs"))[0]).diffs[0]?.state === "queued");
      await bench.statusItem("1 to review").waitFor();
      const toB = () => session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false })`, session.file("b.txt"));
      await toB();
      await bench.command("Agent: Next Pending Review");
      await bench.diffShown("/a.txt"); // it would cover b.txt later
      await toB();
      await bench.page.click(".part.editor .monaco-editor[data-uri*='b.txt'] .view-lines");
      await client.call("resolveDiff", { diff_id: "first", outcome: "accept" });
      await first;
      await bench.statusItem("1 to review").waitFor();
      await until("it to be shown", async () => JSON.parse((await other.call("getPendingDiffs"))[0]).diffs[0]?.state === "shown");
      assert.ok(await bench.page.evaluate(() => document.activeElement?.closest(".monaco-diff-editor") === null), "the review has the focus");
    } finally {
      other.close();
    }
  });

  it("goes back to the previous review by command, from the first to the last", async () => {
    const names = ["a.txt", "b.txt", "note.md"];
    const answers = [];
    for (const name of names) {
      answers.push(ask(name, PROPOSED, { on_close: "keep" }));
      await bench.statusItem(`${answers.length} to review`).waitFor();
      await until(`${name} to be shown`, async () => (await activeTab()).includes(name));
    }
    for (const name of ["b.txt", "a.txt", "note.md"]) {
      await bench.command("Agent: Previous Pending Review");
      await until(`${name} to be shown`, async () => (await activeTab()).includes(name));
    }
    await client.call("closeAllDiffTabs");
    for (const answer of answers) assert.equal((await answer)[0], "TAB_CLOSED");
  });

  it("has the buttons off where the person has just gone, until the extension knows of it", async () => {
    const first = ask("a.txt", PROPOSED, { on_close: "keep" });
    await bench.diffShown();
    const second = ask("b.txt", PROPOSED, { on_close: "keep" });
    await bench.statusItem("2 to review").waitFor();
    await bench.diffShown("/b.txt");
    const { pid } = await session.lock();
    process.kill(pid, "SIGSTOP");
    try {
      await bench.tab("a.txt").click();
      await bench.titleButton("Accept").and(bench.page.locator(".disabled")).waitFor();
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await bench.press("Accept");
    assert.equal((await first)[0], "FILE_SAVED");
    await until("b.txt to be shown", async () => (await activeTab()).includes("b.txt"));
    await client.call("closeAllDiffTabs");
    assert.equal((await second)[0], "TAB_CLOSED");
  });

  it("shows its log by command", async () => {
    const { port } = await session.lock();
    const said = /refused \d+ request\(s\), the last with status 401/;
    // It counts those of a minute together, which other tests may have begun.
    await until("the log to have it", async () => {
      assert.equal((await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST" })).status, 401);
      return said.test(session.agentLog());
    }, 90_000);
    await bench.command("Agent: Show Log");
    const shown = bench.page.locator(".part.panel .view-lines");
    await until("the log to be shown", async () => said.test((await shown.first().textContent()).replaceAll("\u00a0", " ")));
    await session.probe(`await vscode.commands.executeCommand("workbench.action.closePanel")`);
  });

  it("does not take auto-save for an answer", async () => {
    await set("files", "autoSave", "afterDelay");
    const answer = ask("a.txt", PROPOSED, { diff_id: "auto" });
    await bench.diffShown();
    await bench.typeAtEnd("typed");
    await until("auto-save", async () => {
      const { text, dirty } = await side("agent-proposed", "a.txt");
      return text.endsWith("typed") && !dirty;
    });
    const { diffs } = JSON.parse((await client.call("getPendingDiffs"))[0]);
    assert.deepEqual([diffs.length, diffs[0].edited], [1, true]);
    assert.equal(session.read("a.txt").toString(), BASE);
    assert.equal((await accept(answer)).text, `${PROPOSED}typed`);
  });

  it("does not take Save All for an answer when the diff is not the active tab", async () => {
    const answer = ask("a.txt", PROPOSED, { on_close: "keep" });
    await bench.diffShown();
    await bench.typeAtEnd("x");
    await session.probe("await vscode.window.showTextDocument(vscode.Uri.file(args[0]))", session.file("b.txt"));
    await session.probe(`await vscode.commands.executeCommand("workbench.action.files.saveAll")`);
    const { diffs } = JSON.parse((await client.call("getPendingDiffs"))[0]);
    assert.equal(diffs.length, 1);
    await client.call("closeAllDiffTabs");
    assert.equal((await answer)[0], "TAB_CLOSED");
  });

  it("opens behind the active tab, or not at all, as the setting says", async () => {
    await session.probe("await vscode.window.showTextDocument(vscode.Uri.file(args[0]))", session.file("b.txt"));
    await set("agent", "diff.open", "background");
    const behind = ask("a.txt", PROPOSED, { on_close: "keep" });
    await bench.statusItem("1 to review").waitFor();
    await until("the tab", async () => (await session.tabs()).length === 2);
    assert.equal(await activeTab(), "b.txt");
    await client.call("closeAllDiffTabs");
    assert.equal((await behind)[0], "TAB_CLOSED");
    await set("agent", "diff.open", "onDemand");
    const hidden = ask("a.txt", PROPOSED, { on_close: "keep" });
    await bench.statusItem("1 to review").waitFor();
    assert.equal((await session.tabs()).length, 1);
    await bench.command("Agent: Next Pending Review");
    await accept(hidden);
  });

  it("brings a diff to the screen when the terminal asks for it", async () => {
    await set("agent", "diff.open", "onDemand");
    const answer = ask("a.txt", PROPOSED, { on_close: "keep", diff_id: "wanted" });
    await bench.statusItem("1 to review").waitFor();
    assert.equal((await session.tabs()).length, 0);
    await client.call("resolveDiff", { diff_id: "wanted", outcome: "show" });
    await bench.diffShown();
    await session.probe(`await vscode.commands.executeCommand("workbench.action.closeActiveEditor")`);
    await until("the tab to be closed", async () => (await session.tabs()).length === 0);
    await client.call("resolveDiff", { diff_id: "wanted", outcome: "show" });
    assert.equal((await accept(answer)).text, PROPOSED);
  });

  it("shows Markdown as text although another editor is its default", async () => {
    const answer = ask("note.md", "# new\n");
    assert.equal((await accept(answer)).text, "# new\n");
    // The next review must not come while the accepted file is being shown.
    await until("the accepted file to be shown", async () => (await session.probe("return vscode.window.activeTextEditor?.document.uri.fsPath")) === session.file("note.md"));
  });

  it("does not cover the next review with the file that was accepted before it", async () => {
    const first = ask("late.txt", "late\n");
    await bench.diffShown();
    await bench.press("Accept");
    assert.equal((await first)[0], "FILE_SAVED");
    const second = ask("a.txt", PROPOSED, { on_close: "keep" });
    await bench.diffShown();
    fs.writeFileSync(session.file("late.txt"), "late\n"); // as a client does, here a slow one
    // The extension looks for the file 20 times a second, and gives up unheard.
    await assert.rejects(until("the file to be shown", async () => (await session.tabs()).includes("late.txt"), 1_000), /in vain/);
    assert.match(await activeTab(), /a\.txt/);
    await accept(second);
    fs.rmSync(session.file("late.txt"));
  });

  it("closes a diff without a question although the person is typing in it", async () => {
    for (let i = 0; i < 10; i++) {
      const answer = ask("a.txt", PROPOSED, { on_close: "keep" });
      await bench.diffShown();
      await bench.typeAtEnd("typed");
      await client.call("closeAllDiffTabs");
      assert.equal((await answer)[0], "TAB_CLOSED");
      await session.noDiffs();
    }
  });

  it("shows a new file", async () => {
    const answer = ask("new/file.ts", "export const a = 1;\n");
    await bench.diffShown();
    assert.equal((await side("agent-inline", "new/file.ts")).language, "agent-merged-typescript");
    assert.equal((await accept(answer)).text, "export const a = 1;\n");
    assert.equal(fs.existsSync(session.file("new")), false);
  });

  it("keeps line endings, and says which file it is", async () => {
    const { text, details } = await accept(ask("crlf.txt", "a\r\nB\r\n"));
    assert.equal(text, "a\r\nB\r\n");
    assert.deepEqual([details.file.eol, details.file.bom, details.file.existed], ["crlf", true, true]);
  });

  it("shows a file in the encoding of the settings, and any character on the right", async () => {
    await set("files", "encoding", "shiftjis");
    const answer = ask("sjis.txt", "日本 😀\n");
    await bench.diffShown();
    assert.equal((await side("agent-original", "sjis.txt")).text, "日本\n");
    const { text, details } = await accept(answer);
    assert.deepEqual([text, details.file.encoding], ["日本 😀\n", "shiftjis"]);
  });

  it("refuses a file with unsaved changes, by its error code", async () => {
    await session.typeInto(session.file("a.txt"), "unsaved ");
    const [dirty] = await client.call("checkDocumentDirty", { filePath: session.file("a.txt"), includeText: true });
    assert.deepEqual([JSON.parse(dirty).isDirty, JSON.parse(dirty).text], [true, `unsaved ${BASE}`]);
    const sha256 = "0".repeat(64);
    await assert.rejects(ask("a.txt", PROPOSED, { base_sha256: sha256 }), /unsaved|DIRTY_DOCUMENT/);
    await session.probe(`await vscode.commands.executeCommand("workbench.action.files.revert")`);
  });

  it("asks before accepting when the file has changed on disk meanwhile", async () => {
    const answer = ask("b.txt", PROPOSED, { diff_id: "stale" });
    await bench.diffShown();
    fs.writeFileSync(session.file("b.txt"), "other\n");
    const isStale = async () => JSON.parse((await client.call("getPendingDiffs"))[0]).diffs[0].stale;
    await until("the change to be seen", isStale);
    await bench.press("Accept");
    await bench.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Cancel" }).click();
    assert.equal(JSON.parse((await client.call("getPendingDiffs"))[0]).diffs.length, 1);
    await bench.press("Accept");
    await bench.answer("Accept Anyway");
    const [word, , details] = await answer;
    assert.deepEqual([word, JSON.parse(details).stale], ["FILE_SAVED", true]);
    fs.writeFileSync(session.file("b.txt"), BASE);
  });

  it("closes its diffs when the client is gone", async () => {
    const other = await Client.connect(await session.lock());
    other.openDiff(session.file("b.txt"), PROPOSED, { on_close: "keep" }).catch(() => undefined);
    await bench.diffShown();
    other.close();
    await session.noDiffs();
  });

  it("leaves the user's own diffs alone", async () => {
    await session.probe(
      `await vscode.commands.executeCommand("vscode.diff", vscode.Uri.file(args[0]), vscode.Uri.file(args[1]), "mine")`,
      session.file("a.txt"),
      session.file("b.txt"),
    );
    assert.equal(await bench.titleButton("Accept").count(), 0);
    assert.deepEqual(await client.call("closeAllDiffTabs"), ["CLOSED_0_DIFF_TABS"]);
    assert.deepEqual(await session.tabs(), ["mine"]);
  });

  it("tells terminals the port and the lock, and never the token", async () => {
    const lock = await session.lock();
    const file = session.file("env.txt");
    await session.probe(
      `const terminal = vscode.window.createTerminal({ name: "env" }); terminal.sendText(args[0]);`,
      `env > '${file}.part'; mv '${file}.part' '${file}'`,
    );
    const env = await until("the environment", () => fs.readFileSync(file, "utf8"));
    fs.rmSync(file); // the person's own terminal has the model's key
    assert.match(env, new RegExp(`^AGENT_IDE_PORT=${lock.port}$`, "m"));
    assert.match(env, new RegExp(`^AGENT_IDE_LOCK=/.*/${lock.port}\\.lock$`, "m"));
    assert.ok(!env.includes(lock.authToken) && !env.includes(await secretOf(lock)), "a token is in the environment");
    await session.probe("for (const terminal of vscode.window.terminals) terminal.dispose()");
  });

  it("mentions the selected lines, and reports the selection", async () => {
    client.notifications.length = 0;
    await session.probe(
      `const editor = await vscode.window.showTextDocument(vscode.Uri.file(args[0]));
       editor.selection = new vscode.Selection(0, 0, 2, 0);`,
      session.file("a.txt"),
    );
    const told = await until("selection_changed", () =>
      client.notifications.find(({ method, params }) => method === "selection_changed" && params.text === "one\ntwo\n"),
    );
    assert.equal(told.params.filePath, session.file("a.txt"));
    await session.probe(`await vscode.commands.executeCommand("agent.mentionSelection")`);
    const { params } = await until("at_mentioned", () => client.notifications.find(({ method }) => method === "at_mentioned"));
    assert.deepEqual([params.filePath, params.lineStart, params.lineEnd], [session.file("a.txt"), 0, 1]);
  });

  it("stops listening by command, and starts again, with a lock that is nobody else's at any instant", async () => {
    const folder = path.join(session.host.agentHome, "ide");
    assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
    const modes = new Map();
    const watcher = fs.watch(folder, () => {
      for (const name of fs.readdirSync(folder)) {
        const found = fs.statSync(path.join(folder, name), { throwIfNoEntry: false });
        if (found !== undefined) modes.set(name, found.mode & 0o777);
      }
    });
    await session.probe(`await vscode.commands.executeCommand("agent.stop")`);
    assert.deepEqual(session.host.locks(), []);
    await notListening().click(); // before, a click opens a terminal
    const lock = await session.lock();
    await until("the watcher to see the lock", () => modes.has(`${lock.port}.lock`));
    watcher.close();
    assert.deepEqual([...new Set(modes.values())], [0o600]);
    client = await Client.connect(lock);
    const found = await client.call("getWorkspaceFolders");
    assert.equal(JSON.parse(found[0]).folders[0].path, session.folder);
  });

  /** Waits until the extension listens again, and nothing of its former state is left. */
  const backFrom = async (old) => {
    await until("a new lock", () => session.host.locks().some((lock) => lock.authToken !== old.authToken), 120_000);
    await session.noDiffs();
    await until("the old lock to go", () => session.host.locks().length === 1);
    client = await Client.connect(session.host.locks()[0]);
    assert.equal((await accept(ask("a.txt", PROPOSED))).text, PROPOSED);
  };

  it("listens again after a reload, and shows no diff that nobody waits for", async () => {
    ask("a.txt", PROPOSED).catch(() => undefined);
    await bench.diffShown();
    const old = await session.lock();
    fs.rmSync(session.host.env.PROBE_PORT_FILE);
    await bench.page.reload({ waitUntil: "domcontentloaded" });
    await backFrom(old);
  });

  it("does not listen where agent.autoStart is off, until it is told to", async () => {
    const { port } = await session.lock();
    const published = () => fs.readdirSync(path.join(session.host.agentHome, "ide"));
    // From outside: a window that is reloaded right after it wrote its settings may take them for unsaved.
    session.host.configure({ ...(await session.host.settings()), "agent.autoStart": false });
    fs.rmSync(session.host.env.PROBE_PORT_FILE);
    await bench.page.reload({ waitUntil: "domcontentloaded" });
    await until("the log to say so", () => session.agentLog().includes("not listening: agent.autoStart is off"), 120_000);
    await set("agent", "autoStart", undefined);
    await until("the files of the window before to go", () => published().length === 0);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST" }), ({ cause }) => cause.code === "ECONNREFUSED");
    await notListening().waitFor();
    await bench.command("Agent: Start Listening");
    const lock = await session.lock();
    assert.ok(published().includes(`${lock.port}.lock`));
    client = await Client.connect(lock);
    assert.equal((await accept(ask("a.txt", PROPOSED))).text, PROPOSED);
  });

  it("sweeps what a killed extension host leaves", async () => {
    ask("a.txt", PROPOSED).catch(() => undefined);
    await bench.diffShown();
    const old = await session.lock();
    fs.rmSync(session.host.env.PROBE_PORT_FILE);
    process.kill(old.pid, "SIGKILL");
    await session.backAfterKill(old.pid);
    await backFrom(old);
    // The leftovers are certainly there: the window itself went on.
    await until("the log to say so", () => /closed 1 diffs that an earlier window had left/.test(session.agentLog()));
  });
});
