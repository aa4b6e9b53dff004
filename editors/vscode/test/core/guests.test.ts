// The doors for terminal agents of others, as their programs use them.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import WebSocket from "ws";
import type { Core } from "../../src/core/core";
import { createCore } from "../../src/core/core";
import { foldersOf } from "../../src/core/guest/files";
import { atEnd } from "./ending";
import { FakeEditor, tempFolder, until } from "./fakes";
import { mcpToken, WsClient } from "./wsclient";
import { GuestOverHttp, GuestOverSocket } from "./guestclients";
import { send, shown } from "./httpclient";

const base = "one\ntwo\nthree\n";
const proposal = "one\nTWO\nthree\n";

interface Place {
  readonly core: Core;
  readonly editor: FakeEditor;
  readonly port: number;
  readonly lockPath: string;
  readonly file: string;
  /** The folder of each guest's files. */
  readonly folders: Readonly<Record<string, string>>;
}

async function start(t: TestContext, names: readonly string[], before: (folders: Readonly<Record<string, string>>) => void = () => undefined, port = 0): Promise<Place> {
  const home = tempFolder(t);
  const folder = join(home, "work");
  mkdirSync(folder);
  const file = join(folder, "a.txt");
  writeFileSync(file, base);
  const folders = foldersOf(home, home, {});
  before(folders);
  const editor = new FakeEditor();
  editor.folders = [{ name: "work", uri: "", path: folder }];
  editor.settings.reviewEditsOf = [...names];
  const core = createCore(editor.ports, { version: "0.1.0", home: join(home, ".agent"), port, pid: process.pid, mcpToken: () => Promise.resolve(mcpToken), guestFolders: folders });
  const started = await core.start();
  atEnd(t, async () => {
    const stopped = core.stop();
    editor.clock.advance(10_000);
    await stopped;
  });
  return { core, editor, file, folders, ...started };
}

const filesIn = (folder: string | undefined): string[] => (existsSync(folder ?? "") ? readdirSync(folder ?? "").filter((name) => !name.startsWith(".")).map((name) => join(folder ?? "", name)) : []);
const contentOf = (path: string | undefined): Record<string, unknown> => JSON.parse(readFileSync(path ?? "", "utf8")) as Record<string, unknown>;

/** The guests, each with its way in. */
const dialects = [
  { name: "Claude Code", connect: (at: Place) => GuestOverSocket.connect(at.port, contentOf(filesIn(at.folders["Claude Code"])[0])["authToken"]) },
  { name: "Gemini CLI", connect: (at: Place) => GuestOverHttp.connect(at.port, contentOf(filesIn(at.folders["Gemini CLI"])[0])["authToken"]) },
  { name: "Qwen Code", connect: (at: Place) => GuestOverHttp.connect(at.port, contentOf(filesIn(at.folders["Qwen Code"])[0])["authToken"]) },
] as const;

