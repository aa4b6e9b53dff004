import { readFileSync } from "node:fs";
import type WebSocket from "ws";
import { createCore } from "../../src/core/core";
import type { Core } from "../../src/core/core";
import { secretOf } from "../../src/core/secretsocket";
import { atEnd } from "./ending";
import type { Ends } from "./ending";
import { knock } from "./prover";
import { FakeEditor, until } from "./fakes";

export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: { code?: string } };
}

export interface Content {
  readonly content: { text: string }[];
  readonly isError?: true;
  readonly structuredContent?: Record<string, unknown>;
}

/** Opens /mcp of every core in the tests. */
export const mcpToken = "the-token-of-mcp-clients";

/** A core with its server, over a fake editor. */
export async function startCore(t: Ends, home: string): Promise<{ core: Core; editor: FakeEditor; port: number; lockPath: string }> {
  const editor = new FakeEditor();
  const core = createCore(editor.ports, { version: "0.1.0", home, port: 0, pid: process.pid, mcpToken: () => Promise.resolve(mcpToken) });
  const { port, lockPath } = await core.start();
  // The test's clock has stopped: work that waits for it at the end must go on.
  atEnd(t, async () => {
    const stopped = core.stop();
    editor.clock.advance(10_000);
    await stopped;
  });
  return { core, editor, port, lockPath };
}

/** The secret of the window with this lock. */
export async function secretIn(lockPath: string): Promise<string> {
  const secret = await secretOf(JSON.parse(readFileSync(lockPath, "utf8")) as Record<string, unknown>, 60_000);
  if (secret === undefined) throw new Error(`${lockPath} leads to no secret`);
  return secret;
}

/** A program that speaks with the core over a real socket, as the lock file says. */
export class WsClient {
  readonly received: Message[] = [];
  closeCode: number | undefined;
  private lastId = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.on("message", (data: Buffer) => this.received.push(JSON.parse(data.toString()) as Message));
    socket.on("close", (code) => (this.closeCode = code));
    socket.on("error", () => undefined);
  }

  static async dial(t: Ends, lockPath: string): Promise<WsClient> {
    const port = Number(/(\d+)\.lock$/.exec(lockPath)?.[1]);
    const socket = await knock({ port, secret: await secretIn(lockPath) });
    atEnd(t, () => socket.terminate());
    const client = new WsClient(socket);
    return client;
  }

  /** Dials and shakes hands. */
  static async connect(t: Ends, lockPath: string, name = "test client"): Promise<WsClient> {
    const client = await WsClient.dial(t, lockPath);
    await client.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name, version: "1" } });
    client.notify("notifications/initialized", {});
    return client;
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  notify(method: string, params: object): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  /** Sends a request and returns its id. */
  begin(method: string, params: object): number {
    const id = ++this.lastId;
    this.send({ jsonrpc: "2.0", id, method, params });
    return id;
  }

  async response(id: number): Promise<Message> {
    await until(`the response to ${id}`, () => this.answered(id) !== undefined);
    return this.answered(id) as Message;
  }

  answered(id: number): Message | undefined {
    return this.received.find((message) => message.id === id);
  }

  request(method: string, params: object): Promise<Message> {
    return this.response(this.begin(method, params));
  }

  beginTool(name: string, args: object): number {
    return this.begin("tools/call", { name, arguments: args });
  }

  async tool(name: string, args: object = {}): Promise<Content> {
    return contentOf(await this.response(this.beginTool(name, args)));
  }

  /** The first item of a tool's answer, as JSON. */
  async json(name: string, args: object = {}): Promise<unknown> {
    return JSON.parse((await this.tool(name, args)).content[0]?.text ?? "");
  }

  async heard(method: string): Promise<Record<string, unknown>> {
    await until(method, () => this.notifications(method).length > 0);
    return this.notifications(method)[0] ?? {};
  }

  notifications(method: string): Record<string, unknown>[] {
    return this.received.filter((message) => message.method === method).map((message) => message.params ?? {});
  }

  close(): void {
    this.socket.close();
  }

  terminate(): void {
    this.socket.terminate();
  }
}

export function contentOf(message: Message): Content {
  if (message.result === undefined) throw new Error(`no result: ${JSON.stringify(message)}`);
  return message.result as unknown as Content;
}
