// What is not let in: 10,000 requests of every wrong kind, over real sockets.
import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { it } from "node:test";
import { Chance, tempFolder } from "./fakes";
import { startMcp } from "./httpclient";
import { mcpToken, startCore, WsClient } from "./wsclient";

const count = process.env["AGENT_TEST_FULL"] === "1" ? 10_000 : 1_000;
const parallel = 20;
const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "write_file", arguments: { path: "x", content: "x" } } });
const huge = Buffer.alloc(1024 * 1024, "x");

interface Wrong {
  readonly what: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Buffer;
  readonly statuses: readonly number[];
}

const auth = { Authorization: `Bearer ${mcpToken}` };
const json = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };

/** Every kind of request that is not to be served, with the answers that are right. */
function wrongs(port: number, chance: Chance): Wrong[] {
  const noise = Array.from({ length: 43 }, () => String.fromCharCode(33 + chance.below(94))).join("");
  return [
    { what: "no token", headers: json, body: call, statuses: [401] },
    { what: "a wrong token", headers: { ...json, Authorization: `Bearer ${noise}` }, body: call, statuses: [401] },
    { what: "half of the token", headers: { ...json, Authorization: `Bearer ${mcpToken.slice(0, chance.below(mcpToken.length))}` }, body: call, statuses: [401] },
    { what: "another scheme", headers: { ...json, Authorization: `Basic ${mcpToken}` }, body: call, statuses: [401] },
    { what: "the token in the address", path: `/mcp?token=${mcpToken}`, headers: json, body: call, statuses: [401] },
    { what: "an Origin", headers: { ...json, ...auth, Origin: chance.pick(["null", "http://localhost", "https://evil.example", `http://127.0.0.1:${port}`]) }, body: call, statuses: [403] },
    { what: "a browser", headers: { ...json, ...auth, "Sec-Fetch-Site": chance.pick(["same-origin", "cross-site", "none"]) }, body: call, statuses: [403] },
    { what: "a foreign Host", headers: { ...json, ...auth, Host: chance.pick(["evil.example", "127.0.0.1", `127.0.0.1:${port + 1}`, `[::1]:${port}`, `evil.example:${port}`]) }, body: call, statuses: [403] },
    { what: "a body too large", headers: { ...json, ...auth, "Content-Length": String(16 * 1024 * 1024 + 1 + chance.below(1e9)) }, statuses: [413] },
    { what: "no JSON", headers: { ...json, ...auth }, body: chance.pick(["", "{", "[1,", "\u0000", noise, call.slice(0, -1)]), statuses: [400] },
    { what: "JSON that is no message", headers: { ...json, ...auth }, body: chance.pick(["null", "7", "[]", "{}", '"x"', '{"jsonrpc":"1.0","id":1,"method":"initialize"}', '{"method":7}']), statuses: [400] },
    { what: "a deep body", headers: { ...json, ...auth }, body: "[".repeat(100_000), statuses: [400] },
    { what: "another type", headers: { ...auth, "Content-Type": "text/plain" }, body: call, statuses: [415] },
    { what: "no session", headers: { ...json, ...auth }, body: call, statuses: [400] },
    { what: "an unknown session", headers: { ...json, ...auth, "Mcp-Session-Id": noise }, body: call, statuses: [404] },
    { what: "another method", method: chance.pick(["PUT", "PATCH", "OPTIONS", "HEAD"]), headers: { ...json, ...auth }, statuses: [405] },
    { what: "a megabyte without a token", headers: json, body: huge, statuses: [401] },
  ];
}

it(`${count} requests of every wrong kind are refused, none is served, and memory stays flat`, async (t) => {
  const { client, port, core, editor } = await startMcp(t, tempFolder(t), tempFolder(t));
  const chance = new Chance(20_261_121);
  const agent = new Agent({ keepAlive: true, maxSockets: parallel });
  t.after(() => agent.destroy());
  const seen = new Map<string, number>();
  let left = count;
  let middle = 0;
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      if (left === Math.floor(count / 2)) middle = heap();
      const wrong = chance.pick(wrongs(port, chance));
      const status = await ask(port, agent, wrong);
      assert.ok(wrong.statuses.includes(status), `${wrong.what}: ${status}`);
      seen.set(wrong.what, (seen.get(wrong.what) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  const grown = heap() - middle;
  t.diagnostic(`${[...seen.values()].reduce((a, b) => a + b)} requests of ${seen.size} kinds; heap grown in the second half: ${Math.round(grown / 1024)} KiB`);
  assert.equal(seen.size, 17);
  assert.equal(core.reviews.list().length, 0);
  assert.deepEqual(editor.clients.map(({ name }) => name), ["http client"]);
  assert.ok(grown < 4 * 1024 * 1024, `the heap has grown by ${grown} bytes`);
  assert.equal((await client.request("tools/list")).tools?.length, 7, "and who may comes in");
});

it("wrong upgrades are refused too, and leave nothing behind", async (t) => {
  const { port, lockPath, core } = await startCore(t, tempFolder(t));
  const key = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==" };
  const agent = new Agent();
  for (let i = 0; i < 200; i++) {
    const path = ["/", "/bridge", "/mcp", "/other"][i % 4] ?? "/";
    const status = await ask(port, agent, { what: path, method: "GET", path, headers: { ...key, ...(i % 2 === 0 ? {} : auth) }, statuses: [401] });
    assert.equal(status, 401, path);
  }
  assert.equal(core.clients().length, 0);
  assert.ok((await (await WsClient.connect(t, lockPath)).request("tools/list", {})).result);
});

/** The status that a request gets; it is sent as it is, however wrong. */
function ask(port: number, agent: Agent, wrong: Wrong): Promise<number> {
  return new Promise((done, fail) => {
    let status = 0;
    const options = { host: "127.0.0.1", port, path: wrong.path ?? "/mcp", method: wrong.method ?? "POST", headers: wrong.headers, agent };
    const req = request(options, (res) => {
      status = res.statusCode ?? 0;
      res.resume().on("close", () => done(status));
      // Whoever promised a body that will not come has to go.
      if (wrong.headers["Content-Length"] !== undefined) req.destroy();
    });
    // The server answers and closes without reading what it does not want.
    req.on("error", (err) => (status > 0 ? done(status) : fail(err)));
    if (wrong.headers["Content-Length"] !== undefined) req.flushHeaders();
    else req.end(wrong.body);
  });
}

function heap(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
}