for (const { name, connect } of dialects) {
  describe(`the edits of ${name}`, () => {
    const open = async (t: TestContext): Promise<Place & { client: GuestOverSocket | GuestOverHttp; id: string }> => {
      const at = await start(t, [name]);
      const client = await connect(at);
      atEnd(t, () => client.close());
      await client.ask(at.file, proposal);
      return { ...at, client, id: await shown(at.core) };
    };

    it("are shown with its name and what it does not promise", async (t) => {
      const { core, editor, id } = await open(t);
      assert.equal(core.reviews.get(id)?.asks, name);
      const notes = editor.view.shown.get(id)?.notes.map(({ text }) => text);
      assert.match(notes?.join() ?? "", new RegExp(`^${name} itself writes the file`));
      assert.equal(core.reviews.get(id)?.title.includes("⚠"), false);
    });

    it("are answered with the person's text", async (t) => {
      const { core, editor, client, id, file } = await open(t);
      core.reviews.edited(id, "one\nTYPED\nthree\n");
      editor.view.texts.set(id, "one\nTYPED\nthree\n");
      core.reviews.accept(id, "button");
      assert.deepEqual(await client.decision(), { accepted: "one\nTYPED\nthree\n" });
      assert.equal(readFileSync(file, "utf8"), base, "the guest writes");
    });

    it("are answered with a no by a button and by a closed tab", async (t) => {
      const { core, editor, client, id, file } = await open(t);
      core.reviews.reject(id, "button", "words that have no place");
      assert.equal(await client.decision(), "rejected");
      await client.ask(file, proposal);
      const second = await shown(core);
      editor.view.count.set(second, 0);
      core.reviews.tabsChanged(second);
      editor.clock.advance(100);
      assert.equal(await client.decision(), "rejected");
    });

    it("end without a decision with the window, and with the program", async (t) => {
      const first = await open(t);
      const stopped = first.core.stop();
      first.editor.clock.advance(10_000);
      await stopped;
      assert.equal(await first.client.ended(), "no decision");
      if (first.client instanceof GuestOverHttp) assert.deepEqual(await first.client.heard("ide/diffClosed"), { filePath: first.file }, "its terminal would wait for ever");
      const { core, editor, client, id } = await open(t);
      client.close();
      await until("the review to end", () => {
        editor.clock.advance(1_000);
        return core.reviews.get(id)?.outcome !== undefined;
      });
      assert.equal(core.reviews.get(id)?.outcome?.reason, "client_gone");
    });

    it("are refused where the editor has unsaved changes", async (t) => {
      const at = await start(t, [name]);
      at.editor.documents.buffers.set(at.file, { text: "unsaved", isDirty: true, isUntitled: false });
      const client = await connect(at);
      atEnd(t, () => client.close());
      await client.ask(at.file, proposal);
      assert.match(await client.refusal(), /DIRTY_DOCUMENT/);
    });

    it("are taken back by the program, which answers in the terminal", async (t) => {
      const { core, editor, client, id, file } = await open(t);
      core.reviews.edited(id, "one\nTYPED\nthree\n");
      editor.view.texts.set(id, "one\nTYPED\nthree\n");
      const closed = await client.closeDiff(file);
      if (client instanceof GuestOverHttp) assert.equal(closed, "one\nTYPED\nthree\n");
      assert.deepEqual(core.reviews.list(), []);
      assert.equal(await client.ended(), "no decision");
    });

    it("are not reviewed unless the person has asked for it", async (t) => {
      const at = await start(t, []);
      assert.deepEqual(filesIn(at.folders[name]), []);
      at.editor.settings.reviewEditsOf = [name];
      at.core.windowChanged({});
      await until("the file", () => filesIn(at.folders[name]).length === 1);
      const path = filesIn(at.folders[name])[0] ?? "";
      assert.equal(statSync(path).mode & 0o777, 0o600);
      const client = await connect(at);
      at.editor.settings.reviewEditsOf = [];
      at.core.windowChanged({});
      await until("the file to go", () => !existsSync(path));
      await assert.rejects(connect({ ...at, folders: { ...at.folders, [name]: savedFolder(t, client.token) } }));
    });
  });
}

/** A folder with a file that has a token which was good once. */
function savedFolder(t: TestContext, token: string): string {
  const folder = tempFolder(t);
  writeFileSync(join(folder, "x.lock"), JSON.stringify({ authToken: token }));
  return folder;
}

