import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { createCore } from "../../src/core/core";
import { diffTools } from "../../src/core/difftools";
import { sha256 } from "../../src/core/text";
import { FakeEditor, settled, tempFolder, until } from "./fakes";
import { contentOf, secretIn, startCore, WsClient } from "./wsclient";

/** A core, one client, and a workspace folder with a file. */
async function connected(t: TestContext) {
  const home = tempFolder(t);
  const folder = tempFolder(t);
  const file = join(folder, "f.txt");
  writeFileSync(file, "one\ntwo\n");
  const started = await startCore(t, home);
  started.editor.folders = [{ name: "w", uri: `file://${folder}`, path: folder }];
  const client = await WsClient.connect(t, started.lockPath);
  const diff = (more: object = {}): object => ({
    old_file_path: file, new_file_path: file, new_file_contents: "one\nTWO\n", tab_name: "✻ [agent] f.txt (1) ⧉", ...more,
  });
  const review = async (state = "shown"): Promise<string> => {
    await until(`a review that is ${state}`, () => started.core.reviews.list().some((r) => r.state === state));
    return started.core.reviews.list().find((r) => r.state === state)?.id ?? "";
  };
  return { ...started, home, folder, file, client, diff, review };
}

describe("the handshake", () => {
  for (const [asked, got] of [
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
    [undefined, "2025-11-25"],
  ]) {
    it(`answers version ${asked} with ${got}`, async (t) => {
      const { lockPath } = await startCore(t, tempFolder(t));
      const client = await WsClient.dial(t, lockPath);
      const { result } = await client.request("initialize", { protocolVersion: asked, capabilities: {} });
      assert.equal(result?.["protocolVersion"], got);
    });
  }

  it("says who is there and what it can do", async (t) => {
    const { lockPath, editor } = await startCore(t, tempFolder(t));
    const client = await WsClient.dial(t, lockPath);
    const { result } = await client.request("initialize", { clientInfo: { name: "evil\u001b[31m\nname" } });
    assert.deepEqual(result?.["serverInfo"], { name: "agent-ide", title: "Agent for VS Code", version: "0.1.0" });
    assert.deepEqual(result["capabilities"], {
      tools: { listChanged: false },
      experimental: {
        "agent/ide": { trusted: true, platform: process.platform, maxPayload: 16_777_216 },
      },
    });
    client.notify("ide_connected", { pid: 4711 });
    await until("the pid", () => editor.clients[0]?.pid === 4711);
    assert.equal(editor.clients[0]?.name, "evil[31m name");
    client.notify("ide_connected", { pid: "x" });
    client.notify("log_event", { any: "thing" });
    client.notify("unheard_of", {});
    assert.deepEqual((await client.request("ping", {})).result, {});
  });

  it("comes first", async (t) => {
    const { lockPath, core } = await startCore(t, tempFolder(t));
    const client = await WsClient.dial(t, lockPath);
    assert.equal((await client.request("tools/list", {})).error?.code, -32600);
    assert.deepEqual((await client.request("ping", {})).result, {});
    assert.equal(core.mention("/x"), 1);
    await client.request("initialize", {});
    assert.equal(client.notifications("at_mentioned").length, 0, "nothing is told before the handshake");
    assert.equal((await client.request("resources/list", {})).error?.code, -32601);
  });
});

