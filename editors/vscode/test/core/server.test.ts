import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import WebSocket from "ws";
import { Guard, newToken, tokenHeader } from "../../src/core/guard";
import { maxPayload, Server } from "../../src/core/server";
import type { Connection } from "../../src/core/server";
import { atEnd } from "./ending";
import { ManualClock, until } from "./fakes";

const token = newToken();
const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/** A server that echoes, on a port of its own. */
async function serve(t: TestContext, wished = 0) {
  const clock = new ManualClock();
  const log: string[] = [];
  const note = (message: string): number => log.push(message);
  const connections: Connection[] = [];
  let closed = 0;
  const server = new Server({
    clock,
    log: { debug: note, info: note, warn: note, error: note },
    guard: new Guard(token),
    http: [],
    sockets: [
      {
        path: "/",
        guard: new Guard(token),
        connected: (connection) => {
          connections.push(connection);
          return { message: (text) => connection.send(`echo ${text}`), closed: () => closed++ };
        },
      },
    ],
  });
  const port = await server.listen(wished);
  atEnd(t, () => server.close());
  return { server, port, clock, log, connections, closed: () => closed };
}

/** The status line that a raw request gets. */
function raw(port: number, head: string, host = "127.0.0.1"): Promise<number> {
  return new Promise((done, fail) => {
    const socket = connect({ port, host });
    let got = "";
    socket.on("data", (data) => {
      got += data.toString("latin1");
      const status = /^HTTP\/1\.1 (\d+)/.exec(got);
      if (status === null) return;
      socket.destroy();
      done(Number(status[1]));
    });
    socket.on("error", fail);
    socket.on("close", () => fail(new Error(`closed after ${JSON.stringify(got)}`)));
    socket.write(head);
  });
}

function handshake(port: number, more: { host?: string; token?: string; headers?: string; path?: string }): string {
  const auth = more.token === undefined ? "" : `X-Agent-IDE-Authorization: ${more.token}\r\n`;
  return `GET ${more.path ?? "/"} HTTP/1.1\r\nHost: ${more.host ?? `127.0.0.1:${port}`}\r\n${upgrade}${auth}${more.headers ?? ""}\r\n`;
}

function dial(t: TestContext, port: number, protocols: string[] = ["mcp"], options: WebSocket.ClientOptions = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, protocols, { headers: { [tokenHeader]: token }, ...options });
  atEnd(t, () => socket.terminate());
  return new Promise((done, fail) => {
    socket.on("open", () => done(socket));
    socket.on("error", fail);
  });
}

