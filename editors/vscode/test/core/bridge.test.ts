// Rows C1 to C5 of the designs: the door of typed messages.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import WebSocket from "ws";
import { applyEdits, parseEdits } from "../../src/core/bridge/edits";
import { createCore } from "../../src/core/core";
import { Guard, newToken, tokenHeader } from "../../src/core/guard";
import { Server } from "../../src/core/server";
import { Published } from "../../src/core/published";
import { atEnd } from "./ending";
import { FakeEditor, settled, tempFolder, until } from "./fakes";
import { shown } from "./httpclient";
import { startCore, WsClient } from "./wsclient";

type Message = Record<string, unknown>;

class Bridge {
  readonly received: Message[] = [];

  private constructor(readonly socket: WebSocket) {
    socket.on("message", (data: Buffer) => this.received.push(JSON.parse(data.toString()) as Message));
  }

  /** Dials; rejects with the status of a refusal. */
  static dial(t: TestContext, url: string, headers: Record<string, string>): Promise<Bridge> {
    const socket = new WebSocket(url, { headers });
    atEnd(t, () => socket.terminate());
    const bridge = new Bridge(socket);
    return new Promise((done, fail) => {
      socket.on("open", () => done(bridge));
      socket.on("unexpected-response", (_, res) => fail(new Error(String(res.statusCode))));
      socket.on("error", fail);
    });
  }

  send(message: Message | string): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  async next(): Promise<Message> {
    await until("a message", () => this.received.length > 0);
    return this.received.shift() as Message;
  }

  ask(message: Message | string): Promise<Message> {
    this.send(message);
    return this.next();
  }
}