describe("the tools", () => {
  it("are listed with their schemas", async (t) => {
    const { client } = await connected(t);
    const { result } = await client.request("tools/list", {});
    const tools = result?.["tools"] as { name: string; description: string; inputSchema: { type: string } }[];
    assert.deepEqual(tools.map(({ name }) => name).sort(), [
      "checkDocumentDirty", "closeAllDiffTabs", "close_tab", "fileRemoved", "getCurrentSelection", "getDiagnostics", "getLatestSelection",
      "getOpenEditors", "getPendingDiffs", "getWorkspaceFolders", "lookUp", "openDiff", "openFile", "resolveDiff", "runInTerminal", "saveDocument", "setCheck", "setStatus",
    ]);
    for (const tool of tools) assert.ok(tool.description !== "" && tool.inputSchema.type === "object");
  });

  it("that do not exist, or are called wrongly, are refused", async (t) => {
    const { client, diff } = await connected(t);
    const unknown = await client.request("tools/call", { name: "executeCode" });
    assert.deepEqual([unknown.error?.code, unknown.error?.message], [-32602, "Unknown tool: executeCode"]);
    const calls: [string, object, string][] = [
      ["openDiff", {}, "INVALID_PARAMS: arguments.old_file_path is missing"],
      ["openDiff", diff({ old_file_path: "relative" }), "INVALID_PARAMS: the path must be absolute and local: relative"],
      ["openDiff", diff({ on_close: "perhaps" }), "INVALID_PARAMS: arguments.on_close must be one of keep, reject"],
      ["openFile", { filePath: "/nowhere/x" }, "NOT_FOUND: File not found: /nowhere/x"],
      ["close_tab", {}, "INVALID_PARAMS: arguments.tab_name is missing"],
      ["resolveDiff", { diff_id: "x", outcome: "accept" }, "DIFF_NOT_FOUND: no diff of this client has this id and waits for an answer"],
      ["resolveDiff", { diff_id: "x", outcome: "hold" }, "DIFF_NOT_FOUND: no diff of this client has this id and waits for an answer"],
      ["getDiagnostics", { uri: "file://host/x" }, "INVALID_PARAMS: not the URI of a local file: file://host/x"],
    ];
    for (const [name, args, text] of calls) {
      const answer = await client.tool(name, args);
      assert.deepEqual([answer.isError, answer.content[0]?.text], [true, text]);
      assert.deepEqual(answer.structuredContent, { code: text.split(":", 1)[0], message: text.slice(text.indexOf(":") + 2) });
    }
  });
});

