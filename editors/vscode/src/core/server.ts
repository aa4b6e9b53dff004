import { createServer, STATUS_CODES } from "node:http";
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { RawData, WebSocket } from "ws";
import type { Guard } from "./guard";
import { Handshake, nonceHeader, nonceOf, proofHeader } from "./proof";
import type { Cancel, Clock, Log } from "./ports";

/** Bytes of the largest message that is taken; a client is told in the handshake. */
export const maxPayload = 16 * 1024 * 1024;
const maxConnections = 16;
// With those whose handshake goes on or will be refused.
const maxSockets = 64;
const maxUnsent = 64 * 1024 * 1024;
const pingMs = 30_000;
const maxMissedPongs = 2;
const handshakeMs = 5_000;
const closeMs = 1_000;
// Connections that have not proved yet, and the bytes that each may send by then.
const maxUnproved = 32;
const maxUnprovedBytes = 64 * 1024;
const keepAliveMs = 65_000;
const refusalLogMs = 60_000;

/** A connection that passed the guard. */
export interface Connection {
  send(message: string): void;
  close(code: number, reason: string): void;
}

/** What to do with an accepted connection. */
export interface ConnectionHandler {
  message(text: string): void;
  closed(): void;
}

/** A way in, by WebSocket or by plain requests, at a path of its own. */
interface Door {
  /** The path of the URL, without a query. */
  readonly path: string;
  readonly guard: Guard;
  /** Whether it is open now for such a request; always, if absent. */
  open?(req: IncomingMessage): boolean;
}

export interface SocketDoor extends Door {
  /** What both sides prove that they know before anything else is said; its guard asks for a nonce. */
  secret?(): string;
  connected(connection: Connection): ConnectionHandler;
}

export interface HttpDoor extends Door {
  /** Takes a request that passed the guard. */
  handle(req: IncomingMessage, res: ServerResponse): void;
}

export interface ServerOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Guards paths without a door: a client that may not come in learns nothing about the paths. */
  readonly guard: Guard;
  /** The first that is open at the path of a request is asked. */
  readonly sockets: readonly SocketDoor[];
  readonly http: readonly HttpDoor[];
}

/**
 * The one server of the window, on the loopback address alone. Nobody passes a door without
 * satisfying its guard, and no body is read before that; a door with a secret serves only clients
 * that have proved to know it; a dead WebSocket is noticed within 90 seconds; the memory held for a
 * client is bounded.
 */
export class Server {
  private readonly http: HttpServer;
  private readonly sockets: WebSocketServer;
  private readonly served = new Set<WebSocket>();
  private readonly unproved = new Set<WebSocket>();
  private readonly handshakes = new WeakMap<IncomingMessage, Handshake>();
  private refused = { count: 0, loggedAt: -Infinity };

