// Refused requests: 10,000 of every wrong kind, over real sockets.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { it } from "node:test";
import { ask, flood, kinds } from "../flood.mjs";
import { settled, tempFolder } from "./fakes";
import { inTime, startMcp } from "./httpclient";
import { mcpToken, startCore, WsClient } from "./wsclient";

const count = process.env["AGENT_TEST_FULL"] === "1" ? 10_000 : 1_000;

it(`${count} requests of every wrong kind are refused, none is served, and memory stays flat`, async (t) => {
  const folder = tempFolder(t);
  const { client, port, core, editor } = await startMcp(t, tempFolder(t), folder);
  editor.settings.approvalMode = "never";
  let middle = 0;
  const { seen, cut } = await flood({ port, token: mcpToken, session: client.session }, count, async () => void (middle = await memory()));
  const grown = (await memory()) - middle;
  const all = [...seen.values()].reduce((a, b) => a + b);
  t.diagnostic(`${all} requests of ${seen.size} kinds, ${cut} cut off; heap and buffers grown in the second half: ${Math.round(grown / 1024)} KiB`);
  assert.deepEqual([all, seen.size], [count, kinds]);
  assert.equal(existsSync(join(folder, "served")), false, "whoever came in would have written without a question");
  assert.equal(core.reviews.list().length, 0);
  assert.deepEqual(editor.clients.map(({ name }) => name), ["http client"]);
  assert.ok(grown < 4 * 1024 * 1024, `grown by ${grown} bytes`);
  assert.equal((await client.request("tools/list")).tools?.length, 7, "and who may comes in");
  const served = await inTime(client.begin("write_file", { path: "served", content: "x" }), editor.clock);
  assert.equal(served["status"], "accepted", "and is served");
});

it("wrong upgrades are refused too, and leave nothing behind", async (t) => {
  const { port, lockPath, core } = await startCore(t, tempFolder(t));
  const key = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==" };
  const agent = new Agent();
  for (let i = 0; i < 200; i++) {
    const path = ["/", "/bridge", "/mcp", "/other"][i % 4] ?? "/";
    const headers = { ...key, ...(i % 2 === 0 ? {} : { Authorization: `Bearer ${mcpToken}` }) };
    const status = await ask(port, agent, { what: path, method: "GET", path, headers, statuses: [401] });
    assert.equal(status, 401, path);
  }
  assert.equal(core.clients().length, 0);
  assert.ok((await (await WsClient.connect(t, lockPath)).request("tools/list", {})).result);
});

/** Memory in objects and in buffers, which the heap does not count and which are freed a moment later. */
async function memory(): Promise<number> {
  const { gc } = globalThis as { gc?: () => void };
  for (let i = 0; i < 3; i++) {
    gc?.();
    await settled();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
