// The editor as an MCP server for any client (rows B1 to B12): a third party's client and a person in front of VS Code.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";

import { answerRun, connect, entryOf, notKnown, runQuestion, SAVED_SOON, unserved } from "./lib/door.mjs";
import { makeFolder } from "./lib/folder.mjs";
import { keepSettings, startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const TOOLS = ["write_file", "apply_diff", "execute_command", "read_file", "list_files", "search_files", "get_diagnostics"];
const KILLED = new URL("lib/killed.mjs", import.meta.url).pathname;
const BASE = "one\ntwo\nthree\n";
const THEIRS = "theirs and longer\n";
// A window that is busy between the edit of a file and its save; VS Code shows an unsaved file after 0.8 s.
const BUSY = `const shown = [];
  const tabs = vscode.window.tabGroups.onDidChangeTabs(({ opened }) => shown.push(...opened.map(({ label }) => label)));
  const edits = vscode.workspace.onDidChangeTextDocument(({ document }) => {
    if (document.isDirty && document.uri.fsPath === args[0]) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
  });
  globalThis.busy = { shown, end: () => vscode.Disposable.from(tabs, edits).dispose() };`;
const block = (search, replace) => `<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`;

/** Asks as a client of the newest protocol does, which says everything with each request. */
function newest(entry, method, params, signal) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "newest", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const said = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...(params.name === undefined ? {} : { "mcp-name": params.name }) };
  return fetch(entry.url, {
    method: "POST", signal,
    headers: { ...entry.headers, ...said, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
}

/** The last message of an answer, which is one or a stream of them. */
async function answerOf(response) {
  const body = await response.text();
  return JSON.parse(body.startsWith("{") ? body : body.split("\n").findLast((line) => line.startsWith("data: {")).slice(6));
}

/** A window and a client of it, for the tests of a group. */
function window(options) {
  const at = {};
  before(async () => {
    at.session = await startSession(options);
    at.bench = at.session.bench;
    at.door = await connect(at.session);
  });
  keepSettings(() => at.session);
  afterEach(async (t) => {
    if (t.passed === false) await at.session.keep(t.name);
    await at.session.probe(`for (const terminal of vscode.window.terminals) terminal.dispose()`);
    await at.session.noDiffs();
    await at.session.closeEditors();
  });
  after(async () => {
    await at.door?.close();
    await at.session?.stop();
  });
  return at;
}

describe("any MCP client in VS Code", () => {
  const at = window({
    files: {
      "edited.txt": BASE, "rejected.txt": BASE, "blocks.txt": BASE, "same.txt": "a\na\na\n", "dirty.txt": BASE, "two.txt": BASE,
      "formatted.json": '{"a":1}\n', "wrong.json": '{"a": 1}\n', "src/a.ts": "export const found = 1;\n", "closed.txt": BASE, "gone.txt": BASE,
      "crlf.txt": "one\r\ntwo\r\n", "busy.txt": "one\n", "open.txt": "open\n", "hidden.txt": BASE, "behind.txt": BASE, "typed.txt": BASE,
      "late.txt": BASE, "cut.txt": BASE, "empty.txt": "", "one.ini": "one", ".vscode/settings.json": '{ "[ini]": { "files.eol": "\\r\\n" } }',
    },
  });
  const file = (name) => at.session.file(name);
  const read = (name) => at.session.read(name).toString();
  const accept = async () => {
    await at.bench.diffShown();
    await at.bench.press("Accept");
  };

  it("B1: is given address and token by file and by command, and finds the seven tools", async () => {
    assert.deepEqual(await at.door.tools(), TOOLS);
    const entry = await entryOf(at.session, await at.session.lock());
    await at.session.probe(`await vscode.commands.executeCommand("agent.mcp.copyConfig")`);
    const copied = JSON.parse(await at.session.probe("return vscode.env.clipboard.readText()"));
    assert.deepEqual(copied, { mcpServers: { agent: { type: "http", ...entry } } });
    await until("the status to name it", async () => /third party/.test(await at.bench.statusItem("Agent").first().getAttribute("aria-label")));
  });

  it("B1: serves a client of the newest protocol, which has no session, and closes its diff when it goes", async () => {
    const entry = await entryOf(at.session, await at.session.lock());
    const list = await newest(entry, "tools/list", {});
    assert.deepEqual((await answerOf(list)).result.tools.map(({ name }) => name), TOOLS);
    assert.equal(list.headers.get("mcp-session-id"), null);
    const read = await newest(entry, "tools/call", { name: "read_file", arguments: { path: "src/a.ts" } });
    assert.equal((await answerOf(read)).result.content[0].text, "1 | export const found = 1;\ntotal_lines: 1");
    const leaves = new AbortController();
    const call = newest(entry, "tools/call", { name: "write_file", arguments: { path: "gone.txt", content: "x" } }, leaves.signal);
    await at.bench.diffShown();
    leaves.abort();
    await assert.rejects(call.then(answerOf));
    await at.session.noDiffs();
    assert.equal(fs.readFileSync(file("gone.txt"), "utf8"), BASE);
  });

  // A notice comes every 20 seconds.
  if (process.env.AGENT_TEST_FULL === "1") {
    it("B1: progress is told while a review waits", { timeout: 120_000 }, async () => {
      const heard = [];
      const answer = at.door.json("write_file", { path: "closed.txt", content: "x" }, { onprogress: (notice) => heard.push(notice) });
      await at.bench.diffShown();
      await until("two notices", () => heard.length === 2, 60_000);
      await at.bench.press("Reject");
      assert.equal((await answer).status, "rejected");
      assert.deepEqual(heard.map(({ progress }) => progress), [1, 2]);
    });
  }

  it("B2: the person's edits come back as a patch that git apply takes", async () => {
    const answer = at.door.json("write_file", { path: "edited.txt", content: "one\nTWO\nthree\n" });
    await at.bench.diffShown();
    assert.equal(read("edited.txt"), BASE);
    await at.bench.typeAtEnd("four\n");
    await at.bench.press("Accept");
    const { status, operation, user_edits: patch } = await answer;
    assert.deepEqual([status, operation], ["accepted", "modified"]);
    assert.equal(read("edited.txt"), "one\nTWO\nthree\nfour\n");
    fs.writeFileSync(file("edited.txt"), "one\nTWO\nthree\n");
    execFileSync("git", ["apply", "-"], { cwd: at.session.folder, input: patch });
    assert.equal(read("edited.txt"), "one\nTWO\nthree\nfour\n");
  });

  it("B2: a new file and its folders are made at the write, never earlier", async () => {
    const answer = at.door.json("write_file", { path: "new/deep/a.ini", content: "hello\n" });
    await at.bench.diffShown();
    assert.equal(fs.existsSync(file("new")), false);
    await at.bench.press("Accept");
    assert.deepEqual(await answer, { status: "accepted", path: "new/deep/a.ini", operation: "created", diagnostics: unserved });
    assert.equal(read("new/deep/a.ini"), "hello\n");
  });

  it("B2: a new file with LF has LF, although such files get CRLF in this editor", async () => {
    const answer = at.door.json("write_file", { path: "lf.ini", content: "a\nb\n" });
    await accept();
    assert.equal((await answer).status, "accepted");
    assert.equal(read("lf.ini"), "a\nb\n");
  });

  it("B2: so has a file of one line that gets more", async () => {
    const answer = at.door.json("write_file", { path: "one.ini", content: "one\ntwo\n" });
    await accept();
    assert.equal((await answer).status, "accepted");
    assert.equal(read("one.ini"), "one\ntwo\n");
  });

  it("B2: a new file with CRLF has CRLF", async () => {
    const answer = at.door.json("write_file", { path: "new-crlf.txt", content: "a\r\nb\r\n" });
    await accept();
    assert.equal((await answer).status, "accepted");
    assert.equal(read("new-crlf.txt"), "a\r\nb\r\n");
  });

  // VS Code edits a document in the active editor in another way.
  it("B2: an empty file that is shown gets CRLF", async () => {
    await at.session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0]))`, file("empty.txt"));
    const answer = at.door.json("write_file", { path: "empty.txt", content: "a\r\nb\r\n" });
    await accept();
    assert.equal((await answer).status, "accepted");
    assert.equal(read("empty.txt"), "a\r\nb\r\n");
  });

  it("B2: a rejection is an answer, and nothing is written", async () => {
    const answer = at.door.call("write_file", { path: "rejected.txt", content: "x" });
    await at.bench.diffShown();
    await at.bench.press("Reject");
    const { isError, content } = await answer;
    assert.deepEqual([isError ?? false, JSON.parse(content[0].text)], [false, { status: "rejected", path: "rejected.txt" }]);
    assert.equal(read("rejected.txt"), BASE);
  });

  it("B2: unsaved changes are saved before the review, and are in it", async () => {
    await at.session.typeInto(file("dirty.txt"), "mine\n");
    const answer = at.door.json("apply_diff", { path: "dirty.txt", diff: block("two", "TWO") });
    await at.bench.diffShown();
    assert.equal(read("dirty.txt"), `mine\n${BASE}`);
    await at.bench.press("Accept");
    assert.equal((await answer).status, "accepted");
    assert.equal(read("dirty.txt"), "mine\none\nTWO\nthree\n");
  });

  it("B3: blocks that are found 0, 1 and 3 times, and some of each", async () => {
    const none = await at.door.json("apply_diff", { path: "blocks.txt", diff: block("none", "x") });
    assert.deepEqual(none, { error: "Search block not found:\nnone", path: "blocks.txt", code: "HUNK_MISMATCH" });
    const three = await at.door.json("apply_diff", { path: "same.txt", diff: block("a", "x") });
    assert.match(three.error, /^Search block is ambiguous \(3 matches found\)/);
    const answer = at.door.json("apply_diff", { path: "blocks.txt", diff: block("none", "x") + block("two", "TWO") });
    await accept();
    const { status, partial, failed_blocks: failed } = await answer;
    assert.deepEqual([status, partial, failed], ["accepted", true, [0]]);
    assert.equal(read("blocks.txt"), "one\nTWO\nthree\n");
  });

  it("B3: CRLF stays", async () => {
    const answer = at.door.json("apply_diff", { path: "crlf.txt", diff: block("one\ntwo", "1\n2\n3") });
    await accept();
    assert.equal((await answer).status, "accepted");
    assert.equal(read("crlf.txt"), "1\r\n2\r\n3\r\n");
  });

  it("B4: a command is asked about, shown as it runs, and told with its status and output", async () => {
    const answer = at.door.json("execute_command", { command: "echo out; echo err >&2; pwd\nexit 3", cwd: "src" });
    await answerRun(at.bench, "Run");
    assert.deepEqual(await answer, { exit_code: 3, output: `out\nerr\n${file("src")}\n`, cwd: file("src"), output_captured: true });
    await at.session.terminalShows("out err");
  });

  it("B4: a command that is rejected does not run", async () => {
    const answer = at.door.json("execute_command", { command: "touch ran" });
    await answerRun(at.bench, "Reject");
    assert.deepEqual(await answer, { status: "rejected", command: "touch ran" });
    assert.equal(fs.existsSync(file("ran")), false);
  });

  it("B4: the keys of a person who has not seen the question run nothing", async () => {
    const answer = at.door.json("execute_command", { command: "touch typed" });
    await runQuestion(at.bench).locator("button:focus", { hasText: "Reject" }).waitFor();
    for (const key of ["a", "Space"]) await at.bench.page.keyboard.press(key);
    assert.deepEqual(await answer, { status: "rejected", command: "touch typed" });
    assert.equal(fs.existsSync(file("typed")), false);
    await runQuestion(at.bench).waitFor({ state: "detached" });
  });

  it("B4: a command is shown whole and as it is, and its question is answered by keys alone", async () => {
    const command = `printf '%s' '<b>&amp;"$(id)' > typed-${"x".repeat(150)}\n`;
    const answer = at.door.json("execute_command", { command });
    const question = runQuestion(at.bench);
    await question.locator("button:focus", { hasText: "Reject" }).waitFor();
    assert.equal(await question.locator("pre").textContent(), command);
    const { width, scrolls } = await question.locator("pre").evaluate((each) => ({ width: each.getBoundingClientRect().width, scrolls: each.scrollWidth > each.clientWidth }));
    assert.ok(width > 200 && !scrolls);
    await at.bench.page.keyboard.press("Escape");
    assert.deepEqual(await answer, { status: "rejected", command });
  });

  it("B4: a command is rejected with a reason, and the question goes when nobody waits for it any more", async () => {
    const told = at.door.json("execute_command", { command: "make" });
    await answerRun(at.bench, "Reject with Reason…");
    const input = at.bench.page.locator(".quick-input-widget", { hasText: "Reject with a Reason" }).locator("input.input:focus");
    await input.waitFor();
    await at.bench.page.keyboard.type("use npm");
    await at.bench.page.keyboard.press("Enter");
    assert.deepEqual(await told, { status: "rejected", command: "make", feedback: "use npm" });
    for (const reason of [false, true]) {
      const cancel = new AbortController();
      const answer = at.door.json("execute_command", { command: "touch cancelled" }, { signal: cancel.signal });
      await runQuestion(at.bench).locator("button:focus").waitFor();
      if (reason) await answerRun(at.bench, "Reject with Reason…");
      if (reason) await input.waitFor();
      cancel.abort();
      await assert.rejects(answer);
      await runQuestion(at.bench).waitFor({ state: "detached" });
      await input.waitFor({ state: "hidden" });
    }
    assert.equal(fs.existsSync(file("cancelled")), false);
  });

  it("B9: the status bar shows the port, and a command tells the rest", async () => {
    const { port } = await at.session.lock();
    await until("the port in the status bar", async () => (await at.bench.statusItem("Agent").first().getAttribute("aria-label")).includes(`Port ${port}`));
    await at.bench.command("Agent: Show Status");
    const toast = at.bench.page.locator(".notification-toast", { hasText: `Agent listens on port ${port}.` });
    await toast.waitFor();
    assert.match(await toast.innerText(), /third party: an MCP client, last heard at/);
    await at.session.probe(`await vscode.commands.executeCommand("notifications.clearAll")`);
  });

  it("B5: reads, lists, searches and knows the problems", async () => {
    assert.equal(await at.door.text("read_file", { path: "src/a.ts" }), "1 | export const found = 1;\ntotal_lines: 1");
    assert.deepEqual((await at.door.json("list_files", { path: "src" })).files, ["a.ts"]);
    assert.ok((await at.door.json("list_files")).files.includes("src/"));
    assert.equal(await at.door.text("search_files", { regex: "fo+und" }), "src/a.ts\n> 1 | export const found = 1;\nmatches: 1");
    await at.session.probe(
      `globalThis.problems = vscode.languages.createDiagnosticCollection("test");
       globalThis.problems.set(vscode.Uri.file(args[0]), [new vscode.Diagnostic(new vscode.Range(0, 0, 0, 1), "it is wrong", 0)]);`,
      file("src/a.ts"),
    );
    assert.equal(await at.door.text("get_diagnostics", { severity: "error" }), "[error] src/a.ts:1 — it is wrong");
    await at.session.probe("globalThis.problems.dispose()");
  });

  it("B6: format on save runs and is reported", async () => {
    await at.session.formats(file("formatted.json"));
    await at.session.configure({ "editor.formatOnSave": true });
    const answer = at.door.json("write_file", { path: "formatted.json", content: '{"a":1,   "b":[2]}\n' });
    await accept();
    const { status, format_edits: patch, user_edits: edits } = await answer;
    await at.session.configure({ "editor.formatOnSave": null });
    assert.deepEqual([status, edits], ["accepted", undefined]);
    assert.match(patch, /^-\{"a":1, {3}"b":\[2\]\}$/m);
    const formatted = read("formatted.json");
    assert.match(formatted, /"a": 1,\n/);
    fs.writeFileSync(file("formatted.json"), '{"a":1,   "b":[2]}\n');
    execFileSync("git", ["apply", "-"], { cwd: at.session.folder, input: patch });
    assert.equal(read("formatted.json"), formatted);
  });

  it("B6: problems that are new after the save are waited for", async () => {
    await at.session.configure({ "agent.diagnosticDelay": 10_000 }); // the answer comes with the first report
    await at.session.probe("await vscode.window.showTextDocument(vscode.Uri.file(args[0]))", file("wrong.json"));
    const answer = at.door.json("write_file", { path: "wrong.json", content: '{"a": 1,, }\n' });
    await accept();
    const { status, new_diagnostics: found } = await answer;
    assert.equal(status, "accepted");
    assert.ok(found.some((line) => line.startsWith("[error] wrong.json:1 — ")), JSON.stringify(found));
  });

  it("B6: the problems of a file that is not shown are not known, never none", async () => {
    await at.session.configure({ "agent.diff.showAccepted": false });
    await at.session.configure(SAVED_SOON);
    const answer = at.door.json("write_file", { path: "unseen.json", content: '{"a": 1,, }\n' });
    await accept();
    const { status, new_diagnostics: found, diagnostics } = await answer;
    assert.deepEqual([status, found], ["accepted", undefined]);
    assert.equal(diagnostics, notKnown);
  });

  it("B6: what was wrong with a file that nobody had opened is not new", async () => {
    await at.session.configure({ "agent.diagnosticDelay": null }); // as it is by default
    fs.writeFileSync(file("unseen.txt"), "BAD old\n");
    // A language server that looks at each document once it is loaded, shown or not.
    await at.session.probe(
      `const list = vscode.languages.createDiagnosticCollection("server");
       const look = (document) => {
         if (!document.uri.path.endsWith("unseen.txt")) return;
         const bad = document.getText().split("\\n").map((line, i) => [line, i]).filter(([line]) => line.startsWith("BAD"));
         list.set(document.uri, bad.map(([line, i]) => new vscode.Diagnostic(new vscode.Range(i, 0, i, 3), line, 0)));
       };
       globalThis.server = vscode.Disposable.from(list, vscode.workspace.onDidOpenTextDocument(look),
         vscode.workspace.onDidChangeTextDocument(({ document }) => look(document)));`,
    );
    const answer = at.door.json("write_file", { path: "unseen.txt", content: "fine\nBAD old\nBAD new\n" });
    await accept();
    const { new_diagnostics: found, diagnostics } = await answer;
    await at.session.probe("globalThis.server.dispose()");
    assert.deepEqual([found, diagnostics], [["[error] unseen.txt:3 — BAD new"], undefined]);
  });

  it("B7: nothing outside the workspace is touched, by .. or by links", async () => {
    const outside = makeFolder({ "x.txt": "secret" });
    fs.symlinkSync(outside, file("out"));
    fs.symlinkSync(path.join(outside, "none"), file("dangling"));
    for (const given of ["../x.txt", path.join(outside, "x.txt"), "out/x.txt", "out/new.txt"]) {
      assert.equal((await at.door.json("write_file", { path: given, content: "x" })).code, "OUTSIDE_WORKSPACE", given);
      assert.equal((await at.door.json("read_file", { path: given })).code, "OUTSIDE_WORKSPACE", given);
    }
    for (const cwd of ["..", outside, "out", "/"]) {
      assert.equal((await at.door.json("execute_command", { command: "touch ran", cwd })).code, "OUTSIDE_WORKSPACE", cwd);
    }
    assert.equal((await at.door.json("write_file", { path: "dangling", content: "x" })).code, "FILE_NOT_FOUND");
    assert.deepEqual(fs.readdirSync(outside), ["x.txt"]);
    fs.rmSync(outside, { recursive: true });
  });

  it("B8: two edits of a file are reviewed one after the other", async () => {
    const other = await connect(at.session, { name: "another" });
    const first = at.door.json("apply_diff", { path: "two.txt", diff: block("one", "ONE") });
    await at.bench.diffShown();
    const second = other.json("apply_diff", { path: "two.txt", diff: block("two", "TWO") });
    await at.bench.press("Accept");
    assert.equal((await first).status, "accepted");
    await accept();
    assert.equal((await second).status, "accepted");
    assert.equal(read("two.txt"), "ONE\nTWO\nthree\n");
    await other.close();
  });

  it("B11: a closed diff is a rejection", async () => {
    const answer = at.door.json("write_file", { path: "closed.txt", content: "x" });
    await at.bench.diffShown();
    await at.bench.closeActiveTab();
    assert.deepEqual(await answer, { status: "rejected", path: "closed.txt" });
  });

  it("B11: the diff of a call that is cancelled closes", async () => {
    const cancel = new AbortController();
    const answer = at.door.json("write_file", { path: "gone.txt", content: "x" }, { signal: cancel.signal });
    await at.bench.diffShown();
    cancel.abort();
    await assert.rejects(answer);
    await at.session.noDiffs();
    assert.equal(read("gone.txt"), BASE);
  });

  it("B11: what a client leaves when its session ends closes", async () => {
    const leaving = await connect(at.session, { name: "leaving" });
    const answer = leaving.json("write_file", { path: "gone.txt", content: "x" });
    await at.bench.diffShown();
    await leaving.close();
    await assert.rejects(answer);
    await at.session.noDiffs();
  });

  it("B11: what a client that is killed leaves closes", async () => {
    const entry = await entryOf(at.session, await at.session.lock());
    const client = spawn(process.execPath, [KILLED, JSON.stringify(entry), "gone.txt"], { stdio: ["ignore", "inherit", "inherit"] });
    await at.bench.diffShown();
    client.kill("SIGKILL");
    await at.session.noDiffs();
    assert.equal(read("gone.txt"), BASE);
    const answer = at.door.json("write_file", { path: "gone.txt", content: "x" }); // nobody holds the file
    await at.bench.diffShown();
    await at.bench.closeActiveTab();
    assert.equal((await answer).status, "rejected");
  });

  it("B2: a file that nobody has open is not left open, although VS Code shows it while it is unsaved", async () => {
    await at.session.configure({ "agent.approvalMode": "never" });
    await at.session.probe("await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false })", file("open.txt"));
    await at.session.probe(BUSY, file("busy.txt"));
    let text = "one\n";
    await until("VS Code to show the file", async () => {
      text += "more\n";
      assert.equal((await at.door.json("write_file", { path: "busy.txt", content: text })).status, "accepted");
      return (await at.session.probe("return globalThis.busy.shown")).includes("busy.txt");
    });
    await at.session.probe("globalThis.busy.end()");
    assert.equal(read("busy.txt"), text);
    await until("its tab to go", async () => !(await at.session.tabs()).includes("busy.txt"));
  });

  /** Has the save of a file fail, because the file is written just before; typed is inserted during the save. */
  const failSave = (name, { typed = "", written = THEIRS } = {}) =>
    at.session.probe(
      `const saving = vscode.workspace.onWillSaveTextDocument((event) => {
         if (event.document.uri.fsPath !== args[0]) return;
         saving.dispose();
         const theirs = vscode.workspace.fs.writeFile(event.document.uri, Buffer.from(args[2]));
         event.waitUntil(theirs.then(() => [vscode.TextEdit.insert(new vscode.Position(0, 0), args[1])]));
       });`,
      file(name),
      typed,
      written,
    );
  const unsaved = () => at.session.probe("return vscode.workspace.textDocuments.filter(({ isDirty }) => isDirty).map((each) => each.getText())");
  /** Throws unsaved text away, once VS Code shows it. */
  const drop = async (name) => {
    await until("VS Code to show the file", async () => (await at.session.tabs()).includes(name));
    await at.session.closeEditors();
  };

  for (const [name, shown] of [["hidden.txt", []], ["behind.txt", ["behind.txt", "open.txt"]]]) {
    it(`B2: a save that fails leaves nothing unsaved, and what another program wrote (${name})`, async () => {
      await at.session.configure({ "agent.approvalMode": "never" });
      for (const each of shown) await at.session.probe("await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false })", file(each));
      await failSave(name);
      const failed = await at.door.call("write_file", { path: name, content: "ours\n" });
      assert.match(JSON.stringify(failed), /PERMISSION_DENIED.*another program has written it/);
      assert.deepEqual([await unsaved(), read(name), await at.session.tabs()], [[], THEIRS, shown]);
      assert.equal((await at.door.json("write_file", { path: name, content: "ours\n" })).status, "accepted");
      assert.equal(read(name), "ours\n");
    });
  }

  it("B2: a tab that VS Code opens before a save fails closes", async () => {
    await at.session.configure({ "agent.approvalMode": "never" });
    await at.session.closeEditors();
    await at.session.probe(BUSY, file("late.txt"));
    await until("VS Code to show the file", async () => {
      await failSave("late.txt");
      assert.match(JSON.stringify(await at.door.call("write_file", { path: "late.txt", content: "ours\n" })), /PERMISSION_DENIED/);
      return (await at.session.probe("return globalThis.busy.shown")).includes("late.txt");
    });
    await at.session.probe("globalThis.busy.end()");
    assert.deepEqual([await unsaved(), read("late.txt")], [[], THEIRS]);
    await until("its tab to go", async () => !(await at.session.tabs()).includes("late.txt"));
  });

  it("B2: text typed while a save fails stays, unsaved", async () => {
    await at.session.configure({ "agent.approvalMode": "never" });
    await failSave("typed.txt", { typed: "typed\n" });
    const failed = await at.door.call("write_file", { path: "typed.txt", content: "ours\n" });
    assert.match(JSON.stringify(failed), /PERMISSION_DENIED.*unsaved/);
    assert.deepEqual([await unsaved(), read("typed.txt")], [["typed\nours\n"], THEIRS]);
    await drop("typed.txt");
  });

  it("B2: the text of a file that was cut off stays, unsaved", async () => {
    await at.session.configure({ "agent.approvalMode": "never" });
    await failSave("cut.txt", { written: "ours, the" });
    const failed = await at.door.call("write_file", { path: "cut.txt", content: "ours, the whole of it\n" });
    assert.match(JSON.stringify(failed), /PERMISSION_DENIED.*unsaved/);
    assert.deepEqual([await unsaved(), read("cut.txt")], [["ours, the whole of it\n"], "ours, the"]);
    await drop("cut.txt");
  });

  it("B2: a new file that another program writes is not deleted if its save fails", async () => {
    await at.session.configure({ "agent.approvalMode": "never" });
    await failSave("fresh.txt");
    const failed = await at.door.call("write_file", { path: "fresh.txt", content: "ours\n" });
    assert.match(JSON.stringify(failed), /PERMISSION_DENIED.*another program has written it/);
    assert.deepEqual([await unsaved(), read("fresh.txt")], [[], THEIRS]);
  });

  it("B9: approvalMode never asks nothing, and write-only only about edits", async () => {
    await at.session.configure({ "agent.approvalMode": "write-only" });
    assert.equal((await at.door.json("execute_command", { command: "echo unasked" })).output, "unasked\n");
    await at.session.configure({ "agent.approvalMode": "never" });
    assert.equal((await at.door.json("write_file", { path: "unasked.txt", content: "x\n" })).status, "accepted");
    await at.session.configure({ "agent.approvalMode": null });
    assert.equal(read("unasked.txt"), "x\n");
  });

  it("B9: stops and starts by command, with the same token at the same port", async () => {
    const before = await entryOf(at.session, await at.session.lock());
    await at.session.probe(`await vscode.commands.executeCommand("agent.stop")`);
    await until("the files are gone", () => at.session.host.locks().length === 0);
    await assert.rejects(fetch(before.url, { headers: before.headers }));
    await at.session.probe(`await vscode.commands.executeCommand("agent.start")`);
    const again = await entryOf(at.session, await at.session.lock());
    // The port may be taken by another window meanwhile: then the token is a new one.
    assert.equal(again.headers.Authorization === before.headers.Authorization, again.url === before.url);
    at.door = await connect(at.session);
    assert.deepEqual(await at.door.tools(), TOOLS);
  });
});
