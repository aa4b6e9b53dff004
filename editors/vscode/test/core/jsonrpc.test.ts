import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Peer, RpcError } from "../../src/core/jsonrpc";
import type { Call } from "../../src/core/jsonrpc";
import { problem } from "../../src/core/schema";
import type { Schema } from "../../src/core/schema";
import { Chance, settled } from "./fakes";

interface Reply {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { code: number; message: string; data?: unknown };
}

/** A peer that answers "echo", fails at "fail" and keeps "wait" waiting. */
function peer() {
  const replies: Reply[] = [];
  const raw: string[] = [];
  const notified: string[] = [];
  const calls: Call[] = [];
  const waiting: ((result: object) => void)[] = [];
  const write = (message: string): void => {
    raw.push(message);
    replies.push(JSON.parse(message) as Reply);
  };
  const made = new Peer(write, {
    notification: (method) => notified.push(method),
    request: (method, params, call) => {
      calls.push(call);
      if (method === "fail") return Promise.reject(new Error("broken"));
      if (method === "refuse") return Promise.reject(new RpcError(-32001, "no", "ABORTED"));
      if (method === "wait") return new Promise((done) => waiting.push(done));
      return Promise.resolve(method === "silent" ? undefined : params);
    },
  });
  const send = (message: unknown): void => made.receive(typeof message === "string" ? message : JSON.stringify(message));
  return { made, send, replies, raw, notified, calls, waiting };
}

const call = (id: unknown, method: string, params?: unknown): object => ({ jsonrpc: "2.0", id, method, params });

describe("a request", () => {
  it("gets its response, with ids of either kind", async () => {
    const { send, replies } = peer();
    send(call(0, "echo", { a: 1 }));
    send(call("x", "echo"));
    await settled(1);
    assert.deepEqual(replies, [
      { jsonrpc: "2.0", id: 0, result: { a: 1 } },
      { jsonrpc: "2.0", id: "x", result: {} },
    ]);
  });

  it("gets exactly its id back", async () => {
    for (const id of ["0", "-1", "1.5", "-0.25", "9007199254740991", '""', '"1"', '"1.5"', '"\\u0000é\\ud83d\\ude00"', `"${"i".repeat(10_000)}"`]) {
      const { send, replies, raw } = peer();
      send(`{"jsonrpc":"2.0","id":${id},"method":"echo"}`);
      await settled(1);
      assert.equal(replies.length, 1, id);
      assert.deepEqual(replies[0]?.id, JSON.parse(id));
      if (!id.startsWith('"')) assert.ok(raw[0]?.includes(`"id":${id},`), `${id}: ${raw[0]}`);
    }
  });

  it("is refused if no answer can carry its id", async () => {
    for (const id of ["null", "true", "{}", "[1]", "9007199254740993", "1e400"]) {
      const { send, replies } = peer();
      send(`{"jsonrpc":"2.0","id":${id},"method":"echo"}`);
      await settled(1);
      assert.deepEqual([replies.length, replies[0]?.id, replies[0]?.error?.code], [1, null, -32600], id);
    }
  });

  it("that fails gets an error", async () => {
    const { send, replies } = peer();
    send(call(1, "fail"));
    send(call(2, "refuse"));
    await settled(1);
    assert.deepEqual(replies, [
      { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "broken", data: { code: "INTERNAL" } } },
      { jsonrpc: "2.0", id: 2, error: { code: -32001, message: "no", data: { code: "ABORTED" } } },
    ]);
  });

  it("that is cancelled gets none, and its id may be used again", async () => {
    const { send, replies, calls, waiting } = peer();
    send(call(7, "wait"));
    send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
    assert.equal(calls[0]?.cancelled.aborted, true);
    send(call(7, "wait"));
    waiting[0]?.({ late: true });
    waiting[1]?.({ second: true });
    await settled(1);
    assert.deepEqual(replies, [{ jsonrpc: "2.0", id: 7, result: { second: true } }]);
    send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } });
  });

  it("with an id in use is refused", async () => {
    const { send, replies } = peer();
    send(call(7, "wait"));
    send(call(7, "echo"));
    await settled(1);
    assert.equal(replies[0]?.error?.code, -32600);
  });

  it("beyond sixty-four at once is refused", async () => {
    const { send, replies } = peer();
    for (let i = 0; i <= 64; i++) send(call(i, "wait"));
    await settled(1);
    assert.deepEqual(replies.map(({ id, error }) => [id, error?.data]), [[64, { code: "BUSY" }]]);
  });

  it("of a closed connection is not answered", async () => {
    const { made, send, replies, waiting } = peer();
    send(call(1, "wait"));
    made.close();
    waiting[0]?.({});
    made.notify("x", {});
    await settled(1);
    assert.deepEqual(replies, []);
  });
});

