// The editor as an MCP server, with more than one window, port or file (rows B1, B9 to B11,
// C1, C3, C4).
import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";

import WebSocket from "ws";

import { Client } from "./lib/client.mjs";
import { connect, entryOf } from "./lib/door.mjs";
import { makeFolder } from "./lib/folder.mjs";
import { readOnly } from "./lib/readonly.mjs";
import { keepSettings, startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const CLAUDE = '{\n  // mine\n  "theme": "dark",\n  "mcpServers": { "other": { "type": "stdio", "command": "x" } },\n}\n';

describe("a window of several, on a port that is taken", () => {
  const taken = net.createServer();
  const bridgeFile = path.join(makeFolder(), "bridge.json");
  let session;
  let place;
  before(async () => {
    await new Promise((done) => taken.listen(0, "127.0.0.1", done));
    session = await startSession({
      files: { "a.txt": "one\n", "locked.txt": "mine\n", bin: "a\0b" },
      settings: {
        "agent.port": taken.address().port,
        "agent.bridge.enabled": true,
        "agent.bridge.file": bridgeFile,
        "agent.approvalMode": "never",
      },
    });
    place = await session.lock();
  });
  keepSettings(() => session);
  afterEach((t) => (t.passed === false ? session.keep(t.name) : undefined));
  after(async () => {
    await session?.stop();
    taken.close();
    fs.rmSync(path.dirname(bridgeFile), { recursive: true });
  });
  const command = (name) => session.probe("await vscode.commands.executeCommand(args[0])", name);
  const bridge = () => JSON.parse(fs.readFileSync(bridgeFile, "utf8"));

  it("B1: an unknown session is not found, and a wrong token is refused before that", async () => {
    const { url, headers } = await entryOf(session, place);
    const ask = (more) =>
      fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-session-id": "none", ...more },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
      });
    const unknown = await ask({});
    assert.equal(unknown.status, 404);
    assert.deepEqual((await unknown.json()).error, { code: -32000, message: "Session not found" });
    assert.equal((await ask({ Authorization: "Bearer wrong" })).status, 401);
  });

  it("B10: registers by command, leaves the rest of the file alone, and takes its entry back", async () => {
    const file = path.join(session.host.env.HOME, ".claude.json");
    fs.writeFileSync(file, CLAUDE, { mode: 0o640 });
    await command("agent.mcp.register");
    const entry = JSON.stringify({ type: "http", ...(await entryOf(session, place)) });
    assert.equal(fs.readFileSync(file, "utf8"), CLAUDE.replace('{ "other"', `{ "agent": ${entry}, "other"`));
    assert.equal(fs.statSync(file).mode & 0o777, 0o600, "it holds a token now");
    assert.equal(fs.readFileSync(`${file}.before-agent`, "utf8"), CLAUDE);
    const { ino } = fs.statSync(file);
    await command("agent.mcp.register");
    assert.equal(fs.statSync(file).ino, ino, "it is right already");
    await command("agent.mcp.unregister");
    assert.equal(fs.readFileSync(file, "utf8").replaceAll(/\s+/g, ""), CLAUDE.replaceAll(/\s+/g, ""));
    fs.rmSync(file);
  });

  it("B10: the entry follows agent.requireAuth and agent.mcp.enabled", async () => {
    const file = path.join(session.host.env.HOME, ".claude.json");
    const stored = () => JSON.parse(fs.readFileSync(file, "utf8")).mcpServers?.agent;
    const set = (name, value) => session.configure({ [`agent.${name}`]: value });
    await command("agent.mcp.register");
    assert.match(stored().headers.Authorization, /^Bearer /);
    await set("requireAuth", false);
    await until("the entry without a token", () => stored()?.headers.Authorization === undefined);
    await set("mcp.enabled", false);
    await until("the entry to go", () => stored() === undefined);
    await set("requireAuth", null);
    await set("mcp.enabled", null);
    await until("the entry to come back", () => stored()?.headers.Authorization !== undefined);
    await command("agent.mcp.unregister");
    assert.equal(stored(), undefined);
    fs.rmSync(file);
  });

  it("B9: agent.mcp.enabled shuts the door for MCP clients at once, and no other", async () => {
    const { url, headers } = await entryOf(session, place);
    const entryFile = path.join(session.host.agentHome, "ide", `${place.port}.mcp.json`);
    const set = (value) => session.configure({ "agent.mcp.enabled": value });
    const knock = (more) => fetch(url, { method: "POST", headers: more, body: "{}" }).then(({ status }) => status);
    const earlier = await connect(session, { lock: place });
    await set(false);
    try {
      await until("the entry for MCP clients to go", () => !fs.existsSync(entryFile));
      await assert.rejects(earlier.text("read_file", { path: "a.txt" }), "who was in is out");
      assert.equal(await knock(headers), 401, "as at any path where nothing is");
      assert.equal(await knock({ "x-agent-ide-authorization": place.authToken }), 404);
      const { doors } = session.host.locks().find(({ port }) => port === place.port);
      assert.deepEqual(doors.map(({ kind }) => kind), ["bridge"]);
      const agent = await Client.connect(place);
      assert.equal(JSON.parse((await agent.call("getWorkspaceFolders"))[0]).folders[0].path, session.folder);
      agent.close();
    } finally {
      await set(null);
    }
    assert.deepEqual(await entryOf(session, place), { url, headers }, "what a client was told still holds");
    const again = await connect(session, { lock: place });
    assert.match(await again.text("read_file", { path: "a.txt" }), /one/);
    await again.close();
    await earlier.close();
  });

  it("B11: a binary file is an error, and stays as it is", async () => {
    const door = await connect(session, { lock: place });
    for (const tool of ["read_file", "write_file"]) {
      assert.equal((await door.json(tool, { path: "bin", content: "x" })).code, "BINARY_FILE", tool);
    }
    await door.close();
    assert.equal(session.read("bin").toString(), "a\0b");
  });

  it("B11: a file that may not be written is an error, and stays as it is", async () => {
    const door = await connect(session, { lock: place });
    const release = readOnly(session.file("locked.txt"));
    try {
      const answer = await door.json("write_file", { path: "locked.txt", content: "theirs\n" });
      assert.equal(answer.code, "PERMISSION_DENIED", JSON.stringify(answer));
    } finally {
      release();
      await door.close();
    }
    assert.equal(session.read("locked.txt").toString(), "mine\n");
    const open = `return vscode.workspace.textDocuments.filter((document) => document.isDirty).length`;
    assert.equal(await session.probe(open), 0, "it is left unsaved in the editor");
  });

  describe("for a program of the original kind, which knows of no token", () => {
    /** What such a program gets: it reads the file and connects to the port there. */
    const original = async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${bridge().port}/`);
      const received = [];
      socket.on("message", (data) => received.push(JSON.parse(data.toString("utf8"))));
      const status = await new Promise((resolve, reject) => {
        socket.once("open", () => resolve(101)).once("error", reject);
        socket.once("unexpected-response", (request, response) => {
          resolve(response.statusCode);
          request.destroy();
        });
      });
      return { socket, status, next: () => until("an answer", () => received.shift()) };
    };
    const require = (value) => session.configure({ "agent.bridge.requireAuth": value });
    after(() => require(undefined));

    it("C3: the door is shut by default", async () => {
      assert.equal((await original()).status, 401);
      assert.equal(typeof bridge().authToken, "string");
    });

    it("C3: opened by the person, it says what that means, and the program works unchanged", async () => {
      await require(false);
      await session.page.locator(".notification-toast", { hasText: "every program on this computer can show edits in this window" }).waitFor();
      await until("bridge.json has no token", () => bridge().authToken === undefined);
      const { socket, status, next } = await original();
      assert.equal(status, 101);
      socket.send(JSON.stringify({ type: "connect", client: "original" }));
      assert.equal((await next()).type, "connected");
      socket.send(JSON.stringify({ type: "openDiff", file: session.file("a.txt"), before: "one\n", after: "ONE\n" }));
      await session.bench.diffShown();
      await session.bench.press("Accept");
      const answer = await next();
      assert.deepEqual([answer.type, answer.content], ["diffAccepted", "ONE\n"]);
      assert.equal(session.read("a.txt").toString(), "one\n");
      socket.close();
    });

    it("C3: it is shut again when the person says so", async () => {
      await require(true);
      await until("bridge.json has a token", () => typeof bridge().authToken === "string");
      assert.equal((await original()).status, 401);
    });
  });

  describe("and a second one, without a folder", () => {
    let second;
    let there;
    before(async () => {
      const known = session.host.locks().map(({ port }) => port);
      second = await session.bench.another(`http://127.0.0.1:${session.host.port}/?ew=true`);
      there = await until("the second window", () => session.host.locks().find(({ port }) => !known.includes(port)), 120_000);
    });
    after(() => second?.page.close());

    it("B9, C1, C4: has its own port where the configured one is taken, and bridge.json names it", async () => {
      assert.deepEqual(there.workspaceFolders, []);
      assert.ok(session.agentLog().includes(`EADDRINUSE: address already in use 127.0.0.1:${taken.address().port}`));
      assert.equal((await entryOf(session, there)).url, `http://127.0.0.1:${there.port}/mcp`);
      await until("bridge.json names the second", () => bridge().port === there.port);
    });

    it("C1, C4: bridge.json moves to the window that gets the focus, and back", async () => {
      const toFirst = { lock: place, bench: session.bench, other: second };
      const toSecond = { lock: there, bench: second, other: session.bench };
      for (const { lock, bench, other } of [toSecond, toFirst, toSecond, toFirst, toSecond]) {
        await bench.focus(other);
        await until("bridge.json names the window with the focus", () => bridge().port === lock.port);
        assert.deepEqual([bridge().pid, bridge().workspaceFolders], [lock.pid, lock.workspaceFolders]);
        const newest = () => session.host.locks().toSorted((a, b) => b.focusedAt - a.focusedAt)[0];
        await until("agents to prefer it", () => newest().port === lock.port);
      }
    });

    it("B11: reports that it has no workspace, and the first goes on", async () => {
      const door = await connect(session, { lock: there });
      for (const [tool, args] of [["write_file", { path: "a.txt", content: "x" }], ["read_file", { path: "a.txt" }], ["execute_command", { command: "ls" }]]) {
        assert.equal((await door.json(tool, args)).code, "NO_WORKSPACE", tool);
      }
      await door.close();
      const here = await connect(session, { lock: place });
      assert.match(await here.text("read_file", { path: "a.txt" }), /one/);
      await here.close();
    });

    it("C4: bridge.json goes with its window, and the one that is left has it when it gets the focus", async () => {
      assert.equal(bridge().port, there.port);
      await second.page.goto("about:blank");
      await until("the window to go", () => !session.host.locks().some(({ port }) => port === there.port));
      await until("bridge.json to go", () => !fs.existsSync(bridgeFile));
      await session.bench.focus();
      await until("bridge.json names the first", () => fs.existsSync(bridgeFile) && bridge().port === place.port);
    });
  });
});