describe("the doors of guests", () => {
  it("give no power of ours, and none of another guest's", async (t) => {
    const at = await start(t, ["Claude Code", "Gemini CLI"]);
    const claude = await dialects[0].connect(at);
    const gemini = await dialects[1].connect(at);
    atEnd(t, () => [claude, gemini].forEach((each) => each.close()));
    assert.deepEqual(await claude.tools(), ["openDiff", "close_tab", "closeAllDiffTabs", "getDiagnostics"]);
    assert.deepEqual(await gemini.tools(), ["openDiff", "closeDiff"]);
    const status = (headers: Record<string, string>, path = "/mcp"): Promise<number> => send(at.port, { headers, path, body: "{}" }).then((reply) => reply.status);
    // The token of one opens nothing of the other, of /mcp or of /bridge.
    assert.equal(await status({ Authorization: `Bearer ${claude.token}` }), 401);
    assert.equal(await status({ Authorization: `Bearer ${gemini.token}`, "x-agent-ide-authorization": claude.token }, "/bridge"), 401);
    for (const token of [gemini.token, mcpToken, contentOf(at.lockPath)["authToken"]]) await assert.rejects(GuestOverSocket.connect(at.port, token));
    at.editor.settings.bridgeEnabled = true;
    const bridge = new WebSocket(`ws://127.0.0.1:${at.port}/bridge`, { headers: { "x-claude-code-ide-authorization": claude.token } });
    await assert.rejects(new Promise((done, fail) => bridge.once("open", done).once("error", fail)));
    // A guest answers no review, its own neither.
    await claude.ask(at.file, proposal);
    const id = await shown(at.core);
    await assert.rejects(claude.call("resolveDiff", { diff_id: id, outcome: "accept" }), /Unknown tool/);
    await assert.rejects(claude.call("saveDocument", { filePath: at.file }), /Unknown tool/);
    assert.equal(at.core.reviews.get(id)?.state, "shown");
  });

  it("let all work beside our own agent, each with its own reviews", async (t) => {
    const at = await start(t, ["Claude Code", "Gemini CLI"]);
    const second = join(at.file, "../b.txt");
    const third = join(at.file, "../c.txt");
    const [claude, gemini, ours] = [await dialects[0].connect(at), await dialects[1].connect(at), await WsClient.connect(t, at.lockPath, "agent")];
    atEnd(t, () => [claude, gemini].forEach((each) => each.close()));
    await claude.ask(at.file, proposal);
    await gemini.ask(second, proposal);
    const id = ours.beginTool("openDiff", { old_file_path: third, new_file_contents: proposal, tab_name: "t" });
    await until("three reviews", () => at.core.reviews.list().filter(({ state }) => state === "shown").length === 3);
    assert.deepEqual(at.core.reviews.list().map(({ asks }) => asks).sort(), ["Claude Code", "Gemini CLI", "agent"]);
    await claude.call("closeAllDiffTabs", {});
    assert.deepEqual(at.core.reviews.list().map(({ asks }) => asks).sort(), ["Gemini CLI", "agent"]);
    for (const { id: each } of at.core.reviews.list()) at.core.reviews.accept(each, "button");
    assert.deepEqual(await gemini.decision(), { accepted: proposal });
    await ours.response(id);
  });

  it("tell what is selected, mentioned and open", async (t) => {
    const at = await start(t, ["Claude Code", "Gemini CLI"]);
    const [claude, gemini] = [await dialects[0].connect(at), await dialects[1].connect(at)];
    atEnd(t, () => [claude, gemini].forEach((each) => each.close()));
    const selection = { path: at.file, uri: `file://${at.file}`, text: "two", start: { line: 1, character: 0 }, end: { line: 1, character: 3 } };
    at.editor.selection = selection;
    at.editor.tabs = [{ uri: selection.uri, path: at.file, label: "a.txt", isActive: true, isPinned: false, isPreview: false, isDirty: false, isUntitled: false, groupIndex: 0, viewColumn: 1, isGroupActive: true, languageId: "plaintext", lineCount: 3 }];
    at.core.selectionChanged(selection);
    at.editor.clock.advance(200);
    assert.equal((await claude.heard("selection_changed"))["text"], "two");
    const { openFiles, isTrusted } = (await gemini.heardLast("ide/contextUpdate"))["workspaceState"] as { openFiles: object[]; isTrusted?: boolean };
    assert.deepEqual(openFiles, [{ path: at.file, timestamp: 1_000_000, isActive: true, cursor: { line: 2, character: 1 }, selectedText: "two" }]);
    assert.equal(isTrusted, undefined, "trust here is none there");
    assert.equal(at.core.mention(at.file, { start: 0, end: 1 }), 1);
    assert.deepEqual(await claude.heard("at_mentioned"), { filePath: at.file, lineStart: 0, lineEnd: 1 });
  });

  it("keep an answer for a program that connects its stream again", async (t) => {
    const at = await start(t, ["Gemini CLI"]);
    const gemini = await dialects[1].connect(at);
    atEnd(t, () => gemini.close());
    await gemini.ask(at.file, proposal);
    const id = await shown(at.core);
    await gemini.dropStream();
    at.core.reviews.accept(id, "button");
    await gemini.listen();
    assert.deepEqual(await gemini.decision(), { accepted: proposal });
  });

  it("give no empty text to a program that would write its own instead", async (t) => {
    const at = await start(t, ["Gemini CLI"]);
    const gemini = await dialects[1].connect(at);
    atEnd(t, () => gemini.close());
    await gemini.ask(at.file, proposal);
    const id = await shown(at.core);
    at.core.reviews.edited(id, "");
    at.editor.view.texts.set(id, "");
    at.core.reviews.accept(id, "button");
    assert.equal(await gemini.decision(), "rejected");
    assert.match(at.editor.warnings.join(), /Gemini CLI does not accept an empty text/);
  });

  it("forget a program that was killed", async (t) => {
    const at = await start(t, ["Gemini CLI"]);
    const gemini = await dialects[1].connect(at);
    assert.deepEqual(at.core.clients().map(({ name }) => name), ["Gemini CLI"]);
    gemini.close();
    await until("it to be gone", () => {
      at.editor.clock.advance(1_000);
      return at.core.clients().length === 0;
    });
  });

  it("say something each minute, and keep a session whose review waits for an hour", async (t) => {
    const at = await start(t, ["Gemini CLI"]);
    const gemini = await dialects[1].connect(at);
    atEnd(t, () => gemini.close());
    await gemini.ask(at.file, proposal);
    const id = await shown(at.core);
    for (let minute = 0; minute < 60; minute++) at.editor.clock.advance(60_000);
    await gemini.heard("ping");
    at.core.reviews.accept(id, "button");
    assert.deepEqual(await gemini.decision(), { accepted: proposal });
  });
});