async function start(t: TestContext, files: Record<string, string> = {}) {
  const home = tempFolder(t);
  const folder = tempFolder(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const started = await startCore(t, home);
  started.editor.folders = [{ name: "work", uri: "", path: folder }];
  started.editor.settings.bridgeEnabled = true;
  const { authToken } = JSON.parse(readFileSync(started.lockPath, "utf8")) as { authToken: string };
  const url = `ws://127.0.0.1:${started.port}/bridge`;
  const bridge = await Bridge.dial(t, url, { [tokenHeader]: authToken });
  return { ...started, home, folder, file: (name: string) => join(folder, name), url, authToken, bridge };
}

const range = (line: number, from: number, to: number) => ({ start: { line, character: from }, end: { line, character: to } });

describe("C1: bridge.json", () => {
  it("says where we are while the setting is on, and goes with the window", async (t) => {
    const { core, editor, home, folder, port, url, authToken } = await start(t);
    const file = join(home, "ide", "bridge.json");
    assert.equal(existsSync(file), false, "not before it is asked for");
    core.windowChanged({ focused: true });
    await until("the file", () => existsSync(file));
    const read = (): Message => JSON.parse(readFileSync(file, "utf8")) as Message;
    assert.deepEqual(read(), { port, pid: process.pid, ideName: "Test Editor", workspaceFolders: [folder], timestamp: 1_000, url, authToken });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    editor.settings.bridgeEnabled = false;
    core.windowChanged({});
    await until("it is gone", () => !existsSync(file));
    editor.settings.bridgeEnabled = true;
    core.windowChanged({});
    await until("it is back", () => existsSync(file));
    await core.stop();
    assert.equal(existsSync(file), false);
  });

  it("that cannot be written does not keep the window from listening", async (t) => {
    const home = tempFolder(t);
    const editor = new FakeEditor();
    editor.settings.bridgeEnabled = true;
    editor.settings.bridgeFile = join(home, "none", "bridge.json");
    const core = createCore(editor.ports, { version: "0.1.0", home, port: 0, pid: process.pid, mcpToken: () => Promise.resolve("x") });
    atEnd(t, () => core.stop());
    await WsClient.connect(t, (await core.start()).lockPath);
    assert.ok(editor.log.some((line) => line.startsWith("warn writing bridge.json: ENOENT")), editor.log.join("\n"));
  });

  it("belongs to the window that had the focus last, and only that one removes it", async (t) => {
    const { core, home } = await start(t);
    const other = await startCore(t, home);
    other.editor.settings.bridgeEnabled = true;
    const port = (): unknown => (JSON.parse(readFileSync(join(home, "ide", "bridge.json"), "utf8")) as Message)["port"];
    core.windowChanged({ focused: true });
    await until("the first window's", () => existsSync(join(home, "ide", "bridge.json")));
    other.core.windowChanged({ focused: true });
    await until("the other's", () => port() === other.port);
    await core.stop();
    assert.equal(port(), other.port);
  });

  it("stays with that window when something else changes in another, and is taken over from one that is gone", async (t) => {
    const home = tempFolder(t);
    const editor = new FakeEditor();
    editor.settings.bridgeEnabled = true;
    const window = async () => {
      const secret = newToken();
      const { clock, log } = editor.ports;
      const door = { path: "/", guard: new Guard(undefined, { proves: true }), secret: () => secret, connected: () => assert.fail("nobody proves") };
      const server = new Server({ clock, log, guard: new Guard(undefined), http: [], sockets: [door] });
      const port = await server.listen(0);
      atEnd(t, () => server.close());
      const of = { ports: editor.ports, folder: home, port, pid: process.pid, version: "0.1.0", startedAt: 0, known: { secret }, token: "t", mcp: () => undefined };
      return { server, port, published: new Published(of) };
    };
    const [first, second] = [await window(), await window()];
    const owner = (): unknown => (JSON.parse(readFileSync(join(home, "bridge.json"), "utf8")) as Message)["port"];
    await first.published.write();
    assert.equal(owner(), first.port);
    await second.published.write();
    assert.equal(owner(), second.port, "the one that was opened last");
    await first.published.changed();
    assert.equal(owner(), second.port);
    await second.server.close();
    const stranger = createServer().listen(second.port, "127.0.0.1");
    await once(stranger, "listening");
    atEnd(t, () => stranger.close());
    await first.published.changed();
    assert.equal(owner(), first.port, "that somebody listens on its port says nothing");
  });
});

describe("C3: the token", () => {
  it("is asked for unless the person has said no, which is warned of once", async (t) => {
    const { core, editor } = await start(t);
    core.windowChanged({});
    assert.deepEqual(editor.warnings, []);
    editor.settings.bridgeRequireAuth = false;
    core.windowChanged({});
    core.windowChanged({ focused: true });
    assert.equal(editor.warnings.length, 1);
    assert.match(editor.warnings[0] ?? "", /^agent\.bridge\.requireAuth is off: every program on this computer/);
    editor.settings.requireAuth = false;
    core.windowChanged({});
    assert.match(editor.warnings[1] ?? "", /^agent\.requireAuth is off: .* run commands/);
    editor.settings.requireAuth = true;
    core.windowChanged({});
    editor.settings.requireAuth = false;
    core.windowChanged({});
    assert.equal(editor.warnings.length, 3);
  });
});

describe("C2: messages", () => {
  it("connect is answered with what can be done", async (t) => {
    const { bridge, folder, editor } = await start(t);
    assert.deepEqual(await bridge.ask({ type: "connect", client: "cli\u0007" }), {
      type: "connected", ideName: "Test Editor", version: "0.1.0", workspaceFolders: [folder],
      capabilities: ["openDiff", "proposeDiff", "applyDiff", "closeDiff", "status"],
    });
    assert.deepEqual(editor.clients.map(({ name }) => name), ["cli"]);
  });

  it("openDiff shows the diff with its description and answers with the accepted text", async (t) => {
    const { bridge, core, editor, file } = await start(t, { "a.txt": "one\n" });
    bridge.send({ type: "openDiff", id: 7, file: file("a.txt"), before: "one\n", after: "two\n", description: "because" });
    const id = await shown(core);
    assert.equal(core.reviews.get(id)?.description, "because");
    editor.view.texts.set(id, "zwei\n");
    core.reviews.edited(id, "zwei\n");
    core.reviews.accept(id, "button");
    const { patch, ...rest } = await bridge.next();
    assert.deepEqual(rest, { type: "diffAccepted", file: file("a.txt"), content: "zwei\n", id: 7 });
    assert.match(String(patch), /^-two\n\+zwei$/m);
    assert.equal(readFileSync(file("a.txt"), "utf8"), "one\n", "the client writes, or asks for applyDiff");
  });

  it("openDiff that is rejected says why", async (t) => {
    const { bridge, core, file } = await start(t, { "a.txt": "one\n" });
    bridge.send({ type: "openDiff", file: file("a.txt"), after: "two\n" });
    core.reviews.reject(await shown(core), "button", "no");
    assert.deepEqual(await bridge.next(), { type: "diffRejected", file: file("a.txt"), reason: "button", feedback: "no" });
  });

  const edits = [{ range: range(1, 0, 3), oldText: "two", newText: "TWO" }];

  it("proposeDiff is shown in one text with the file, and written when it is accepted", async (t) => {
    const { bridge, core, editor, file } = await start(t, { "a.txt": "one\r\ntwo\r\n" });
    bridge.send({ type: "proposeDiff", file: file("a.txt"), edits, description: "why" });
    const id = await shown(core);
    const { inline, original, proposed, description, asks } = editor.view.shown.get(id) ?? assert.fail();
    assert.deepEqual([inline, original, proposed, description], [true, "one\r\ntwo\r\n", "one\r\nTWO\r\n", "why"]);
    assert.match(asks, /^bridge client/);
    assert.equal(readFileSync(file("a.txt"), "utf8"), "one\r\ntwo\r\n");
    core.reviews.accept(id, "button");
    assert.deepEqual(await bridge.next(), { type: "diffAccepted", file: file("a.txt"), content: "one\r\nTWO\r\n", saved: true });
    assert.equal(readFileSync(file("a.txt"), "utf8"), "one\r\nTWO\r\n");
  });

  /** A proposal that waits; text: what the person makes of it. */
  const proposed = async (t: TestContext, text = "one\nTWO\n") => {
    const started = await start(t, { "a.txt": "one\ntwo\n" });
    const { bridge, core, editor } = started;
    const path = started.file("a.txt");
    bridge.send({ type: "proposeDiff", file: path, edits });
    const id = await shown(core);
    editor.view.texts.set(id, text);
    core.reviews.edited(id, text);
    return { ...started, path, id, accept: () => core.reviews.accept(id, "button"), onDisk: () => readFileSync(path, "utf8") };
  };

  it("proposeDiff that is rejected writes nothing, and says why", async (t) => {
    const { bridge, core, editor, path, id } = await proposed(t);
    editor.documents.written = () => assert.fail("written");
    core.reviews.reject(id, "button", "no");
    assert.deepEqual(await bridge.next(), { type: "diffRejected", file: path, reason: "button", feedback: "no" });
  });

  it("proposeDiff answers with the text on disk: the person's edits and the editor's", async (t) => {
    const { bridge, editor, path, accept, onDisk } = await proposed(t, "one\nzwei\n");
    editor.documents.format = (text) => `${text}// formatted\n`;
    accept();
    const { patch, formatEdits, ...rest } = await bridge.next();
    assert.deepEqual(rest, { type: "diffAccepted", file: path, content: "one\nzwei\n// formatted\n", saved: true });
    assert.equal(rest["content"], onDisk());
    assert.match(String(patch), /^-TWO\n\+zwei$/m);
    assert.match(String(formatEdits), /^\+\/\/ formatted$/m);
  });

  it("proposeDiff of a file that changes on disk meanwhile is asked about again, whether the editor tells of it or not", async (t) => {
    for (const isTold of [true, false]) {
      const { bridge, editor, path, accept, onDisk } = await proposed(t, "one\nzwei\n");
      writeFileSync(path, "other\n");
      if (isTold) editor.documents.watchers.get(path)?.();
      accept();
      await until("the question", () => editor.view.staleAnswers.length === 1);
      editor.view.staleAnswers[0]?.("redo");
      const { type, feedback } = await bridge.next();
      assert.equal(type, "diffRejected");
      assert.match(String(feedback), /^-TWO\n\+zwei$/m);
      assert.equal(onDisk(), "other\n");
    }
  });

  it("the person's changes come with the error if an edit cannot be written, and the person is told", async (t) => {
    const changed: [string, (started: Awaited<ReturnType<typeof proposed>>) => void][] = [
      ["PERMISSION_DENIED", ({ editor }) => (editor.documents.saves = false)],
      ["PERMISSION_DENIED", ({ editor }) => (editor.documents.write = () => Promise.reject(Object.assign(new Error("EACCES: not yours"), { code: "EACCES" })))],
      ["INTERNAL", ({ editor }) => (editor.documents.write = () => Promise.reject(new Error("ETXTBSY: text file is busy")))],
    ];
    for (const [code, change] of changed) {
      const started = await proposed(t, "one\nzwei\n");
      change(started);
      started.accept();
      const error = await started.bridge.next();
      assert.equal(error["code"], code);
      assert.match(String(error["patch"]), /^-TWO\n\+zwei$/m);
      assert.equal(started.onDisk(), "one\ntwo\n");
      assert.match(started.editor.warnings.join(), /edit of a\.txt was not written/);
    }
    const { bridge, core, editor, file } = await start(t, { "a.txt": "one\ntwo\n" });
    bridge.send({ type: "applyDiff", file: file("a.txt"), edits });
    const id = await shown(core);
    editor.view.texts.set(id, "one\nzwei\n");
    core.reviews.edited(id, "one\nzwei\n");
    editor.documents.buffers.set(file("a.txt"), { text: "typed\n", isDirty: true, isUntitled: false });
    core.reviews.accept(id, "button");
    const error = await bridge.next();
    assert.deepEqual([error["type"], error["code"]], ["error", "STALE_BASE"]);
    assert.match(String(error["patch"]), /^-TWO\n\+zwei$/m);
  });

  it("another edit of its file is refused while a proposal waits", async (t) => {
    const { bridge, path, onDisk } = await proposed(t);
    for (const type of ["applyDiff", "proposeDiff", "openDiff"]) {
      assert.equal((await bridge.ask({ type, file: path, edits, after: "one\nTWO\n" }))["code"], "BUSY", type);
    }
    assert.equal(onDisk(), "one\ntwo\n");
  });

  it("proposeDiff that waits for another review of the file can be closed", async (t) => {
    const { bridge, core, file } = await start(t, { "a.txt": "one\ntwo\n" });
    bridge.send({ type: "openDiff", file: file("a.txt"), after: "x\n" });
    await shown(core);
    bridge.send({ type: "proposeDiff", id: "p", file: file("a.txt"), edits });
    await settled();
    assert.deepEqual(await bridge.ask({ type: "closeDiff", id: "p" }), { type: "diffRejected", file: file("a.txt"), reason: "closed", id: "p" });
    assert.equal(core.reviews.list().length, 1);
  });

  it("proposeDiff is a diff where the document has unsaved changes", async (t) => {
    const { bridge, core, editor, file } = await start(t, { "a.txt": "one\n" });
    editor.documents.buffers.set(file("a.txt"), { text: "one\ntwo\n", isDirty: true, isUntitled: false });
    bridge.send({ type: "proposeDiff", file: file("a.txt"), edits });
    const id = await shown(core);
    assert.equal(editor.view.shown.get(id)?.proposed, "one\nTWO\n");
    core.reviews.accept(id, "button");
    assert.deepEqual((({ type, saved }) => [type, saved])(await bridge.next()), ["diffAccepted", undefined]);
  });

  it("applyDiff asks, but not about the text that was just accepted, and that once", async (t) => {
    const { bridge, core, editor, file } = await start(t, { "a.txt": "one\ntwo\n" });
    bridge.send({ type: "openDiff", file: file("a.txt"), after: "one\nTWO\n" });
    core.reviews.accept(await shown(core), "button");
    await bridge.next();
    assert.deepEqual(await bridge.ask({ type: "applyDiff", file: file("a.txt"), edits }), { type: "diffAccepted", file: file("a.txt"), content: "one\nTWO\n" });
    assert.deepEqual(editor.documents.edits, [{ path: file("a.txt"), text: "one\nTWO\n" }]);
    assert.equal(readFileSync(file("a.txt"), "utf8"), "one\ntwo\n", "it edits the buffer and does not save");
    editor.documents.buffers.delete(file("a.txt"));
    await until("the first diff is gone", () => core.reviews.list().length === 0);
    bridge.send({ type: "applyDiff", file: file("a.txt"), edits });
    core.reviews.reject(await shown(core), "button");
    assert.equal((await bridge.next())["type"], "diffRejected");
    assert.equal(editor.documents.edits.length, 1);
  });

  for (const when of ["since", "during its review"]) {
    it(`applyDiff asks about the accepted text, too, where it would undo what was typed ${when}`, async (t) => {
      const { bridge, core, editor, file } = await start(t, { "a.txt": "one\ntwo\n" });
      const type = (): unknown => editor.documents.buffers.set(file("a.txt"), { text: "one\ntwo\ntyped\n", isDirty: true, isUntitled: false });
      bridge.send({ type: "openDiff", file: file("a.txt"), after: "one\nTWO\n" });
      const id = await shown(core);
      if (when !== "since") type();
      core.reviews.accept(id, "button");
      await bridge.next();
      if (when === "since") type();
      await until("the first diff is gone", () => core.reviews.list().length === 0);
      bridge.send({ type: "applyDiff", file: file("a.txt"), after: "one\nTWO\n" });
      await until("the question, or the edit", () => core.reviews.list().some(({ state }) => state === "shown") || editor.documents.edits.length > 0);
      assert.deepEqual(editor.documents.edits, []);
      core.reviews.reject(await shown(core), "button");
      assert.equal((await bridge.next())["type"], "diffRejected");
      assert.deepEqual(editor.documents.edits, []);
    });
  }

  it("closeDiff ends everything open about a file; each pending message gets its own answer", async (t) => {
    const { bridge, core, file } = await start(t, { "a.txt": "one\ntwo\n" });
    bridge.send({ type: "openDiff", file: file("a.txt"), after: "x\n" });
    await shown(core);
    assert.deepEqual(await bridge.ask({ type: "closeDiff", file: file("a.txt") }), { type: "diffRejected", file: file("a.txt"), reason: "closed" });
    await until("the diff is gone", () => core.reviews.list().length === 0);
    bridge.send({ type: "proposeDiff", file: file("a.txt"), id: "p", edits });
    await shown(core);
    assert.equal((await bridge.ask({ type: "closeDiff", id: "p" }))["reason"], "closed");
    assert.equal((await bridge.ask({ type: "closeDiff", file: file("a.txt") }))["code"], "DIFF_NOT_FOUND");
  });

  it("status is shown", async (t) => {
    const { bridge, editor } = await start(t);
    bridge.send({ type: "status", message: "thinking", level: "info" });
    await until("it", () => editor.clients[0]?.status?.text === "thinking");
    bridge.send({ type: "status", message: "oh", level: "error" });
    await until("it", () => editor.clients[0]?.status?.state === "error");
  });

  const errors: [string, (file: (name: string) => string) => Message | string, string][] = [
    ["no JSON", () => "{", "INVALID_MESSAGE"],
    ["no type", () => "{}", "INVALID_MESSAGE"],
    ["a list", () => "[]", "INVALID_MESSAGE"],
    ["an unknown type", () => ({ type: "format" }), "INVALID_PARAMS"],
    ["no file", () => ({ type: "openDiff", after: "" }), "INVALID_PARAMS"],
    ["no text", (file) => ({ type: "openDiff", file: file("a.txt") }), "INVALID_PARAMS"],
    ["a file outside", () => ({ type: "openDiff", file: "/etc/hosts", after: "" }), "OUTSIDE_WORKSPACE"],
    ["another text before", (file) => ({ type: "openDiff", file: file("a.txt"), before: "other\n", after: "" }), "STALE_BASE"],
    ["a file that is not there", (file) => ({ type: "proposeDiff", file: file("none.txt"), edits }), "FILE_NOT_FOUND"],
    ["a file that is not there, to apply", (file) => ({ type: "applyDiff", file: file("none.txt"), edits }), "FILE_NOT_FOUND"],
    ["edits of another text", (file) => ({ type: "proposeDiff", file: file("a.txt"), edits: [{ range: range(0, 0, 3), oldText: "two", newText: "" }] }), "HUNK_MISMATCH"],
    ["a line that is not there", (file) => ({ type: "applyDiff", file: file("a.txt"), edits: [{ range: range(9, 0, 0), newText: "" }] }), "HUNK_MISMATCH"],
    ["edits that are none", (file) => ({ type: "proposeDiff", file: file("a.txt"), edits: [] }), "INVALID_PARAMS"],
    ["nothing to close", (file) => ({ type: "closeDiff", file: file("a.txt") }), "DIFF_NOT_FOUND"],
  ];
  for (const [what, message, code] of errors) {
    it(`answer an error to ${what}, with its file`, async (t) => {
      const { bridge, file } = await start(t, { "a.txt": "one\ntwo\n" });
      const sent = message(file);
      const answer = await bridge.ask(typeof sent === "string" ? sent : { ...sent, id: 3 });
      assert.deepEqual([answer["type"], answer["code"]], ["error", code]);
      if (typeof sent !== "string") assert.deepEqual([answer["file"], answer["id"]], [sent["file"], 3]);
    });
  }
});

describe("C3: authentication", () => {
  it("is by the lock's token, in a header", async (t) => {
    const { url } = await start(t);
    await assert.rejects(Bridge.dial(t, url, {}), /401/);
    await assert.rejects(Bridge.dial(t, url, { [tokenHeader]: "wrong" }), /401/);
    await assert.rejects(Bridge.dial(t, url, { Origin: "http://localhost" }), /403/);
  });

  it("is not asked for once that was chosen, and a client that knows no path is let in only with the file's place chosen too", async (t) => {
    const { editor, url, port, home, lockPath, core } = await start(t);
    editor.settings.bridgeRequireAuth = false;
    assert.equal((await (await Bridge.dial(t, url, {})).ask({ type: "connect" }))["type"], "connected");
    await assert.rejects(Bridge.dial(t, url, { Origin: "http://localhost" }), /403/);
    await assert.rejects(Bridge.dial(t, `ws://127.0.0.1:${port}/`, {}), /401/);
    editor.settings.bridgeFile = join(home, "elsewhere.json");
    core.windowChanged({});
    await until("the file", () => existsSync(join(home, "elsewhere.json")));
    assert.equal("authToken" in (JSON.parse(readFileSync(join(home, "elsewhere.json"), "utf8")) as object), false);
    assert.equal((await (await Bridge.dial(t, `ws://127.0.0.1:${port}/`, {})).ask({ type: "connect" }))["type"], "connected");
    const agent = await WsClient.connect(t, lockPath);
    assert.ok((await agent.request("tools/list", {})).result, "an agent is still let in by its token");
  });

  it("is shut while the setting is off", async (t) => {
    const { editor, url, authToken } = await start(t);
    editor.settings.bridgeEnabled = false;
    await assert.rejects(Bridge.dial(t, url, { [tokenHeader]: authToken }), /404/);
  });
});

describe("C4: a client that vanishes", () => {
  it("leaves nothing open", async (t) => {
    const { bridge, core, editor, file } = await start(t, { "a.txt": "one\n", "b.txt": "one\n" });
    bridge.send({ type: "openDiff", file: file("a.txt"), after: "x\n" });
    bridge.send({ type: "proposeDiff", file: file("b.txt"), edits: [{ range: range(0, 0, 3), newText: "x" }] });
    await shown(core);
    await until("the proposal", () => core.reviews.list().filter(({ state }) => state === "shown").length === 2);
    bridge.socket.terminate();
    await until("both are over", () => core.reviews.list().length === 0);
    assert.deepEqual(editor.clients, []);
    await settled();
  });
});

describe("edits of ranges", () => {
  it("are each of the text as it was, whatever their order", () => {
    const made = parseEdits([
      { range: range(1, 0, 3), newText: "2" }, { range: range(0, 0, 0), newText: "zero\n" }, { range: range(0, 1, 3), oldText: "ne", newText: "NE" },
    ]);
    assert.equal(applyEdits("one\r\ntwo\r\n", made), "zero\noNE\r\n2\r\n");
    assert.throws(() => applyEdits("one\n", parseEdits([{ range: range(0, 0, 2), newText: "" }, { range: range(0, 1, 3), newText: "" }])), /overlap/);
    assert.throws(() => applyEdits("one\n", parseEdits([{ range: range(0, 0, 4), newText: "" }])), /no character 4/);
    assert.throws(() => parseEdits([{ range: range(-1, 0, 0), newText: "" }]), /line and character/);
  });
});