describe("openDiff", () => {
  it("blocks until the person decides, and the editor writes nothing", async (t) => {
    const { core, client, file, diff, review } = await connected(t);
    const id = client.beginTool("openDiff", diff({ diff_id: "q1", description: "why" }));
    const shown = await review();
    assert.equal(client.answered(id), undefined);
    assert.deepEqual(core.reviews.get(shown)?.description, "why");
    core.reviews.accept(shown, "button");
    const answer = contentOf(await client.response(id));
    assert.deepEqual(answer.content.slice(0, 2).map(({ text }) => text), ["FILE_SAVED", "one\nTWO\n"]);
    assert.deepEqual(JSON.parse(answer.content[2]?.text ?? ""), answer.structuredContent);
    assert.equal(answer.structuredContent?.["diffId"], "q1");
    assert.equal(readFileSync(file, "utf8"), "one\ntwo\n");
  });

  it("finds the file through links", async (t) => {
    const { editor, client, folder, file, diff, review } = await connected(t);
    const link = join(tempFolder(t), "link");
    symlinkSync(folder, link);
    client.beginTool("openDiff", diff({ old_file_path: join(link, "f.txt"), new_file_path: undefined }));
    const shown = editor.view.shown.get(await review());
    assert.deepEqual([shown?.path, shown?.title], [file, "f.txt ← test client"]);
  });

  it("that is cancelled closes and is not answered", async (t) => {
    const { core, client, diff, review } = await connected(t);
    const id = client.beginTool("openDiff", diff());
    await review();
    client.notify("notifications/cancelled", { requestId: id });
    await until("the end", () => core.reviews.list().length === 0);
    await client.request("ping", {});
    assert.equal(client.answered(id), undefined);
  });

  const ends: [string, (cancel: AbortController, lose: () => void) => void][] = [
    ["is cancelled", (cancel) => cancel.abort()],
    ["loses its client", (_, lose) => lose()],
  ];
  for (const [what, end] of ends) {
    it(`that ${what} while its paths are resolved shows nothing`, async (t) => {
      const { core, editor, diff } = await connected(t);
      const client = { id: 99, name: "c", notify: () => undefined, setStatus: () => undefined };
      const cancel = new AbortController();
      const folders = (): typeof editor.folders => {
        end(cancel, () => core.reviews.ownerGone(client));
        return editor.folders;
      };
      const ports = { ...editor.ports, workspace: { ...editor.ports.workspace, folders } };
      const [openDiff] = diffTools(core.reviews, ports, { isBusy: () => false });
      let answered: unknown;
      void openDiff?.call({ client, args: { ...diff() }, cancelled: cancel.signal }).then((answer) => (answered = answer));
      await until("an answer, or a review", () => core.reviews.list().length > 0 || answered !== undefined);
      assert.deepEqual([answered, core.reviews.list()], ["silent", []]);
    });
  }

  it("tells that it goes on, if the client asks for that", async (t) => {
    const { editor, client, diff, review } = await connected(t);
    client.begin("tools/call", { name: "openDiff", arguments: diff(), _meta: { progressToken: "p" } });
    await review();
    editor.clock.advance(40_000);
    await until("two notices", () => client.notifications("notifications/progress").length === 2);
    assert.deepEqual(client.notifications("notifications/progress").map(({ progressToken, progress }) => [progressToken, progress]), [["p", 1], ["p", 2]]);
  });

  it("of a client that breaks off and comes back goes on", async (t) => {
    const { core, editor, lockPath, client, diff, review } = await connected(t);
    client.beginTool("openDiff", diff({ diff_id: "q1" }));
    const shown = await review();
    client.terminate();
    await until("the loss", () => editor.clients.length === 0);
    editor.clock.advance(2_000);
    const back = await WsClient.connect(t, lockPath);
    const id = back.beginTool("openDiff", diff({ diff_id: "q1" }));
    let adopted: unknown[] = [];
    while (adopted.length === 0) adopted = ((await back.json("getPendingDiffs")) as { diffs: unknown[] }).diffs;
    editor.clock.advance(5_000);
    core.reviews.reject(shown, "button");
    assert.equal(contentOf(await back.response(id)).content[0]?.text, "DIFF_REJECTED");
  });

  it("is listed, resolved and closed by its client alone", async (t) => {
    const { core, lockPath, client, diff, review, file } = await connected(t);
    const id = client.beginTool("openDiff", diff({ diff_id: "q1" }));
    const shown = await review();
    const other = await WsClient.connect(t, lockPath);
    assert.deepEqual(await other.json("getPendingDiffs"), { diffs: [] });
    assert.equal((await other.tool("close_tab", { tab_name: "✻ [agent] f.txt (1) ⧉" })).content[0]?.text, "TAB_CLOSED");
    assert.equal((await other.tool("closeAllDiffTabs")).content[0]?.text, "CLOSED_0_DIFF_TABS");
    assert.equal((await other.tool("resolveDiff", { diff_id: "q1", outcome: "accept" })).isError, true);
    const { diffs } = (await client.json("getPendingDiffs")) as { diffs: Record<string, unknown>[] };
    assert.deepEqual([diffs.length, diffs[0]?.["diffId"], diffs[0]?.["path"], diffs[0]?.["state"]], [1, "q1", file, "shown"]);
    core.reviews.edited(shown, "typed\n");
    assert.deepEqual(await client.json("resolveDiff", { diff_id: "q1", outcome: "hold" }), { success: true });
    assert.deepEqual(await client.json("resolveDiff", { diff_id: "q1", outcome: "release" }), { success: true });
    const told = (await client.json("resolveDiff", { diff_id: "q1", outcome: "reject" })) as Record<string, unknown>;
    assert.deepEqual([told["outcome"], told["reason"], told["text"]], ["rejected", "terminal", undefined]);
    assert.equal(contentOf(await client.response(id)).content[0]?.text, "DIFF_REJECTED");
  });

  it("is not resolved by a client that has given the answer up before it was read", async (t) => {
    const { core, client, diff, review } = await connected(t);
    const id = client.beginTool("openDiff", diff({ diff_id: "q1" }));
    const shown = await review();
    const given = client.beginTool("resolveDiff", { diff_id: "q1", outcome: "accept" });
    client.notify("notifications/cancelled", { requestId: given });
    const { diffs } = (await client.json("getPendingDiffs")) as { diffs: unknown[] };
    assert.deepEqual([diffs.length, client.answered(given)], [1, undefined]);
    core.reviews.accept(shown, "button");
    assert.equal(contentOf(await client.response(id)).content[0]?.text, "FILE_SAVED");
  });

  it("is resolved with what was typed last, which the window tells late", async (t) => {
    const { core, client, editor, diff, review } = await connected(t);
    const id = client.beginTool("openDiff", diff({ diff_id: "q1" }));
    const shown = await review();
    let tell: () => void = () => undefined;
    editor.view.late = new Promise((done) => (tell = done));
    const given = client.beginTool("resolveDiff", { diff_id: "q1", outcome: "accept" });
    await client.json("getPendingDiffs");
    assert.equal(client.answered(given), undefined);
    editor.view.texts.set(shown, "typed last\n");
    tell();
    const [answer] = contentOf(await client.response(given)).content;
    assert.equal((JSON.parse(answer?.text ?? "") as Record<string, unknown>)["text"], "typed last\n");
    assert.equal(contentOf(await client.response(id)).content[1]?.text, "typed last\n");
    assert.deepEqual(core.reviews.list(), []);
  });

  it("is not resolved by a client that has stopped waiting for the window", async (t) => {
    const { client, editor, diff, review } = await connected(t);
    client.beginTool("openDiff", diff({ diff_id: "q1" }));
    await review();
    let tell: () => void = () => undefined;
    editor.view.late = new Promise((done) => (tell = done));
    const given = client.beginTool("resolveDiff", { diff_id: "q1", outcome: "accept" });
    client.notify("notifications/cancelled", { requestId: given });
    await client.json("getPendingDiffs");
    tell();
    const { diffs } = (await client.json("getPendingDiffs")) as { diffs: unknown[] };
    assert.deepEqual([diffs.length, client.answered(given)], [1, undefined]);
  });

  for (const [tool, args, want] of [
    ["close_tab", { tab_name: "✻ [agent] f.txt (1) ⧉" }, "TAB_CLOSED"],
    ["closeTab", { tabName: "✻ [agent] f.txt (1) ⧉" }, "TAB_CLOSED"],
    ["closeAllDiffTabs", {}, "CLOSED_1_DIFF_TABS"],
  ] as const) {
    it(`is closed by ${tool}`, async (t) => {
      const { client, editor, diff, review } = await connected(t);
      const id = client.beginTool("openDiff", diff());
      const shown = await review();
      assert.equal((await client.tool(tool, args)).content[0]?.text, want);
      assert.equal(editor.view.tabs(shown), 0, "it is gone when the answer comes");
      assert.equal(contentOf(await client.response(id)).content[0]?.text, "TAB_CLOSED");
    });
  }

  it("tells of the draft", async (t) => {
    const { core, editor, client, diff, review } = await connected(t);
    client.beginTool("openDiff", diff({ diff_id: "q1" }));
    core.reviews.edited(await review(), "one\nTWO\nthree\n");
    editor.clock.advance(100);
    assert.deepEqual(await client.heard("diff_changed"), { diffId: "q1", state: "shown", edited: true, added: 1, removed: 0 });
  });
});

