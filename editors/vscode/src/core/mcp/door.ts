import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { callTool } from "../calls";
import type { CallHost } from "../calls";
import { messageOf } from "../errors";
import { RpcError } from "../jsonrpc";
import type { Cancel, Client } from "../ports";
import { isObject } from "../schema";
import { maxPayload } from "../server";
import { oneLine } from "../text";
import type { ToolClient } from "../tools";
import { HttpError, readJson, sendError, sendResponse, toRequest } from "./http";
import type * as Sdk from "./sdk";

const idleMs = 30 * 60_000;
const sweepMs = 5 * 60_000;
const maxSessions = 64;
/** Notifications for a client that does not listen just now. */
const maxUnsent = 64;
// A guest takes a stream without a message in five minutes for broken.
const aliveMs = 60_000;
// How long a client with a pending call, or a guest, may be without any connection: a living client
// comes back at once.
const absentMs = 10_000;

const instructions =
  "Edits open as a diff in the editor; the person accepts, changes or rejects them, and write_file and apply_diff answer when that is " +
  "done. user_edits is the person's correction of what you wrote, so the file need not be read again. Commands run in a visible terminal " +
  "after the person has said yes. Paths are absolute or relative to the workspace folder.";

export interface McpHost extends CallHost {
  readonly version: string;
  /** The name of the program of others whose door it is; undefined: any client's. */
  readonly guest?: string;
  /** A client listens to notifications from now on. */
  listens?(client: ToolClient): void;
  /** A number that no other client of the window has. */
  nextId(): number;
  changed(): void;
  /** The client has disconnected; its calls end. */
  gone(client: ToolClient): void;
}

/** A client of the door, known by its session. */
export class McpClient implements ToolClient {
  name: string;
  /** Calls that are not answered yet. */
  calls = 0;
  /** Requests whose response is open. */
  connections = 0;
  /** Streams of notifications that are open, and what waits for one. */
  private streams = 0;
  private unsent: { method: string; params: object }[] = [];
  /** Sends a notification; undefined: the client gets none. */
  tell: ((method: string, params: object) => void) | undefined;
  seen: number;
  /** Aborted when the session ends. */
  readonly ended = new AbortController();
  readonly pid = undefined;

  constructor(
    readonly id: number,
    readonly since: number,
  ) {
    this.name = `client ${id}`;
    this.seen = since;
  }

  get isGuest(): boolean {
    return this.tell !== undefined;
  }

  /** The clients of /mcp get no notifications, and a guest gets each, though it may have to connect again for it. */
  notify(method: string, params: object): void {
    if (this.streams > 0) this.tell?.(method, params);
    else if (this.tell !== undefined && this.unsent.length < maxUnsent) this.unsent.push({ method, params });
  }

  /** A stream of notifications is open until the signal. */
  streaming(gone: AbortSignal): void {
    if (gone.aborted) return;
    this.streams++;
    gone.addEventListener("abort", () => this.streams--, { once: true });
    for (const { method, params } of this.unsent.splice(0)) this.notify(method, params);
  }

  setStatus(): void {
    return undefined;
  }

  keepFor(work: Promise<unknown>): void {
    this.calls++;
    const over = (): void => void this.calls--;
    work.then(over, over);
  }
}

interface Open {
  readonly client: McpClient;
  readonly server: Sdk.Server;
  readonly transport: Sdk.WebStandardStreamableHTTPServerTransport;
}

/**
 * The door for any MCP client: Streamable HTTP. Guarantees: a session for each
 * client that begins one, found by an identifier that cannot be guessed; it ends
 * by DELETE, after 30 minutes without a request in which nothing waits either (or
 * sooner, if there are too many), when its client has gone while something waits, or
 * with the window, and then its reviews and commands end too. Clients of the newest
 * protocol, which has no sessions, are served request by request.
 */
export class McpDoor {
  private readonly sessions = new Map<string, Open>();
  /** undefined: no client of the newest protocol has come since the window listens. */
  private modern: ReturnType<typeof Sdk.createMcpHandler> | undefined;
  private stopSweep: Cancel = () => undefined;

  constructor(private readonly host: McpHost) {}

