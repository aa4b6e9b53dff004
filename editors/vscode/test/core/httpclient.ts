// A client of /mcp that speaks the protocol by hand, over a real socket.
import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Core } from "../../src/core/core";
import type { Ends } from "./ending";
import type { FakeEditor, ManualClock } from "./fakes";
import { until } from "./fakes";
import { mcpToken, startCore } from "./wsclient";

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Raw {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** Sends one request; unspecified parts are as a client sends them. */
export function send(port: number, raw: Raw = {}): Promise<Reply> {
  return new Promise((done, fail) => {
    const headers = { Authorization: `Bearer ${mcpToken}`, Accept: "application/json, text/event-stream", "Content-Type": "application/json", ...raw.headers };
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
    const req = httpRequest({ host: "127.0.0.1", port, path: raw.path ?? "/mcp", method: raw.method ?? "POST", headers: given, agent: false }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (text: string) => (body += text));
      res.on("end", () => done({ status: res.statusCode ?? 0, headers: res.headers, body }));
      res.on("error", fail);
    });
    req.on("error", fail);
    req.end(raw.body);
  });
}

/** The messages of a body, which is a single one or a stream of events. */
export function messages(reply: Reply): Message[] {
  if (!reply.headers["content-type"]?.startsWith("text/event-stream")) return [JSON.parse(reply.body) as Message];
  return reply.body
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line !== "data: ")
    .map((line) => JSON.parse(line.slice(6)) as Message);
}

export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Result;
  readonly error?: { code: number; message: string };
}

export interface Result {
  readonly content: { type: string; text: string }[];
  readonly isError?: boolean;
  readonly tools?: { name: string; inputSchema: { properties: Record<string, unknown> } }[];
  readonly [key: string]: unknown;
}

/** A call that has been sent; its answer comes when it comes. */
export interface Pending {
  readonly id: number;
  readonly answer: Promise<Result>;
  readonly heard: Message[];
  drop(): void;
}

export class McpClient {
  private lastId = 0;

  private constructor(
    readonly port: number,
    readonly session: string,
  ) {}

  static async connect(port: number, name = "http client"): Promise<McpClient> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } };
    const hello = await send(port, { body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }) });
    const client = new McpClient(port, String(hello.headers["mcp-session-id"]));
    await client.post({ jsonrpc: "2.0", method: "notifications/initialized" });
    return client;
  }

  post(message: object): Promise<Reply> {
    return send(this.port, { headers: { "Mcp-Session-Id": this.session }, body: JSON.stringify(message) });
  }

  async request(method: string, params: object = {}): Promise<Result> {
    const reply = await this.post({ jsonrpc: "2.0", id: ++this.lastId, method, params });
    const last = messages(reply).at(-1);
    if (last?.result === undefined) throw new Error(`no result: ${reply.body}`);
    return last.result;
  }

  tool(name: string, args: object = {}): Promise<Result> {
    return this.request("tools/call", { name, arguments: args });
  }

  /** The first item of a tool's answer, as JSON. */
  async json(name: string, args: object = {}): Promise<Record<string, unknown>> {
    return jsonOf(await this.tool(name, args));
  }

  /** Calls a tool without waiting for it. */
  begin(name: string, args: object, meta?: object): Pending {
    const id = ++this.lastId;
    const heard: Message[] = [];
    const params = { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
    const headers = {
      Authorization: `Bearer ${mcpToken}`,
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
      "Mcp-Session-Id": this.session,
    };
    let rest = "";
    const req = httpRequest({ host: "127.0.0.1", port: this.port, path: "/mcp", method: "POST", headers, agent: false });
    const answer = new Promise<Result>((done, fail) => {
      req.on("response", (res) => {
        res.setEncoding("utf8").on("data", (text: string) => {
          const lines = (rest + text).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines.filter((each) => each.startsWith("data: {"))) heard.push(JSON.parse(line.slice(6)) as Message);
          const mine = heard.find((message) => message.id === id);
          if (mine?.result !== undefined) done(mine.result);
          else if (mine?.error !== undefined) fail(new Error(mine.error.message));
        });
        res.on("close", () => fail(new Error("the stream ended without an answer")));
        res.on("error", fail);
      });
      req.on("error", fail);
    });
    answer.catch(() => undefined);
    req.end(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }));
    return { id, answer, heard, drop: () => req.destroy() };
  }

  cancel(id: number): Promise<Reply> {
    return this.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
  }

  delete(): Promise<Reply> {
    return send(this.port, { method: "DELETE", headers: { "Mcp-Session-Id": this.session } });
  }
}

export function jsonOf(result: Result): Record<string, unknown> {
  return JSON.parse(result.content[0]?.text ?? "") as Record<string, unknown>;
}

/** The answer of a call that waits for time to pass, however late it begins to. */
export async function inTime(call: Pending, clock: ManualClock): Promise<Record<string, unknown>> {
  const ticks = setInterval(() => clock.advance(500), 5);
  return call.answer.then(jsonOf).finally(() => clearInterval(ticks));
}

/** A core with a workspace folder, and a client of its door. */
export async function startMcp(
  t: Ends,
  home: string,
  folder: string,
): Promise<{ core: Core; editor: FakeEditor; port: number; lockPath: string; client: McpClient }> {
  const started = await startCore(t, home);
  started.editor.folders = [{ name: "work", uri: "", path: folder }];
  return { ...started, client: await McpClient.connect(started.port) };
}

/** The review that is on the screen, once it is there. */
export async function shown(core: Core): Promise<string> {
  await until("a review", () => core.reviews.list().some(({ state }) => state === "shown"));
  return core.reviews.list().find(({ state }) => state === "shown")?.id ?? "";
}