describe("the end of the core", () => {
  it("aborts reviews, says good-bye and removes the lock", async (t) => {
    const { core, editor, client, lockPath, diff, review } = await connected(t);
    const id = client.beginTool("openDiff", diff());
    await review();
    const stopped = core.stop();
    const { error } = await client.response(id);
    assert.deepEqual([error?.code, error?.data], [-32001, { code: "ABORTED" }]);
    await stopped;
    await until("the close", () => client.closeCode !== undefined);
    assert.equal(client.closeCode, 1001);
    assert.equal(existsSync(lockPath), false);
    editor.clock.advance(10_000);
    assert.equal(editor.clock.waiting, 0);
  });
});

describe("the start", () => {
  it("may follow a stop", async (t) => {
    const home = tempFolder(t);
    const { core, lockPath } = await startCore(t, home);
    await core.stop();
    assert.equal(existsSync(lockPath), false);
    const again = await core.start();
    const client = await WsClient.connect(t, again.lockPath);
    assert.deepEqual((await client.request("ping", {})).result, {});
  });

  for (const name of ["lock", "mcp.json"]) {
    it(`that cannot write its file ${name} leaves nothing listening, and no other file`, async (t) => {
      const home = tempFolder(t);
      const taken = createServer();
      await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
      const { port } = taken.address() as { port: number };
      await new Promise((done) => taken.close(done));
      mkdirSync(join(home, "ide", `${port}.${name}`, "in the way"), { recursive: true, mode: 0o700 });
      const core = createCore(new FakeEditor().ports, { version: "0.1.0", home, port, pid: process.pid, mcpToken: () => Promise.resolve("x") });
      await assert.rejects(core.start());
      await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
      assert.deepEqual(readdirSync(join(home, "ide")), [`${port}.${name}`]);
    });
  }
});