describe("a handshake", () => {
  const cases: [string, Parameters<typeof handshake>[1], number][] = [
    ["with the token", { token }, 101],
    ["to localhost", { token, host: "localhost:PORT" }, 101],
    ["with a query, which means nothing", { token, path: "/?token=x" }, 101],
    ["without a token", {}, 401],
    ["with an empty token", { token: "" }, 401],
    ["with a wrong token", { token: newToken() }, 401],
    ["with the token but its end", { token: token.slice(0, -1) }, 401],
    ["with the token and more", { token: token + "x" }, 401],
    ["with the token in other case", { token: token.toLowerCase() }, 401],
    ["with the token twice", { token, headers: `${tokenHeader}: ${token}\r\n` }, 401],
    ["with the token as bearer", { headers: `Authorization: Bearer ${token}\r\n` }, 401],
    ["with the token in the query", { path: `/?${tokenHeader}=${token}` }, 401],
    ["with an Origin", { token, headers: "Origin: http://localhost\r\n" }, 403],
    ["with the Origin null", { token, headers: "Origin: null\r\n" }, 403],
    ["with the Origin of a webview", { token, headers: "Origin: vscode-webview://x\r\n" }, 403],
    ["with an empty Origin", { token, headers: "Origin: \r\n" }, 403],
    ["from a browser", { token, headers: "Sec-Fetch-Site: none\r\n" }, 403],
    ["to a foreign host", { token, host: "evil.example:PORT" }, 403],
    ["to another port", { token, host: "127.0.0.1:1" }, 403],
    ["to a host without port", { token, host: "127.0.0.1" }, 403],
    ["to a look-alike", { token, host: "127.0.0.1:PORT.evil.example" }, 403],
    ["to another loopback address", { token, host: "[::1]:PORT" }, 403],
    ["to another path", { token, path: "/other" }, 404],
  ];
  for (const [name, request, status] of cases) {
    it(`${name}: ${status}`, async (t) => {
      const { port, connections } = await serve(t);
      const host = request.host?.replace("PORT", String(port));
      assert.equal(await raw(port, handshake(port, { ...request, ...(host === undefined ? {} : { host }) })), status);
      assert.equal(connections.length, status === 101 ? 1 : 0);
    });
  }

  const attempts = process.env["AGENT_TEST_FULL"] === "1" ? 10_000 : 1_000;
  it(`by guesses, ${attempts} of them: none accepted`, async (t) => {
    const { port, connections, log } = await serve(t);
    const guesses = [
      () => handshake(port, {}),
      () => handshake(port, { token: newToken() }),
      (i: number) => handshake(port, { token: nearMiss(i) }),
      () => handshake(port, { token, headers: "Origin: https://evil.example\r\n" }),
      () => handshake(port, { token, host: "evil.example" }),
    ];
    const counts: Record<number, number> = {};
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let i = next++; i < attempts; i = next++) {
        const status = await raw(port, guesses[i % guesses.length]?.(i) ?? "");
        counts[status] = (counts[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    assert.deepEqual(counts, { 401: (attempts * 3) / 5, 403: (attempts * 2) / 5 });
    assert.equal(connections.length, 0);
    assert.ok(log.filter((line) => line.startsWith("refused")).length <= 2, "guesses do not fill the log");
    assert.ok(!log.join().includes(token));
    t.diagnostic(`${attempts} handshakes refused: ${JSON.stringify(counts)}`);
  });

  it("beyond sixteen connections: 503", async (t) => {
    const { port, connections } = await serve(t);
    for (let i = 0; i < 16; i++) await dial(t, port);
    assert.equal(await raw(port, handshake(port, { token })), 503);
    assert.equal(connections.length, 16);
  });

  it("gets the subprotocol that we know and no compression", async (t) => {
    const { port } = await serve(t);
    const socket = await dial(t, port, ["other", "mcp"], { perMessageDeflate: true });
    assert.deepEqual([socket.protocol, socket.extensions], ["mcp", ""]);
    assert.equal((await dial(t, port, [])).protocol, "");
  });
});

/** The token with one character changed. */
function nearMiss(i: number): string {
  const at = i % token.length;
  return token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
}

describe("a plain request", () => {
  const cases: [string, string, number][] = [
    ["without a token", "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n", 401],
    ["with the token", `GET / HTTP/1.1\r\nHost: HOST\r\n${tokenHeader}: ${token}\r\n\r\n`, 426],
    ["to another path", `GET /mcp HTTP/1.1\r\nHost: HOST\r\n${tokenHeader}: ${token}\r\n\r\n`, 404],
    ["that asks whether a page may", `OPTIONS / HTTP/1.1\r\nHost: HOST\r\nOrigin: http://x\r\n\r\n`, 403],
    ["without a host", "GET / HTTP/1.0\r\n\r\n", 403],
  ];
  for (const [name, request, status] of cases) {
    it(`${name}: ${status}`, async (t) => {
      const { port } = await serve(t);
      assert.equal(await raw(port, request.replace("HOST", `127.0.0.1:${port}`)), status);
    });
  }
});

describe("the address", () => {
  // On Linux the whole of 127.0.0.0/8 is this machine.
  for (const host of process.platform === "linux" ? ["::1", "127.0.0.2"] : ["::1"]) {
    it(`is not ${host}`, async (t) => {
      const { port } = await serve(t);
      await assert.rejects(raw(port, handshake(port, { token }), host));
    });
  }

  it("has the wished port if it is free, else another", async (t) => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
    atEnd(t, () => taken.close());
    const { port: busy } = taken.address() as { port: number };
    const first = await serve(t, busy);
    assert.notEqual(first.port, busy);
    await dial(t, first.port);
    await first.server.close();
    assert.equal((await serve(t, first.port)).port, first.port);
  });
});

describe("a connection", () => {
  it("carries text both ways", async (t) => {
    const { port } = await serve(t);
    const socket = await dial(t, port);
    const got = new Promise<string>((done) => socket.on("message", (data: Buffer) => done(data.toString())));
    socket.send("größe 😀");
    assert.equal(await got, "echo größe 😀");
  });

  const closings: [string, (socket: WebSocket) => void, number][] = [
    ["that sends bytes", (socket) => socket.send(Buffer.from("x"), { binary: true }), 1003],
    ["that sends more than the limit", (socket) => socket.send("x".repeat(maxPayload + 1)), 1009],
    ["that sends no UTF-8", (socket) => socket.send(Buffer.from([0xff]), { binary: false }), 1007],
  ];
  for (const [name, act, code] of closings) {
    it(`${name} is closed with ${code}`, async (t) => {
      const { port, closed } = await serve(t);
      const socket = await dial(t, port);
      socket.on("error", () => undefined);
      const got = new Promise<number>((done) => socket.on("close", done));
      act(socket);
      assert.equal(await got, code);
      await until("the handler hears of it", () => closed() === 1);
    });
  }

  it("takes a message of the limit", async (t) => {
    const { port } = await serve(t);
    const socket = await dial(t, port);
    const got = new Promise<number>((done) => socket.on("message", (data: Buffer) => done(data.length)));
    socket.send("x".repeat(maxPayload));
    assert.equal(await got, maxPayload + "echo ".length);
  });

  it("that answers pings lives", async (t) => {
    const { port, clock, closed } = await serve(t);
    const socket = await dial(t, port);
    let pings = 0;
    socket.on("ping", () => pings++);
    for (let i = 1; i <= 4; i++) {
      clock.advance(30_000);
      await until("a ping", () => pings === i);
    }
    assert.equal(closed(), 0);
  });

  it("that answers none for 90 seconds is ended", async (t) => {
    const { port, clock, closed } = await serve(t);
    const socket = await dial(t, port, ["mcp"], { autoPong: false });
    socket.on("error", () => undefined);
    clock.advance(89_999);
    assert.equal(closed(), 0);
    clock.advance(1);
    await until("the end", () => closed() === 1);
  });

  it("that does not read is ended before it costs much", async (t) => {
    const { port, connections, closed, log } = await serve(t);
    const socket = await dial(t, port);
    socket.on("error", () => undefined);
    socket.pause();
    const chunk = "x".repeat(8 * 1024 * 1024);
    for (let i = 0; i < 12; i++) connections[0]?.send(chunk);
    await until("the end", () => closed() === 1);
    assert.ok(log.some((line) => line.includes("does not read")));
  });

  it("hears of the end of the server", async (t) => {
    const { server, port } = await serve(t);
    const socket = await dial(t, port);
    const got = new Promise<number>((done) => socket.on("close", done));
    await server.close();
    assert.equal(await got, 1001);
  });
});
