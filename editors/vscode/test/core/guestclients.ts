// Clients of the doors for guests, with the words of recorded conversations of the real programs.
import { request } from "node:http";
import type { ClientRequest } from "node:http";
import WebSocket from "ws";
import { until } from "./fakes";
import { messages, send } from "./httpclient";
import type { Message as HttpMessage, Result } from "./httpclient";
import type { Message } from "./wsclient";

type Decision = { accepted: string } | "rejected";

/** Claude Code: MCP over a WebSocket; its question stays open until the answer. */
export class GuestOverSocket {
  private readonly received: Message[] = [];
  private lastId = -1;
  private asked = -1;
  private isClosed = false;

  private constructor(
    private readonly socket: WebSocket,
    readonly token: string,
  ) {
    socket.on("message", (data: Buffer) => this.received.push(JSON.parse(data.toString()) as Message));
    socket.on("close", () => (this.isClosed = true));
    socket.on("error", () => undefined);
  }

  static async connect(port: number, token: unknown): Promise<GuestOverSocket> {
    const headers = { "x-claude-code-ide-authorization": String(token) };
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, ["mcp"], { headers });
    await new Promise<void>((done, fail) => {
      socket.once("open", done);
      socket.once("error", fail);
    });
    const client = new GuestOverSocket(socket, String(token));
    const clientInfo = { name: "claude-code", title: "Claude Code", version: "2.1.332" };
    await client.request("initialize", { protocolVersion: "2025-11-25", capabilities: { roots: { listChanged: true }, elicitation: {} }, clientInfo });
    client.send({ method: "notifications/initialized" });
    client.send({ method: "ide_connected", params: { pid: process.pid } });
    return client;
  }

  async tools(): Promise<string[]> {
    const { tools } = (await this.request("tools/list", undefined)).result as { tools: { name: string }[] };
    return tools.map(({ name }) => name);
  }

  async call(name: string, args: object): Promise<Message> {
    const answer = await this.request("tools/call", { name, arguments: args });
    if (answer.error !== undefined) throw new Error(answer.error.message);
    return answer;
  }

  ask(path: string, text: string): Promise<void> {
    this.asked = ++this.lastId;
    const args = { old_file_path: path, new_file_path: path, new_file_contents: text, tab_name: tabOf(path) };
    this.send({ id: this.asked, method: "tools/call", params: { name: "openDiff", arguments: args, _meta: { progressToken: this.asked } } });
    return Promise.resolve();
  }

  async decision(): Promise<Decision> {
    const { result } = await this.answer(this.asked);
    if (result === undefined || "structuredContent" in result) throw new Error("no answer that Claude Code understands");
    const [word, text] = (result["content"] as { text: string }[]).map((item) => item.text);
    if (word === "FILE_SAVED" && text !== undefined) return { accepted: text };
    if (word === "DIFF_REJECTED") return "rejected";
    throw new Error(`${word ?? ""} is no decision`);
  }

  /** How the question ends without an answer: its program takes TAB_CLOSED for a yes. */
  async ended(): Promise<string> {
    await until("the end of the question", () => this.isClosed || this.find(this.asked) !== undefined);
    return this.find(this.asked)?.result === undefined ? "no decision" : JSON.stringify(this.find(this.asked)?.result);
  }

  async refusal(): Promise<string> {
    const { result } = await this.answer(this.asked);
    return result?.["isError"] === true ? JSON.stringify(result) : "";
  }

  async closeDiff(path: string): Promise<undefined> {
    await this.call("close_tab", { tab_name: tabOf(path) });
    return undefined;
  }

  async heard(method: string): Promise<Record<string, unknown>> {
    const found = (): Message | undefined => this.received.find((message) => message.method === method);
    await until(method, () => found() !== undefined);
    return found()?.params ?? {};
  }

  close(): void {
    this.socket.terminate();
  }

  private find(id: number): Message | undefined {
    return this.received.find((message) => message.id === id);
  }

  private async answer(id: number): Promise<Message> {
    await until(`the answer to ${id}`, () => this.find(id) !== undefined);
    return this.find(id) as Message;
  }

  private request(method: string, params: object | undefined): Promise<Message> {
    const id = ++this.lastId;
    this.send({ id, method, ...(params === undefined ? {} : { params }) });
    return this.answer(id);
  }

  private send(message: object): void {
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }
}

function tabOf(path: string): string {
  return `✻ [Claude Code] ${path} (4fe104) ⧉`;
}

/** Gemini CLI and its kin: MCP over HTTP; the answer is a notification. */
export class GuestOverHttp {
  private readonly received: HttpMessage[] = [];
  private lastId = 0;
  private asked = "";
  private refused: Result | undefined;
  private stream: ClientRequest | undefined;
  private isOver = false;

