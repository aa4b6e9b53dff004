// The editor as an MCP server, where it is more than one window, port or file (rows B1, B9 to B11, C1, C4).
import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";

import { connect, entryOf } from "./lib/door.mjs";
import { startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const CLAUDE = '{\n  // mine\n  "theme": "dark",\n  "mcpServers": { "other": { "type": "stdio", "command": "x" } },\n}\n';

describe("a window of several, on a port that is taken", () => {
  const taken = net.createServer();
  let session;
  let place;
  before(async () => {
    await new Promise((done) => taken.listen(0, "127.0.0.1", done));
    session = await startSession({
      files: { "a.txt": "one\n", bin: "a\0b" },
      settings: { "agent.port": taken.address().port, "agent.bridge.enabled": true, "agent.approvalMode": "never" },
    });
    place = await session.lock();
  });
  afterEach((t) => (t.passed === false ? session.keep(t.name) : undefined));
  after(async () => {
    await session?.stop();
    taken.close();
  });
  const command = (name) => session.probe("await vscode.commands.executeCommand(args[0])", name);
  const bridge = () => JSON.parse(fs.readFileSync(path.join(session.host.agentHome, "ide/bridge.json"), "utf8"));

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

  it("B11: a binary file is an error, and stays as it is", async () => {
    const door = await connect(session, { lock: place });
    for (const tool of ["read_file", "write_file"]) {
      assert.equal((await door.json(tool, { path: "bin", content: "x" })).code, "BINARY_FILE", tool);
    }
    await door.close();
    assert.equal(session.read("bin").toString(), "a\0b");
  });

  it("B9, B11, C1, C4: a second window, without a folder, has its own port where the configured one is taken, and bridge.json names it", async () => {
    const known = session.host.locks().map(({ port }) => port);
    const second = await session.bench.another(`http://127.0.0.1:${session.host.port}/?ew=true`);
    const there = await until("the second window", () => session.host.locks().find(({ port }) => !known.includes(port)), 60_000);
    assert.deepEqual(there.workspaceFolders, []);
    assert.ok(session.agentLog().includes(`EADDRINUSE: address already in use 127.0.0.1:${taken.address().port}`));
    assert.equal((await entryOf(session, there)).url, `http://127.0.0.1:${there.port}/mcp`);
    await until("bridge.json names the second", () => bridge().port === there.port);
    const door = await connect(session, { lock: there });
    for (const [tool, args] of [["write_file", { path: "a.txt", content: "x" }], ["read_file", { path: "a.txt" }], ["execute_command", { command: "ls" }]]) {
      assert.equal((await door.json(tool, args)).code, "NO_WORKSPACE", tool);
    }
    await door.close();
    const here = await connect(session, { lock: place });
    assert.match(await here.text("read_file", { path: "a.txt" }), /one/);
    await here.close();
    await second.page.close({ runBeforeUnload: false });
  });
});