  start(): void {
    this.stopSweep = this.host.clock.after(sweepMs, () => {
      const { clock } = this.host;
      for (const open of this.sessions.values()) {
        if (open.client.calls === 0 && clock.now() - open.client.seen >= idleMs) void this.end(open);
      }
      this.start();
    });
  }

  /** Tells every client something. */
  broadcast(method: string, params: object): void {
    for (const { client } of this.sessions.values()) client.tell?.(method, params);
  }

  /** Ends every session; answers that wait are given up. */
  async close(): Promise<void> {
    this.stopSweep();
    await Promise.all([...this.sessions.values()].map((open) => this.end(open)));
    const { modern } = this;
    this.modern = undefined; // the window may listen again, and a closed one answers nobody
    await modern?.close();
  }

  clients(): readonly Client[] {
    return [...this.sessions.values()].map(({ client: { id, name, pid, since, seen, isGuest } }) => ({ id, name, pid, since, heard: seen, ...(isGuest ? { isGuest } : {}) }));
  }

  handle(req: IncomingMessage, res: ServerResponse): void {
    // In the newest protocol a client that disconnects has cancelled its request; sessions outlive
    // connections.
    const gone = new AbortController();
    res.on("close", () => gone.abort());
    this.answer(req, gone.signal)
      .then((response) => sendResponse(res, response))
      .catch((err: unknown) => {
        if (!(err instanceof HttpError)) this.host.log.warn(`/mcp: ${messageOf(err)}`);
        sendError(res, err instanceof HttpError ? err : new HttpError(500, "internal error", -32_603));
      });
  }

  private async answer(req: IncomingMessage, gone: AbortSignal): Promise<Response> {
    if (!["GET", "POST", "DELETE"].includes(req.method ?? "")) {
      throw new HttpError(405, "the method is not allowed", -32_000, { Allow: "GET, POST, DELETE", Connection: "close" });
    }
    const id = req.headers["mcp-session-id"];
    const open = typeof id === "string" ? this.sessions.get(id) : undefined;
    if (id !== undefined && open === undefined) throw new HttpError(404, "Session not found", -32_000, { Connection: "close" });
    if (open !== undefined) this.joined(open, gone);
    const request = toRequest(req, gone);
    if (req.method !== "POST") {
      if (open === undefined) throw new HttpError(400, "Mcp-Session-Id header is required");
      const response = await open.transport.handleRequest(request);
      if (req.method === "GET" && response.ok) this.streaming(open.client, gone);
      return response;
    }
    if (!isJson(req)) throw new HttpError(415, "Content-Type must be application/json", -32_000, { Connection: "close" });
    const parsedBody = await readJson(req, maxPayload);
    if (Array.isArray(parsedBody) && parsedBody.length === 0) throw new HttpError(400, "a batch may not be empty", -32_600);
    if (open !== undefined) return open.transport.handleRequest(request, { parsedBody });
    const loaded = await import("./sdk");
    const { guest } = this.host; // a guest has a session: it is told its answers later
    if (guest === undefined && !(await loaded.isLegacyRequest(request, parsedBody))) {
      this.modern ??= this.makeModern(loaded);
      return this.modern.fetch(request, { parsedBody });
    }
    if (!isInitialize(parsedBody)) throw new HttpError(400, "Mcp-Session-Id header is required");
    if (this.sessions.size >= maxSessions) await this.makeRoom();
    return this.begin(loaded, request, parsedBody);
  }

  private streaming(client: McpClient, gone: AbortSignal): void {
    if (client.tell === undefined || gone.aborted) return;
    client.streaming(gone);
    this.host.listens?.(client);
    let stop: Cancel = () => undefined;
    const tick = (): void => {
      stop = this.host.clock.after(aliveMs, () => {
        client.tell?.("ping", {});
        tick();
      });
    };
    tick();
    gone.addEventListener("abort", () => stop(), { once: true });
  }

  /** Clients that go without a DELETE keep nobody out: the session that was idle longest ends, as it would in half an hour. */
  private async makeRoom(): Promise<void> {
    const idle = [...this.sessions.values()].filter(({ client }) => client.calls === 0 && client.connections === 0);
    const oldest = idle.sort((a, b) => a.client.seen - b.client.seen)[0];
    if (oldest === undefined) throw new HttpError(503, "too many sessions");
    this.host.log.info(`/mcp: the session of ${oldest.client.name} ends, to make room for another`);
    this.forget(oldest.transport.sessionId, oldest.client); // at once: who comes meanwhile takes the next one
    await this.end(oldest);
  }