describe("the lock", () => {
  it("says where we are, and follows the window", async (t) => {
    const home = tempFolder(t);
    const folder = tempFolder(t);
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    mkdirSync(join(home, "ide"), { mode: 0o700 });
    writeFileSync(join(home, "ide", "1.lock"), '{"pid":999999999}');
    const { core, editor, lockPath, port } = await startCore(t, home);
    const read = (): Record<string, unknown> => JSON.parse(readFileSync(lockPath, "utf8")) as Record<string, unknown>;
    const { authToken, secretSocket, ...rest } = read();
    assert.ok(typeof authToken === "string" && authToken.length === 43);
    assert.equal(secretSocket, join(home, "ide", `${port}.sock`));
    const secret = await secretIn(lockPath);
    assert.ok(secret.length === 43 && secret !== authToken);
    const files = readdirSync(join(home, "ide")).filter((name) => !name.endsWith(".sock"));
    assert.deepEqual(files.filter((name) => readFileSync(join(home, "ide", name), "utf8").includes(secret)), [], "the secret is in a file");
    assert.deepEqual(rest, {
      v: 1, pid: process.pid, workspaceFolders: [], realFolders: [], ideName: "Test Editor", transport: "ws", trusted: true,
      startedAt: 1_000_000, focusedAt: 1_000_000, extVersion: "0.1.0",
      doors: [{ kind: "mcp", url: `http://127.0.0.1:${port}/mcp` }],
    });
    assert.equal(lockPath, join(home, "ide", `${port}.lock`));
    assert.equal(existsSync(join(home, "ide", "1.lock")), false, "a dead window's lock is swept");
    editor.folders = [{ name: "link", uri: "", path: join(folder, "link") }];
    editor.clock.advance(7);
    core.windowChanged({ focused: true });
    await until("the new lock", () => read()["focusedAt"] === 1_000_007);
    assert.deepEqual([read()["workspaceFolders"], read()["realFolders"]], [[join(folder, "link")], [join(folder, "real")]]);
    assert.deepEqual([read()["authToken"], await secretIn(lockPath)], [authToken, secret]);
  });
});