describe("a malformed request", () => {
  const bad: [string, string, number][] = [
    ["no JSON", "{", -32700],
    ["a batch", "[]", -32600],
    ["a number", "1", -32600],
    ["null", "null", -32600],
    ["another version", '{"jsonrpc":"1.0","id":1,"method":"echo"}', -32600],
    ["no method", '{"jsonrpc":"2.0","id":1}', -32600],
    ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"echo"}', -32600],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"echo"}', -32600],
  ];
  for (const [name, message, code] of bad) {
    it(`${name}: an error without an id`, () => {
      const { send, replies } = peer();
      send(message);
      assert.deepEqual(replies.map(({ id, error }) => [id, error?.code]), [[null, code]]);
    });
  }

  it("a notification or a stray response is not answered", () => {
    const { send, replies, notified } = peer();
    send({ jsonrpc: "2.0", method: "hello", params: [1] });
    send({ jsonrpc: "2.0", id: 5, result: {} });
    send({ jsonrpc: "2.0", id: 5, error: { code: 1, message: "x" } });
    assert.deepEqual([replies, notified], [[], ["hello"]]);
  });

  it("noise does no harm", async () => {
    const { send, replies } = peer();
    const chance = new Chance(3);
    const parts = ["{", "}", "[", "]", '"', ":", ",", "jsonrpc", '"2.0"', "id", "1", "null", '"method"', '"echo"', "\\u0000", "😀"];
    for (let i = 0; i < 5_000; i++) send(Array.from({ length: chance.below(12) }, () => chance.pick(parts)).join(""));
    await settled(1);
    assert.equal(replies.length, 5_000);
  });
});

describe("arguments", () => {
  const schema: Schema = {
    type: "object",
    properties: {
      name: { type: "string", maxLength: 5 },
      kind: { type: "string", enum: ["a", "b"] },
      flag: { type: "boolean" },
      count: { type: "integer", minimum: 1, maximum: 9 },
      part: { type: "object", properties: { x: { type: "integer" } }, required: ["x"] },
    },
    required: ["name"],
  };
  const cases: [unknown, string | undefined][] = [
    [{ name: "n" }, undefined],
    [{ name: "n", kind: null, more: 1 }, undefined],
    [{ name: "n", kind: "a", flag: false, count: 9, part: { x: 0 } }, undefined],
    ["n", "arguments must be an object"],
    [[], "arguments must be an object"],
    [{}, "arguments.name is missing"],
    [{ name: 1 }, "arguments.name must be a string"],
    [{ name: "longer" }, "arguments.name is too long"],
    [{ name: "n", kind: "c" }, "arguments.kind must be one of a, b"],
    [{ name: "n", flag: "true" }, "arguments.flag must be true or false"],
    [{ name: "n", count: 1.5 }, "arguments.count must be a whole number"],
    [{ name: "n", count: 0 }, "arguments.count is out of range"],
    [{ name: "n", part: {} }, "arguments.part.x is missing"],
  ];
  for (const [value, want] of cases) {
    it(`${JSON.stringify(value)}: ${want ?? "fine"}`, () => assert.equal(problem(schema, value, "arguments"), want));
  }
});
