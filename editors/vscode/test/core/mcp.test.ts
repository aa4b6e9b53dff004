// Row B1 of the designs: the door for any MCP client.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { settled, tempFolder, until } from "./fakes";
import { inTime, jsonOf, McpClient, messages, send, shown, startMcp } from "./httpclient";
import { mcpToken, startCore, WsClient } from "./wsclient";

const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
const notFound = { jsonrpc: "2.0", error: { code: -32000, message: "Session not found" }, id: null };

/** A request of a client of the newest protocol, which says everything with each. */
function modern(method: string, params: object): { headers: Record<string, string>; body: string } {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "modern", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name: Record<string, string> = "name" in params ? { "Mcp-Name": String(params.name) } : {};
  return {
    headers: { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, ...name },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  };
}

describe("B1: /mcp", () => {
  it("lists the seven tools for a client that has said hello", async (t) => {
    const { client } = await startMcp(t, tempFolder(t), tempFolder(t));
    const { tools = [] } = await client.request("tools/list");
    assert.deepEqual(tools.map(({ name }) => name), [
      "write_file", "apply_diff", "execute_command", "read_file", "list_files", "search_files", "get_diagnostics",
    ]);
  });

  it("has a session for each client, which DELETE ends alone", async (t) => {
    const { client, port, editor } = await startMcp(t, tempFolder(t), tempFolder(t));
    const other = await McpClient.connect(port, "another");
    assert.notEqual(client.session, other.session);
    await until("both clients are shown", () => editor.clients.map(({ name }) => name).join() === "http client,another");
    assert.equal((await client.delete()).status, 200);
    const gone = await client.post(list);
    assert.deepEqual([gone.status, JSON.parse(gone.body)], [404, notFound]);
    assert.equal((await other.post(list)).status, 200);
    assert.deepEqual(editor.clients.map(({ name }) => name), ["another"]);
  });

  it("answers 404 to an unknown session, but 401 before that to a wrong token", async (t) => {
    const { port } = await startMcp(t, tempFolder(t), tempFolder(t));
    const unknown = { "Mcp-Session-Id": "00000000-0000-4000-8000-000000000000" };
    for (const method of ["POST", "GET", "DELETE"]) {
      const reply = await send(port, { method, headers: unknown, body: method === "POST" ? JSON.stringify(list) : "" });
      assert.deepEqual([method, reply.status, JSON.parse(reply.body)], [method, 404, notFound]);
      const wrong = await send(port, { method, headers: { ...unknown, Authorization: "Bearer wrong" } });
      assert.deepEqual([wrong.status, wrong.headers["www-authenticate"]], [401, "Bearer"]);
    }
  });

  it("ends a session after 30 minutes without a request, not before", async (t) => {
    const { client, editor } = await startMcp(t, tempFolder(t), tempFolder(t));
    editor.clock.advance(29 * 60_000);
    assert.equal((await client.post(list)).status, 200);
    editor.clock.advance(29 * 60_000);
    assert.equal((await client.post(list)).status, 200);
    editor.clock.advance(35 * 60_000);
    assert.equal((await client.post(list)).status, 404);
  });

  it("ends the session that was idle longest for the 65th client, and none in which something waits", async (t) => {
    const folder = tempFolder(t);
    const { client: waiting, core, editor, port } = await startMcp(t, tempFolder(t), folder);
    const call = waiting.begin("write_file", { path: "a.txt", content: "x" });
    const review = await shown(core);
    const others: McpClient[] = [];
    for (let i = 1; i < 64; i++) {
      editor.clock.advance(1_000);
      others.push(await McpClient.connect(port));
    }
    const [first, second] = others as [McpClient, McpClient];
    assert.equal((await first.post(list)).status, 200, "the oldest was heard of last");
    const more = await McpClient.connect(port);
    assert.deepEqual([(await second.post(list)).status, (await first.post(list)).status, (await more.post(list)).status], [404, 200, 200]);
    assert.equal(core.clients().length, 64);
    assert.equal(core.clients().filter(({ heard }) => heard === undefined).length, 0, "none of them counts as linked");
    core.reviews.reject(review, "button");
    assert.equal(jsonOf(await call.answer)["status"], "rejected");
  });

  it("keeps a session in which a review waits, however long, and ends it 30 minutes after", async (t) => {
    const folder = tempFolder(t);
    const { client, core, editor } = await startMcp(t, tempFolder(t), folder);
    const call = client.begin("write_file", { path: "a.txt", content: "new\n" });
    const id = await shown(core);
    editor.clock.advance(3 * 60 * 60_000);
    core.reviews.accept(id, "button");
    assert.equal((await inTime(call, editor.clock))["status"], "accepted");
    assert.equal((await client.post(list)).status, 200);
    editor.clock.advance(36 * 60_000);
    assert.equal((await client.post(list)).status, 404);
  });

  it("ends what a client that goes away has asked for", async (t) => {
    const { client, core, editor } = await startMcp(t, tempFolder(t), tempFolder(t));
    const call = client.begin("write_file", { path: "a.txt", content: "new\n" });
    await shown(core);
    await client.delete();
    await assert.rejects(call.answer);
    await until("the review is over", () => core.reviews.list().length === 0);
    assert.equal(editor.view.closes.length, 1);
  });

  it("keeps the review of a client whose connection breaks: it may come back for it", async (t) => {
    const folder = tempFolder(t);
    const { client, core, editor } = await startMcp(t, tempFolder(t), folder);
    const call = client.begin("write_file", { path: "a.txt", content: "new\n" });
    const id = await shown(core);
    call.drop();
    await settled(50);
    assert.equal(core.reviews.list().length, 1);
    core.reviews.accept(id, "button");
    await until("the file is written", () => existsSync(join(folder, "a.txt")));
    editor.clock.advance(2_000);
    assert.equal((await client.post(list)).status, 200);
  });

  it("ends what a client that vanished has asked for, after ten seconds without any connection", async (t) => {
    const { client, core, editor, port } = await startMcp(t, tempFolder(t), tempFolder(t));
    const call = client.begin("write_file", { path: "a.txt", content: "new\n" });
    await shown(core);
    let waiting = editor.clock.waiting;
    const isAbsent = () => until("its absence is noticed", () => editor.clock.waiting > waiting);
    call.drop();
    await isAbsent();
    editor.clock.advance(9_000);
    waiting = editor.clock.waiting;
    assert.equal((await client.post(list)).status, 200); // it is back
    await isAbsent();
    editor.clock.advance(9_000);
    assert.equal(core.reviews.list().length, 1);
    editor.clock.advance(1_000);
    await until("the review is over", () => core.reviews.list().length === 0);
    await until("the diff closes", () => editor.view.closes.length === 1);
    assert.equal((await client.post(list)).status, 404);
    // The file is free again.
    const next = await McpClient.connect(port);
    const again = next.begin("write_file", { path: "a.txt", content: "new\n" });
    core.reviews.reject(await shown(core), "button");
    assert.equal(jsonOf(await again.answer)["status"], "rejected");
  });

  it("tells progress every 20 seconds while a review waits", async (t) => {
    const { client, core, editor } = await startMcp(t, tempFolder(t), tempFolder(t));
    const call = client.begin("write_file", { path: "a.txt", content: "new\n" }, { progressToken: "p" });
    const id = await shown(core);
    editor.clock.advance(60_000);
    await until("the third notice", () => call.heard.length === 3);
    assert.deepEqual(call.heard.map(({ method, params }) => [method, params?.["progressToken"], params?.["progress"]]), [
      ["notifications/progress", "p", 1], ["notifications/progress", "p", 2], ["notifications/progress", "p", 3],
    ]);
    core.reviews.reject(id, "button");
    assert.equal(jsonOf(await call.answer)["status"], "rejected");
  });

  it("closes the diff of a call that is cancelled, and does not answer it", async (t) => {
    const folder = tempFolder(t);
    const { client, core } = await startMcp(t, tempFolder(t), folder);
    const call = client.begin("write_file", { path: "a.txt", content: "new\n" });
    await shown(core);
    assert.equal((await client.cancel(call.id)).status, 202);
    await until("the review is over", () => core.reviews.list().length === 0);
    assert.deepEqual(call.heard, []);
    assert.equal(existsSync(join(folder, "a.txt")), false);
    // The file is free again.
    const again = client.begin("write_file", { path: "a.txt", content: "new\n" });
    core.reviews.reject(await shown(core), "button");
    assert.equal(jsonOf(await again.answer)["status"], "rejected");
  });

  it("serves clients of the newest protocol without a session", async (t) => {
    const folder = tempFolder(t);
    writeFileSync(join(folder, "a.txt"), "one\n");
    const { port } = await startMcp(t, tempFolder(t), folder);
    const call = (method: string, params: object) => send(port, modern(method, params));
    const discovered = await call("server/discover", {});
    assert.equal(discovered.status, 200, discovered.body);
    assert.equal(messages(await call("tools/list", {}))[0]?.result?.tools?.length, 7);
    const read = messages(await call("tools/call", { name: "read_file", arguments: { path: "a.txt" } })).at(-1);
    assert.equal(read?.result?.content[0]?.text, "1 | one\ntotal_lines: 1");
  });

  it("serves them after a stop and a start, too", async (t) => {
    const { core, editor } = await startMcp(t, tempFolder(t), tempFolder(t));
    const stopped = core.stop();
    editor.clock.advance(10_000);
    await stopped;
    const { port } = await core.start();
    const listed = await send(port, modern("tools/list", {}));
    assert.equal(listed.status, 200, listed.body);
    assert.equal(messages(listed)[0]?.result?.tools?.length, 7);
  });

  it("knows such a client by the name that it gives", async (t) => {
    const { editor, port } = await startMcp(t, tempFolder(t), tempFolder(t));
    const call = send(port, modern("tools/call", { name: "execute_command", arguments: { command: "true" } }));
    await until("the question", () => editor.questions.length > 0);
    assert.equal(editor.questions[0]?.question.client, "modern");
    editor.questions[0].answer(false);
    assert.equal((await call).status, 200);
  });

  it("closes the diff of such a client when it goes away", async (t) => {
    const { core, port } = await startMcp(t, tempFolder(t), tempFolder(t));
    const { headers, body } = modern("tools/call", { name: "write_file", arguments: { path: "a.txt", content: "new\n" } });
    const gone = new AbortController();
    const call = fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST", body, signal: gone.signal,
      headers: { ...headers, Authorization: `Bearer ${mcpToken}`, Accept: "application/json, text/event-stream", "Content-Type": "application/json" },
    });
    await shown(core);
    gone.abort();
    await assert.rejects(call);
    await until("the review is over", () => core.reviews.list().length === 0);
  });

  it("writes how to be reached, for its owner alone, and takes that away with the window", async (t) => {
    const home = tempFolder(t);
    const { core, port, editor } = await startCore(t, home);
    const file = join(home, "ide", `${port}.mcp.json`);
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), {
      url: `http://127.0.0.1:${port}/mcp`, headers: { Authorization: `Bearer ${mcpToken}` },
    });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    editor.settings.mcpEnabled = false;
    core.windowChanged({});
    await until("the file is gone", () => !existsSync(file));
    assert.equal((await send(port, { body: JSON.stringify(list) })).status, 401, "as if it had never been there");
    editor.settings.mcpEnabled = true;
    core.windowChanged({});
    await until("the file is back", () => existsSync(file));
    await core.stop();
    assert.equal(existsSync(file), false);
  });

  it("sweeps the entry of a window that is gone, and no other", async (t) => {
    const home = tempFolder(t);
    const first = await startCore(t, home);
    writeFileSync(join(home, "ide", "1.mcp.json"), "{}");
    await startCore(t, home);
    assert.equal(existsSync(join(home, "ide", "1.mcp.json")), false);
    assert.equal(existsSync(join(home, "ide", `${first.port}.mcp.json`)), true);
  });

  it("asks for no token if the person wants that, but still for our Host and no Origin", async (t) => {
    const { editor, port } = await startMcp(t, tempFolder(t), tempFolder(t));
    editor.settings.requireAuth = false;
    const body = JSON.stringify(list);
    assert.equal((await send(port, { headers: { Authorization: "" }, body })).status, 400, "passes, but has no session");
    assert.equal((await send(port, { headers: { Authorization: "", Origin: "http://localhost" }, body })).status, 403);
    assert.equal((await send(port, { headers: { Authorization: "", Host: "evil.example" }, body })).status, 403);
  });

  it("takes no token of another door, nor another door this one", async (t) => {
    const { port, lockPath } = await startMcp(t, tempFolder(t), tempFolder(t));
    const { authToken } = JSON.parse(readFileSync(lockPath, "utf8")) as { authToken: string };
    assert.equal((await send(port, { headers: { Authorization: `Bearer ${authToken}` }, body: "{}" })).status, 401);
    assert.equal((await send(port, { headers: { Authorization: "", "x-agent-ide-authorization": authToken }, body: "{}" })).status, 401);
    const client = await WsClient.connect(t, lockPath);
    assert.ok((await client.request("tools/list", {})).result);
  });

  const refused: [string, Parameters<typeof send>[1] & object, number][] = [
    ["PUT", { method: "PUT", body: "{}" }, 405],
    ["OPTIONS", { method: "OPTIONS" }, 405],
    ["GET without a session", { method: "GET" }, 400],
    ["DELETE without a session", { method: "DELETE" }, 400],
    ["a call without a session", { body: JSON.stringify(list) }, 400],
    ["a body that is no JSON", { body: "{" }, 400],
    ["a body that is no UTF-8", { body: Buffer.from([0x22, 0xff, 0x22]) }, 400],
    ["a body of another type", { headers: { "Content-Type": "text/plain" }, body: JSON.stringify(list) }, 415],
    ["a body that says it is too large", { headers: { "Content-Length": String(17 * 1024 * 1024) } }, 413],
    ["another path", { path: "/mcp/x", body: "{}" }, 401],
    ["the path of the WebSocket", { path: "/", body: "{}" }, 401],
  ];
  for (const [what, raw, status] of refused) {
    it(`answers ${status} to ${what}`, async (t) => {
      const { port } = await startMcp(t, tempFolder(t), tempFolder(t));
      assert.equal((await send(port, raw)).status, status);
    });
  }
});