describe("what the editor sees", () => {
  const at = (line: number, character: number) => ({ line, character });

  it("a new client is told the selection that there is", async (t) => {
    const { core, editor, client, lockPath, file } = await connected(t);
    const selection = { path: file, uri: `file://${file}`, text: "two", start: at(1, 0), end: at(1, 3) };
    await client.json("getOpenEditors"); // its handshake is over
    core.selectionChanged(selection);
    editor.clock.advance(100);
    const late = await WsClient.connect(t, lockPath);
    assert.deepEqual(await late.heard("selection_changed"), await client.heard("selection_changed"));
  });

  it("selections are told and kept", async (t) => {
    const { core, editor, client, file } = await connected(t);
    assert.deepEqual(await client.json("getLatestSelection"), { success: false, message: "No selection available" });
    assert.deepEqual(await client.json("getCurrentSelection"), { success: false, message: "No active editor found" });
    const selection = { path: file, uri: `file://${file}`, text: "two", start: at(1, 0), end: at(1, 3) };
    const wire = { text: "two", filePath: file, fileUrl: `file://${file}`, selection: { start: at(1, 0), end: at(1, 3), isEmpty: false } };
    core.selectionChanged({ ...selection, text: "t", end: at(1, 1) });
    editor.selection = selection;
    core.selectionChanged(selection);
    editor.clock.advance(100);
    assert.deepEqual(await client.heard("selection_changed"), wire);
    assert.deepEqual(await client.json("getCurrentSelection"), { success: true, ...wire });
    editor.selection = undefined;
    core.selectionChanged(undefined);
    core.selectionChanged(selection);
    editor.clock.advance(1_000);
    assert.deepEqual(await client.json("getLatestSelection"), wire);
    assert.equal(client.notifications("selection_changed").length, 1, "the same is told once");
    core.selectionChanged({ ...selection, text: "x".repeat(20_000) });
    assert.equal(((await client.json("getLatestSelection")) as { text: string }).text.length, 16_384);
  });

  it("mentions are told", async (t) => {
    const { core, client, file } = await connected(t);
    assert.equal(core.mention(file, { start: 4, end: 9 }), 1);
    assert.deepEqual(await client.heard("at_mentioned"), { filePath: file, lineStart: 4, lineEnd: 9 });
  });

  it("tabs and folders are listed", async (t) => {
    const { editor, client, folder, file } = await connected(t);
    const tab = {
      uri: `file://${file}`, label: "f.txt", isActive: true, isPinned: false, isPreview: false, isDirty: false, isUntitled: false,
      groupIndex: 0, viewColumn: 1, isGroupActive: true, languageId: "plaintext", lineCount: 3,
    };
    editor.tabs = [{ ...tab, path: file }, { ...tab, path: "/other", uri: "file:///other", isActive: false }];
    editor.selection = { path: file, uri: tab.uri, text: "", start: at(0, 1), end: at(0, 1) };
    assert.deepEqual(await client.json("getOpenEditors"), {
      tabs: [
        { ...tab, fileName: file, selection: { start: at(0, 1), end: at(0, 1), isEmpty: true } },
        { ...tab, uri: "file:///other", isActive: false, fileName: "/other" },
      ],
    });
    assert.deepEqual(await client.json("getWorkspaceFolders"), {
      success: true, folders: [{ name: "w", uri: `file://${folder}`, path: folder }], rootPath: folder,
    });
  });

  it("unsaved text is found and saved", async (t) => {
    const { editor, client, file } = await connected(t);
    assert.deepEqual(await client.json("checkDocumentDirty", { filePath: file }), {
      success: false,
      message: `Document not open: ${file}`,
      encoding: "utf8",
    });
    editor.documents.buffers.set(file, { text: "a\r\nb", isDirty: true, isUntitled: false });
    assert.deepEqual(await client.json("checkDocumentDirty", { filePath: file }), {
      success: true,
      filePath: file,
      isDirty: true,
      isUntitled: false,
      encoding: "utf8",
    });
    assert.deepEqual(await client.json("checkDocumentDirty", { filePath: file, includeText: true }), {
      success: true, filePath: file, isDirty: true, isUntitled: false, encoding: "utf8", text: "a\r\nb", sha256: sha256("a\nb"),
    });
    assert.deepEqual(await client.json("saveDocument", { filePath: file }), { success: true, filePath: file, saved: true, message: "Document saved" });
    editor.documents.saves = false;
    assert.deepEqual(await client.json("saveDocument", { filePath: file }), { success: false, message: `The editor did not save ${file}` });
    assert.deepEqual(await client.json("saveDocument", { filePath: "/not/open" }), { success: false, message: "Document not open: /not/open" });
  });

  const opening: [object, string, object | undefined][] = [
    [{}, "Opened file: FILE", undefined],
    [{ startLine: 2, endLine: 9 }, "Opened file and selected lines 2 to 3", { start: at(1, 0), end: at(2, 0) }],
    [{ startText: "two" }, 'Opened file and selected text from "two" to "two"', { start: at(1, 0), end: at(1, 3) }],
    [{ startText: "n", endText: "w" }, 'Opened file and selected text from "n" to "w"', { start: at(0, 1), end: at(1, 2) }],
    [{ startText: "n", endText: "w", selectToEndOfLine: true }, 'Opened file and selected text from "n" to "w"', { start: at(0, 1), end: at(1, 3) }],
    [{ startText: "x" }, 'Opened file, but text "x" not found', undefined],
  ];
  for (const [args, said, selection] of opening) {
    it(`openFile ${JSON.stringify(args)}: ${said}`, async (t) => {
      const { editor, client, file } = await connected(t);
      assert.equal((await client.tool("openFile", { filePath: file, ...args })).content[0]?.text, said.replace("FILE", file));
      assert.deepEqual(editor.documents.opened, [{ path: file, preview: false, makeFrontmost: true, ...(selection && { selection }) }]);
    });
  }

  it("openFile in the background says what it opened", async (t) => {
    const { client, file } = await connected(t);
    assert.deepEqual(await client.json("openFile", { filePath: file, makeFrontmost: false }), {
      success: true, filePath: file, languageId: "plaintext", lineCount: 3,
    });
  });

  it("the clients' states are shown", async (t) => {
    const { core, editor, client } = await connected(t);
    assert.deepEqual(await client.json("setStatus", { state: "waiting", text: "being\nedited", tooltip: "x".repeat(400) }), { success: true });
    assert.deepEqual(editor.clients[0]?.status, { state: "waiting", text: "being edited", tooltip: "x".repeat(299) + "…" });
    assert.deepEqual(core.clients(), editor.clients);
    client.close();
    await until("the loss", () => editor.clients.length === 0);
  });
});