  private constructor(
    private readonly port: number,
    private readonly session: string,
    readonly token: string,
  ) {}

  static async connect(port: number, token: unknown): Promise<GuestOverHttp> {
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "streamable-http-client", version: "0.61.0" } };
    const hello = await send(port, { headers: { Authorization: `Bearer ${String(token)}` }, body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }) });
    if (hello.status !== 200) throw new Error(`status ${hello.status}`);
    const client = new GuestOverHttp(port, String(hello.headers["mcp-session-id"]), String(token));
    await client.post({ method: "notifications/initialized" });
    await client.listen();
    return client;
  }

  /** Opens the stream of notifications, and waits until the window has noticed. */
  async listen(): Promise<void> {
    const count = this.contexts();
    const { Authorization, "Mcp-Session-Id": session } = this.headers();
    this.stream = request({ host: "127.0.0.1", port: this.port, path: "/mcp", headers: { Authorization, "Mcp-Session-Id": session, Accept: "text/event-stream" }, agent: false });
    let rest = "";
    this.stream.on("response", (res) => {
      res.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines.filter((each) => each.startsWith("data: {"))) this.received.push(JSON.parse(line.slice(6)) as HttpMessage);
      });
      res.on("close", () => (this.isOver = true)).on("error", () => undefined);
    });
    this.stream.on("error", () => undefined);
    this.stream.end();
    await until("the context", () => this.contexts() > count);
  }

  /** Ends the stream, as a network does; the window has noticed when it answers the next request. */
  async dropStream(): Promise<void> {
    const { stream } = this;
    const closed = new Promise((done) => stream?.once("close", done));
    stream?.destroy();
    await closed;
    await this.tools();
    this.isOver = false;
  }

  async tools(): Promise<string[]> {
    return ((await this.request("tools/list", {})).tools ?? []).map(({ name }) => name);
  }

  async ask(path: string, text: string): Promise<void> {
    this.asked = path;
    this.received.splice(0, this.received.length, ...this.received.filter(({ params }) => params?.["filePath"] !== path));
    const result = await this.request("tools/call", { name: "openDiff", arguments: { filePath: path, newContent: text } });
    this.refused = result.isError === true ? result : undefined;
    if (this.refused === undefined && result.content.length > 0) throw new Error("the answer has a content");
  }

  async decision(): Promise<Decision> {
    const found = (): HttpMessage | undefined => this.received.find(({ method, params }) => method?.startsWith("ide/diff") === true && params?.["filePath"] === this.asked);
    await until("a decision", () => found() !== undefined);
    const { method, params } = found() ?? {};
    return method === "ide/diffAccepted" ? { accepted: String(params?.["content"]) } : "rejected";
  }

  async ended(): Promise<string> {
    // A notification is there before a later answer; a window that ends ends the stream.
    await this.tools().catch(() => until("the end of the stream", () => this.isOver));
    return this.received.some(({ method }) => method === "ide/diffAccepted" || method === "ide/diffRejected") ? "a decision" : "no decision";
  }

  refusal(): Promise<string> {
    return Promise.resolve(JSON.stringify(this.refused));
  }

  async closeDiff(path: string): Promise<string | undefined> {
    const { content } = await this.request("tools/call", { name: "closeDiff", arguments: { filePath: path, suppressNotification: true } });
    return (JSON.parse(content[0]?.text ?? "") as { content: string }).content;
  }

  async heard(method: string): Promise<Record<string, unknown>> {
    await until(method, () => this.received.some((message) => message.method === method));
    return this.received.find((message) => message.method === method)?.params ?? {};
  }

  /** The second of a method, after the one that greets. */
  async heardLast(method: string): Promise<Record<string, unknown>> {
    const all = (): HttpMessage[] => this.received.filter((message) => message.method === method);
    await until(method, () => all().length > 1);
    return all().at(-1)?.params ?? {};
  }

  close(): void {
    this.stream?.destroy();
  }

  private contexts(): number {
    return this.received.filter(({ method }) => method === "ide/contextUpdate").length;
  }

  private headers(): Record<"Authorization" | "Mcp-Session-Id", string> {
    return { Authorization: `Bearer ${this.token}`, "Mcp-Session-Id": this.session };
  }

  private post(message: object): ReturnType<typeof send> {
    return send(this.port, { headers: this.headers(), body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  }

  private async request(method: string, params: object): Promise<Result> {
    const reply = await this.post({ id: ++this.lastId, method, params });
    const last = messages(reply).at(-1);
    if (last?.result === undefined) throw new Error(`no result: ${reply.body}`);
    return last.result;
  }
}
