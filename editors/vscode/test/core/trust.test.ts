// Who is believed: agents of another version, and a stranger on a port that was ours.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import WebSocket from "ws";
import { createCore } from "../../src/core/core";
import type { Core } from "../../src/core/core";
import { newToken } from "../../src/core/guard";
import { lastingToken } from "../../src/core/mcptokens";
import type { McpPlace, Vault } from "../../src/core/mcptokens";
import { nonceHeader } from "../../src/core/proof";
import { follow } from "../../src/core/register";
import { atEnd } from "./ending";
import { FakeEditor, tempFolder, until } from "./fakes";
import { secretIn, startCore } from "./wsclient";

/** Listens on a port in another process; as root in one of another user. */
async function listenAsAnother(t: TestContext, port: number): Promise<{ sent(): string }> {
  const listens = "require('net').createServer((s) => s.on('data', (d) => process.stdout.write(d)).on('error', () => {}))";
  const script = `${listens}.listen(${port}, "127.0.0.1", () => console.log("listens"))`;
  const user = process.getuid?.() === 0 ? { uid: 61_234, gid: 61_234 } : {};
  const child = spawn(process.execPath, ["-e", script], { cwd: "/", stdio: ["ignore", "pipe", "inherit"], ...user });
  atEnd(t, () => child.kill("SIGKILL"));
  let sent = "";
  child.stdout.on("data", (data: Buffer) => (sent += data.toString()));
  await until("the stranger listens", () => sent.startsWith("listens"));
  return { sent: () => sent };
}

describe("a token at the door of agents", () => {
  it("opens nothing: both sides prove there", async (t) => {
    const { port, lockPath } = await startCore(t, tempFolder(t));
    const { authToken } = JSON.parse(readFileSync(lockPath, "utf8")) as { authToken: string };
    const secret = await secretIn(lockPath);
    const dial = (token: string): Promise<string> =>
      new Promise((done) => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/`, "mcp", { headers: { "x-agent-ide-authorization": token } });
        socket.on("unexpected-response", (_, res) => done(String(res.statusCode)));
        socket.on("error", () => undefined);
        socket.on("open", () => done("it was let in"));
      });
    assert.deepEqual([await dial(authToken), await dial(secret), await dial("wrong")], ["401", "401", "401"]);
  });
});

describe("the token for MCP clients", () => {
  const place = (port: number, more: Partial<McpPlace> = {}): McpPlace => ({ port, moved: false, lost: undefined, ...more });
  const vault = (text?: string): Vault & { text: string | undefined } => {
    const kept = { text, get: () => Promise.resolve(kept.text), set: (now: string) => Promise.resolve(void (kept.text = now)) };
    return kept;
  };

  it("stays while the port does, and is another on each other port", async () => {
    const kept = vault("the-one-token-of-an-earlier-version");
    const first = await lastingToken(kept, place(5765));
    assert.equal(await lastingToken(kept, place(5765)), first);
    const moved = await lastingToken(kept, place(40_000, { moved: true }));
    assert.notEqual(moved, first);
    assert.equal(await lastingToken(kept, place(40_000)), moved);
    assert.notEqual(await lastingToken(kept, place(40_000, { moved: true })), moved, "a window that moves gets a new one");
    assert.equal(await lastingToken(kept, place(5765)), first, "another window of ours had the port meanwhile");
  });

  it("is another one after a stranger held its port", async () => {
    const kept = vault();
    const known = await lastingToken(kept, place(5765));
    await lastingToken(kept, place(40_000, { moved: true, lost: 5765 }));
    assert.ok(!kept.text?.includes(known));
    assert.notEqual(await lastingToken(kept, place(5765)), known);
    for (let port = 1; port < 100; port++) await lastingToken(kept, place(port));
    assert.ok((JSON.parse(kept.text ?? "") as unknown[]).length <= 32);
  });

  it("is not what a stranger on the old port was sent: the entry of clients is rewritten", async (t) => {
    const home = tempFolder(t);
    const kept = vault();
    const file = join(home, "client.json");
    const open = async (port: number): Promise<Core> => {
      const core = createCore(new FakeEditor().ports, { version: "0.1.0", home, port, pid: process.pid, mcpToken: (where) => lastingToken(kept, where) });
      await core.start();
      return core;
    };
    const registered = (): string => readFileSync(file, "utf8");
    const enter = (core: Core): Promise<unknown> => follow(file, home, { port: core.port ?? 0, entry: core.mcpEntry() }, (port) => core.isWindow(port));
    const first = await open(0);
    const port = first.port ?? 0;
    const old = String(first.mcpEntry()?.headers["Authorization"]);
    await enter(first);
    const second = await open(port); // while the first has it
    assert.deepEqual(await enter(second), { did: "left", port });
    assert.ok(registered().includes(old));
    await second.stop();
    await first.stop();
    const stranger = await listenAsAnother(t, port);
    writeFileSync(join(home, "ide", `${port}.lock`), JSON.stringify({ v: 1, pid: process.pid, secret: newToken() })); // a number that is in use again
    const third = await open(port);
    atEnd(t, () => third.stop());
    assert.notEqual(third.port, port);
    assert.deepEqual(await enter(third), { did: "wrote" });
    const now = String(third.mcpEntry()?.headers["Authorization"]);
    assert.notEqual(now, old);
    assert.ok(registered().includes(now) && !registered().includes(old));
    assert.ok(!registered().includes(`:${port}/`));
    assert.ok(stranger.sent().includes(nonceHeader), "the stranger was asked for a proof");
    assert.ok(!stranger.sent().includes(old) && !stranger.sent().includes(now), "and is sent no token");
  });
});