describe("diagnostics", () => {
  const found = (severity: "Error" | "Warning" | "Hint", message: string) => ({
    message, severity, range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } },
  });
  const ask = async (client: WsClient, args: object): Promise<{ files: unknown; state: Record<string, unknown> }> => {
    const { content } = await client.tool("getDiagnostics", args);
    return { files: JSON.parse(content[0]?.text ?? ""), state: JSON.parse(content[1]?.text ?? "") as Record<string, unknown> };
  };

  it("come nested, the worst first, filtered and capped", async (t) => {
    const { editor, client } = await connected(t);
    assert.deepEqual((await ask(client, {})).files, []);
    editor.diagnostics.set("file:///a", [found("Hint", "h"), found("Error", "e1")]);
    editor.diagnostics.set("file:///b", [found("Warning", "w"), found("Error", "e2")]);
    assert.deepEqual((await ask(client, { severity: "warning", limit: 2 })), {
      files: [
        { uri: "file:///a", diagnostics: [found("Error", "e1")] },
        { uri: "file:///b", diagnostics: [found("Error", "e2")] },
      ],
      state: { settled: true, waitedMs: 0, omitted: 1 },
    });
    assert.deepEqual((await ask(client, { uri: "/a", severity: "info" })).files, [{ uri: "file:///a", diagnostics: [found("Error", "e1")] }]);
  });

  it("of a file that nobody has looked at are not known", async (t) => {
    const { editor, client, file } = await connected(t);
    const { files, state } = await ask(client, { uri: `file://${file}` });
    assert.deepEqual([files, state["settled"]], [[{ uri: `file://${file}`, diagnostics: [] }], false]);
    editor.diagnostics.shown = true;
    assert.equal((await ask(client, { uri: file })).state["settled"], true);
  });

  it("of a file that nobody serves are not waited for, and not known", async (t) => {
    const { editor, client, file } = await connected(t);
    editor.diagnostics.served = false;
    editor.diagnostics.shown = true;
    const { state } = await ask(client, { uri: file, waitMs: 60_000 }); // the clock stops
    assert.deepEqual([state["settled"], state["waitedMs"]], [false, 0]);
    assert.deepEqual(editor.diagnostics.loaded, [file]);
  });

  it("are waited for until they are quiet", async (t) => {
    const { editor, client, file } = await connected(t);
    const id = client.beginTool("getDiagnostics", { uri: file, waitMs: 5_000 });
    await until("the loading", () => editor.diagnostics.loaded.length === 1);
    editor.clock.advance(200);
    editor.diagnostics.set("file:///other", []);
    editor.diagnostics.set(`file://${file}`, []);
    editor.clock.advance(200);
    editor.diagnostics.set(`file://${file}`, [found("Error", "new")]);
    editor.clock.advance(299);
    await client.request("ping", {});
    assert.equal(client.answered(id), undefined);
    editor.clock.advance(1);
    const { content } = contentOf(await client.response(id));
    assert.deepEqual(JSON.parse(content[0]?.text ?? ""), [{ uri: `file://${file}`, diagnostics: [found("Error", "new")] }]);
    assert.deepEqual(JSON.parse(content[1]?.text ?? ""), { settled: true, waitedMs: 700, omitted: 0 });
  });

  for (const [name, busy, shown, settledAtEnd] of [
    ["that nobody reports are not known", false, false, false],
    ["of a shown file that stay quiet are known", false, true, true],
    ["that never rest are not settled", true, true, false],
  ] as const) {
    it(`${name}, after the longest wait`, async (t) => {
      const { editor, client, file } = await connected(t);
      editor.diagnostics.shown = shown;
      const id = client.beginTool("getDiagnostics", { uri: file, waitMs: 60_000 });
      await until("the loading", () => editor.diagnostics.loaded.length === 1);
      for (let ms = 0; ms < 1_500; ms += 100) {
        if (busy) editor.diagnostics.set(`file://${file}`, []);
        editor.clock.advance(100);
      }
      const state = JSON.parse(contentOf(await client.response(id)).content[1]?.text ?? "") as Record<string, unknown>;
      assert.deepEqual([state["settled"], state["waitedMs"]], [settledAtEnd, 1_500]);
      assert.equal(editor.diagnostics.listeners.size, 1, "only the core's own listener is left");
    });
  }

  it("that change are told, with counts, not too often", async (t) => {
    const { editor, client } = await connected(t);
    editor.diagnostics.set("file:///a", [found("Error", "e"), found("Warning", "w")]);
    editor.diagnostics.set("file:///b", []);
    editor.diagnostics.set("file:///a", [found("Error", "e"), found("Error", "e2"), found("Warning", "w")]);
    editor.clock.advance(300);
    assert.deepEqual(await client.heard("diagnostics_changed"), { uris: ["file:///a", "file:///b"], counts: { errors: 2, warnings: 1 } });
    await settled();
    assert.equal(client.notifications("diagnostics_changed").length, 1);
  });
});