  constructor(private readonly options: ServerOptions) {
    this.sockets = new WebSocketServer({
      noServer: true,
      maxPayload,
      perMessageDeflate: false,
      clientTracking: true,
      handleProtocols: (offered) => (offered.has("mcp") ? "mcp" : false),
    });
    this.sockets.on("headers", (headers, req) => {
      const handshake = this.handshakes.get(req);
      if (handshake !== undefined) headers.push(`${nonceHeader}: ${handshake.server}`, `${proofHeader}: ${handshake.serverProof()}`);
    });
    const times = { headersTimeout: handshakeMs, requestTimeout: handshakeMs, keepAliveTimeout: keepAliveMs, connectionsCheckingInterval: 1_000 };
    this.http = createServer(times, (req, res) => this.plain(req, res));
    this.http.maxConnections = maxSockets;
    this.http.on("error", (err) => this.options.log.warn(`server: ${err.message}`));
    this.http.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => this.upgrade(req, socket, head));
  }

  /** Listens on the preferred port, or on a free one if it is taken; returns the port. */
  async listen(wished: number): Promise<number> {
    try {
      await this.bind(wished);
    } catch (err) {
      if (wished === 0) throw err;
      await this.bind(0);
    }
    return this.port;
  }

  /** Closes every connection and stops listening. */
  async close(): Promise<void> {
    for (const socket of this.sockets.clients) socket.close(1001, "the editor closes");
    const closed = new Promise<void>((done) => this.http.close(() => done()));
    this.http.closeAllConnections();
    const stop = this.options.clock.after(1_000, () => {
      for (const socket of this.sockets.clients) socket.terminate();
    });
    await closed;
    stop();
  }

  private get port(): number {
    return (this.http.address() as AddressInfo | null)?.port ?? 0;
  }

  private bind(port: number): Promise<void> {
    return new Promise((done, fail) => {
      this.http.once("error", fail);
      this.http.listen({ host: "127.0.0.1", port, exclusive: true }, () => {
        this.http.off("error", fail);
        done();
      });
    });
  }

  private plain(req: IncomingMessage, res: ServerResponse): void {
    const http = find(this.options.http, req);
    const socket = find(this.options.sockets, req);
    const refusal = (http ?? socket ?? this.options).guard.refusal(req, this.port);
    if (refusal !== undefined) this.countRefusal(refusal);
    else if (http !== undefined) return http.handle(req, res);
    const status = refusal ?? (socket === undefined ? 404 : 426);
    const body = bodyOf(status);
    res.writeHead(status, { Connection: "close", "Content-Type": "text/plain", "Content-Length": Buffer.byteLength(body), ...hints[status] });
    res.end(body);
  }

  private upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", (err) => this.options.log.debug(`handshake: ${err.message}`));
    const found = find(this.options.sockets, req);
    const refusal = (found ?? this.options).guard.refusal(req, this.port);
    if (refusal !== undefined) {
      this.countRefusal(refusal);
      return refuse(socket, refusal);
    }
    if (found === undefined) return refuse(socket, 404);
    if (this.served.size >= maxConnections) return refuse(socket, 503);
    const secret = found.secret?.();
    if (secret === undefined) return this.sockets.handleUpgrade(req, socket, head, (ws) => this.serve(ws, found));
    const handshake = new Handshake(secret, this.port, nonceOf(req) ?? "");
    this.handshakes.set(req, handshake);
    this.sockets.handleUpgrade(req, socket, head, (ws) => this.prove(ws, socket as Socket, handshake, found));
  }

  /** Waits for the proof of the client, who can make us keep little until then. */
  private prove(ws: WebSocket, socket: Socket, handshake: Handshake, door: SocketDoor): void {
    const [oldest] = this.unproved;
    if (this.unproved.size >= maxUnproved) oldest?.terminate();
    this.unproved.add(ws);
    const stop = this.options.clock.after(handshakeMs, () => ws.terminate());
    const weigh = (): void => {
      if (this.unproved.has(ws) && socket.bytesRead > maxUnprovedBytes) ws.terminate();
    };
    const over = (): void => {
      stop();
      socket.off("data", weigh);
      this.unproved.delete(ws);
    };
    const failed = (err: Error): void => this.options.log.debug(`handshake: ${err.message}`);
    socket.on("data", weigh);
    ws.on("error", failed);
    ws.once("close", over);
    ws.once("message", (data: RawData, isBinary: boolean) => {
      over();
      if (!isBinary && handshake.isProved(toText(data)) && this.served.size < maxConnections) {
        ws.off("error", failed);
        return this.serve(ws, door);
      }
      this.countRefusal(401);
      ws.close(4001, "the proof is wrong");
      this.options.clock.after(closeMs, () => ws.terminate());
    });
  }

  private serve(ws: WebSocket, door: SocketDoor): void {
    this.served.add(ws);
    const handler = door.connected({
      send: (message) => this.send(ws, message),
      close: (code, reason) => ws.close(code, reason),
    });
    const stopPings = this.keepAlive(ws);
    ws.on("message", (data: RawData, isBinary: boolean) => {
      if (isBinary) ws.close(1003, "text only");
      else handler.message(toText(data));
    });
    ws.on("error", (err) => this.options.log.warn(`connection: ${err.message}`));
    ws.on("close", () => {
      this.served.delete(ws);
      stopPings();
      handler.closed();
    });
  }

  private send(ws: WebSocket, message: string): void {
    if (ws.readyState !== ws.OPEN) return;
    if (ws.bufferedAmount > maxUnsent) {
      this.options.log.warn("a client does not read what it is sent; its connection is closed");
      return ws.terminate();
    }
    ws.send(message);
  }

  /** Pings every 30 seconds and ends a connection that has missed two. */
  private keepAlive(ws: WebSocket): Cancel {
    let missed = 0;
    let stop: Cancel = () => undefined;
    ws.on("pong", () => (missed = 0));
    const tick = (): void => {
      stop = this.options.clock.after(pingMs, () => {
        if (missed >= maxMissedPongs) return ws.terminate();
        missed++;
        ws.ping();
        tick();
      });
    };
    tick();
    return () => stop();
  }

  /** Somebody who guesses would fill the log. */
  private countRefusal(status: number): void {
    this.refused.count++;
    const now = this.options.clock.now();
    if (now - this.refused.loggedAt < refusalLogMs) return;
    this.options.log.warn(`refused ${this.refused.count} request(s), the last with status ${status}`);
    this.refused = { count: 0, loggedAt: now };
  }
}

function find<T extends Door>(doors: readonly T[], req: IncomingMessage): T | undefined {
  return doors.find((door) => door.path === pathOf(req) && door.open?.(req) !== false);
}

function pathOf(req: IncomingMessage): string {
  return (req.url ?? "").split("?", 1)[0] ?? "";
}

const hints: Readonly<Record<number, Record<string, string>>> = {
  401: { "WWW-Authenticate": "Bearer" },
  426: { Upgrade: "websocket" },
};

/** The meaning of a refusal, and the next step. */
const words: Readonly<Record<number, string>> = {
  401: "The token is missing or wrong. Take the newest entry from the editor: the command Agent: Copy Configuration for MCP Clients.",
  403: "Only programs on this computer may connect, and no web pages.",
  404: "Nothing is served at this path.",
  426: "This path is for WebSocket connections.",
  503: "Too many connections. Close some, and try again.",
};

function bodyOf(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ""}: ${words[status] ?? "refused"}\n`;
}

function refuse(socket: Duplex, status: number): void {
  const body = bodyOf(status);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function toText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return Buffer.from(data as Buffer).toString("utf8");
}