describe("the files of guests", () => {
  it("leave one of another program alone, and say so", async (t) => {
    const { port } = await start(t, []);
    const theirs = JSON.stringify({ pid: 1, authToken: "theirs", workspaceFolders: [] });
    let path = "";
    const busy = await start(t, []);
    path = join(busy.folders["Claude Code"] ?? "", `${busy.port}.lock`);
    mkdirSync(busy.folders["Claude Code"] ?? "", { recursive: true });
    writeFileSync(path, theirs);
    busy.editor.settings.reviewEditsOf = ["Claude Code"];
    busy.core.windowChanged({});
    await until("a warning", () => busy.editor.warnings.length > 0);
    assert.match(busy.editor.warnings.join(), /Claude Code are not reviewed here: .*is the file of another program/);
    busy.core.windowChanged({});
    const stopped = busy.core.stop();
    busy.editor.clock.advance(10_000);
    await stopped;
    assert.equal(busy.editor.warnings.length, 1, "once");
    assert.equal(readFileSync(path, "utf8"), theirs);
    assert.notEqual(port, 0);
  });

  it("of ended windows of ours are removed, and no others", async (t) => {
    const others = JSON.stringify({ pid: 2 ** 22, authToken: "theirs", workspaceFolders: [] });
    const left = JSON.stringify({ agentPid: 2 ** 22, agentLock: "/nowhere/1.lock" });
    const at = await start(t, ["Claude Code"], ({ "Claude Code": folder = "" }) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, "1.lock"), left);
      writeFileSync(join(folder, "2.lock"), others);
      writeFileSync(join(folder, "3.lock"), "half of");
      writeFileSync(join(folder, "4.lock"), JSON.stringify({ agentPid: process.pid, agentLock: "/nowhere/4.lock" }));
    });
    assert.deepEqual(readdirSync(at.folders["Claude Code"] ?? "").sort(), ["2.lock", "3.lock", "4.lock", `${at.port}.lock`].sort());
    const path = join(at.folders["Claude Code"] ?? "", `${at.port}.lock`);
    const { workspaceFolders, transport, pid } = contentOf(path);
    assert.deepEqual({ workspaceFolders, transport, pid }, { workspaceFolders: [join(at.file, "..")], transport: "ws", pid: process.pid });
    const stopped = at.core.stop();
    at.editor.clock.advance(10_000);
    await stopped;
    assert.equal(existsSync(path), false);
  });

  it("are not put where others could change them", async (t) => {
    const at = await start(t, ["Gemini CLI"], ({ "Gemini CLI": folder = "" }) => {
      mkdirSync(folder, { recursive: true });
      // As somebody may have made it in the folder for everybody's files.
      const parent = join(folder, "..");
      chmodSync(parent, 0o777);
    });
    assert.deepEqual(filesIn(at.folders["Gemini CLI"]), []);
    assert.match(at.editor.warnings.join(), /others than this user can change/);
  });
});
