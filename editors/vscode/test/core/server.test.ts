import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import WebSocket from "ws";
import { Guard, newToken, tokenHeader } from "../../src/core/guard";
import { Handshake, newNonce, nonceHeader, proofHeader, proveMethod } from "../../src/core/proof";
import { maxPayload, Server } from "../../src/core/server";
import type { Connection } from "../../src/core/server";
import { atEnd } from "./ending";
import { ManualClock, until } from "./fakes";
import { knock } from "./prover";

const secret = newToken();
const nonce = newNonce();
const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/** Who has proved, by the port of the server. */
const served = new Map<number, readonly Connection[]>();

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
    guard: new Guard(undefined),
    http: [],
    sockets: [
      {
        path: "/",
        guard: new Guard(undefined, { proves: true }),
        secret: () => secret,
        connected: (connection) => {
          connections.push(connection);
          return { message: (text) => connection.send(`echo ${text}`), closed: () => closed++ };
        },
      },
    ],
  });
  const port = await server.listen(wished);
  served.set(port, connections);
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

function handshake(port: number, more: { host?: string; nonce?: string; headers?: string; path?: string }): string {
  const asked = more.nonce === undefined ? "" : `X-Agent-IDE-Nonce: ${more.nonce}\r\n`;
  return `GET ${more.path ?? "/"} HTTP/1.1\r\nHost: ${more.host ?? `127.0.0.1:${port}`}\r\n${upgrade}${asked}${more.headers ?? ""}\r\n`;
}

/** Connects, proves, and waits until it is served; protocols and options are the client's. */
async function dial(t: TestContext, port: number, protocols: string[] = ["mcp"], options: WebSocket.ClientOptions = {}): Promise<WebSocket> {
  const before = served.get(port)?.length ?? 0;
  const socket = await knock({ port, secret, protocols, options });
  atEnd(t, () => socket.terminate());
  await until("it is served", () => (served.get(port)?.length ?? 0) > before);
  return socket;
}