  /** A client that was killed ends no session, but all its connections. */
  private joined(open: Open, gone: AbortSignal): void {
    const { client } = open;
    const { clock } = this.host;
    client.seen = clock.now();
    client.connections++;
    const left = (): void => {
      client.connections--;
      const since = (client.seen = clock.now());
      const isAbsent = (): boolean => client.connections === 0 && (client.calls > 0 || client.isGuest) && client.seen === since;
      if (isAbsent()) clock.after(absentMs, () => isAbsent() && void this.end(open));
    };
    if (gone.aborted) left();
    else gone.addEventListener("abort", left, { once: true });
  }

  private async begin(loaded: typeof Sdk, request: Request, parsedBody: unknown): Promise<Response> {
    const client = new McpClient(this.host.nextId(), this.host.clock.now());
    const server = this.makeServer(loaded, client);
    const transport = new loaded.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.sessions.set(id, { client, server, transport });
        this.host.changed();
      },
    });
    transport.onclose = () => this.forget(transport.sessionId, client);
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  private async end({ server }: Open): Promise<void> {
    await server.close();
  }

  private forget(id: string | undefined, client: McpClient): void {
    if (id === undefined || !this.sessions.delete(id)) return;
    client.ended.abort();
    this.host.gone(client);
    this.host.changed();
  }

  private makeModern(loaded: typeof Sdk): ReturnType<typeof Sdk.createMcpHandler> {
    const { host } = this;
    const make = (): Sdk.Server => this.makeServer(loaded, new McpClient(host.nextId(), host.clock.now()));
    const onerror = (err: Error): void => host.log.debug(`/mcp: ${err.message}`);
    return loaded.createMcpHandler(make, { legacy: "reject", onerror });
  }

  private makeServer({ ProtocolError, Server }: typeof Sdk, client: McpClient): Sdk.Server {
    const { host } = this;
    const info = { name: "agent-ide", title: "Agent for VS Code", version: host.version };
    const { guest } = host;
    // The door has a dispatcher and a table of its own for all doors; the SDK's high-level server would be a second one.
     
    const server = new Server(info, { capabilities: { tools: {} }, ...(guest === undefined ? { instructions } : {}) });
    if (guest !== undefined) {
      client.name = guest;
      client.tell = (method, params) => void server.notification({ method, params } as never).catch((err: unknown) => host.log.debug(`/mcp: ${messageOf(err)}`));
    }
    const named = (): void => {
      if (guest !== undefined) return;
      const name = oneLine(server.getClientVersion()?.name ?? "", 60);
      if (name !== "") client.name = name;
    };
    server.oninitialized = () => {
      named();
      host.changed();
    };
    server.onerror = (err) => host.log.debug(`/mcp: ${err.message}`);
    server.setRequestHandler("tools/list", () => ({ tools: host.tools.described() }) as never);
    server.setRequestHandler("tools/call", async (request, ctx) => {
      client.calls++;
      // In the newest protocol each request names its client, and nothing is initialized.
      named();
      try {
        const notify = (method: string, params: object): void => {
          ctx.mcpReq.notify({ method, params } as never).catch((err: unknown) => host.log.debug(`/mcp: ${messageOf(err)}`));
        };
        const params = { ...request.params, _meta: ctx.mcpReq._meta } as Record<string, unknown>;
        const cancelled = AbortSignal.any([ctx.mcpReq.signal, client.ended.signal]);
        const result = await callTool(host, { client, params, cancelled, notify });
        return (result ?? { content: [], isError: true }) as never;
      } catch (err) {
        throw err instanceof RpcError ? new ProtocolError(err.number, err.message, { code: err.code }) : err;
      } finally {
        client.calls--;
        client.seen = host.clock.now();
      }
    });
    return server;
  }
}

function isJson(req: IncomingMessage): boolean {
  return /^application\/json *(;|$)/i.test(req.headers["content-type"] ?? "");
}

function isInitialize(body: unknown): boolean {
  return (Array.isArray(body) ? body : [body]).some((message) => isObject(message) && message["method"] === "initialize");
}