describe("a handshake", () => {
  const cases: [string, Parameters<typeof handshake>[1], number][] = [
    ["with a nonce", { nonce }, 101],
    ["to localhost", { nonce, host: "localhost:PORT" }, 101],
    ["with a query, which means nothing", { nonce, path: "/?token=x" }, 101],
    ["without a nonce", {}, 401],
    ["with an empty nonce", { nonce: "" }, 401],
    ["with a nonce that is too short", { nonce: nonce.slice(0, -1) }, 401],
    ["with a nonce that is too long", { nonce: nonce + "x" }, 401],
    ["with a nonce of other characters", { nonce: nonce.slice(0, -1) + "+" }, 401],
    ["with two nonces", { nonce, headers: `${nonceHeader}: ${newNonce()}\r\n` }, 401],
    ["with the secret itself", { headers: `${tokenHeader}: ${secret}\r\n` }, 401],
    ["with the secret as bearer", { headers: `Authorization: Bearer ${secret}\r\n` }, 401],
    ["with an Origin", { nonce, headers: "Origin: http://localhost\r\n" }, 403],
    ["with the Origin null", { nonce, headers: "Origin: null\r\n" }, 403],
    ["with the Origin of a webview", { nonce, headers: "Origin: vscode-webview://x\r\n" }, 403],
    ["with an empty Origin", { nonce, headers: "Origin: \r\n" }, 403],
    ["from a browser", { nonce, headers: "Sec-Fetch-Site: none\r\n" }, 403],
    ["to a foreign host", { nonce, host: "evil.example:PORT" }, 403],
    ["to another port", { nonce, host: "127.0.0.1:1" }, 403],
    ["to a host without port", { nonce, host: "127.0.0.1" }, 403],
    ["to a look-alike", { nonce, host: "127.0.0.1:PORT.evil.example" }, 403],
    ["to another loopback address", { nonce, host: "[::1]:PORT" }, 403],
    ["to another path", { nonce, path: "/other" }, 401],
  ];
  for (const [name, request, status] of cases) {
    it(`${name}: ${status}`, async (t) => {
      const { port, connections } = await serve(t);
      const host = request.host?.replace("PORT", String(port));
      assert.equal(await raw(port, handshake(port, { ...request, ...(host === undefined ? {} : { host }) })), status);
      assert.equal(connections.length, 0, "nobody has proved yet");
    });
  }

  it("is told the reason in words", async (t) => {
    const { port } = await serve(t);
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.deepEqual([response.status, /^401 Unauthorized: The token is missing or wrong\./.test(await response.text())], [401, true]);
    const foreign = await fetch(`http://127.0.0.1:${port}/`, { headers: { Origin: "https://evil.example" } });
    assert.match(await foreign.text(), /^403 Forbidden: Only programs on this computer/);
  });

  const attempts = process.env["AGENT_TEST_FULL"] === "1" ? 10_000 : 1_000;
  it(`by guesses, ${attempts} of them: none accepted`, async (t) => {
    const { port, connections, log } = await serve(t);
    const guesses = [
      () => handshake(port, {}),
      () => handshake(port, { headers: `${tokenHeader}: ${newToken()}\r\n` }),
      (i: number) => handshake(port, { headers: `${tokenHeader}: ${nearMiss(secret, i)}\r\n` }),
      () => handshake(port, { nonce, headers: "Origin: https://evil.example\r\n" }),
      () => handshake(port, { nonce, host: "evil.example" }),
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
    assert.ok(!log.join().includes(secret));
    t.diagnostic(`load: ${attempts} handshakes refused: ${JSON.stringify(counts)}`);
  });

  it("beyond sixteen connections: 503", async (t) => {
    const { port, connections } = await serve(t);
    for (let i = 0; i < 16; i++) await dial(t, port);
    assert.equal(await raw(port, handshake(port, { nonce })), 503);
    assert.equal(connections.length, 16);
  });

  it("gets the subprotocol that we know and no compression", async (t) => {
    const { port } = await serve(t);
    const socket = await dial(t, port, ["other", "mcp"], { perMessageDeflate: true });
    assert.deepEqual([socket.protocol, socket.extensions], ["mcp", ""]);
    assert.equal((await dial(t, port, [])).protocol, "");
  });
});

/** A text with one character changed; not the last, which has bits that mean nothing. */
function nearMiss(text: string, i: number): string {
  const at = i % (text.length - 1);
  return text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
}

describe("the proof", () => {
  it("of the server comes with the answer, and the client serves after its own", async (t) => {
    const { port, connections } = await serve(t);
    await dial(t, port);
    await until("the connection", () => connections.length === 1);
  });

  it("is computed as written down", () => {
    const recorded = JSON.parse(readFileSync(join(__dirname, "../../../../../docs/protocol/proof.json"), "utf8")) as Record<string, string>;
    const { secret: known, clientNonce, serverNonce, serverProof, clientProof } = recorded;
    const shown = new Handshake(String(known), Number(recorded["port"]), String(clientNonce), serverNonce);
    assert.deepEqual([shown.serverProof(), shown.clientProof()], [serverProof, clientProof]);
  });

  it("of another secret, another port, or the server's own is invalid", () => {
    const message = (proof: string): string => JSON.stringify({ method: proveMethod, params: { proof } });
    const right = new Handshake(secret, 5765, nonce);
    assert.equal(right.isProved(message(right.clientProof())), true);
    for (const [what, proof] of [
      ["the server's", right.serverProof()],
      ["another port's", new Handshake(secret, 5766, nonce, right.server).clientProof()],
      ["another secret's", new Handshake(newToken(), 5765, nonce, right.server).clientProof()],
      ["another nonce's", new Handshake(secret, 5765, newNonce(), right.server).clientProof()],
      ["another answer's", new Handshake(secret, 5765, nonce).clientProof()],
      ["none", ""],
    ]) {
      assert.equal(right.isProved(message(String(proof))), false, what);
    }
  });

  const wrong = process.env["AGENT_TEST_FULL"] === "1" ? 10_000 : 1_000;
  it(`given wrong ${wrong} times: none accepted`, async (t) => {
    const { port, connections, log } = await serve(t);
    const forge: ((right: string, i: number) => string)[] = [
      () => "",
      () => newNonce(),
      (right, i) => nearMiss(right, i),
      (right, i) => right.slice(0, i % right.length),
      (right) => right + "A",
    ];
    const counts: Record<number, number> = {};
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let i = next++; i < wrong; i = next++) {
        const socket = await knock({ port, secret, forge: (right) => forge[i % forge.length]?.(right, i) ?? "" });
        const code = await new Promise<number>((done) => socket.on("close", done));
        counts[code] = (counts[code] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    assert.deepEqual(counts, { 4001: wrong });
    assert.equal(connections.length, 0);
    assert.ok(log.filter((line) => line.startsWith("refused")).length <= 2, "guesses do not fill the log");
    t.diagnostic(`${wrong} wrong proofs: ${connections.length} accepted`);
  });

  it("has to be the first message, and to come soon and small", async (t) => {
    const { port, clock, connections } = await serve(t);
    const open = (): Promise<WebSocket> => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`, ["mcp"], { headers: { [nonceHeader]: newNonce() } });
      atEnd(t, () => socket.terminate());
      return new Promise((done, fail) => socket.on("open", () => done(socket)).on("error", fail));
    };
    const end = (socket: WebSocket): Promise<number> => new Promise((done) => socket.on("close", done).on("error", () => undefined));
    const talks = await open();
    talks.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }));
    assert.equal(await end(talks), 4001);
    const bytes = await open();
    bytes.send(Buffer.from("x"), { binary: true });
    assert.equal(await end(bytes), 4001);
    const large = await open();
    large.send("x".repeat(1024 * 1024));
    assert.equal(await end(large), 1006);
    const silent = end(await open());
    clock.advance(5_000);
    assert.equal(await silent, 1006);
    assert.equal(connections.length, 0);
  });

  it("is not kept from anybody by those who give none", async (t) => {
    const { port, connections } = await serve(t);
    const held = Array.from({ length: 40 }, () => new WebSocket(`ws://127.0.0.1:${port}/`, ["mcp"], { headers: { [nonceHeader]: newNonce() } }));
    for (const socket of held) socket.on("error", () => undefined);
    atEnd(t, () => held.forEach((socket) => socket.terminate()));
    await until("all have an answer", () => held.every((socket) => socket.readyState !== WebSocket.CONNECTING));
    await dial(t, port);
    await until("the one who proves", () => connections.length === 1);
  });

  it("is in the answer of nobody who was refused", async (t) => {
    const { port } = await serve(t);
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { [nonceHeader]: newNonce() } });
    assert.deepEqual([answer.status, answer.headers.get(proofHeader)], [426, null]);
  });
});

describe("a plain request", () => {
  const cases: [string, string, number][] = [
    ["without a nonce", "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n", 401],
    ["with a nonce", `GET / HTTP/1.1\r\nHost: HOST\r\n${nonceHeader}: ${nonce}\r\n\r\n`, 426],
    ["to another path", `GET /mcp HTTP/1.1\r\nHost: HOST\r\n${nonceHeader}: ${nonce}\r\n\r\n`, 401],
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
      await assert.rejects(raw(port, handshake(port, { nonce }), host));
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
