import { messageOf } from "./errors";
import { isObject } from "./schema";

export type Id = string | number;

export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  aborted: -32001,
  busy: -32002,
} as const;

/** Reports whether an answer can carry exactly this id: JavaScript rounds larger numbers. */
function isId(id: unknown): id is Id {
  return typeof id === "string" || (typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER);
}

/** An error that goes back as a JSON-RPC error; code names it within data. */
export class RpcError extends Error {
  constructor(
    readonly number: number,
    message: string,
    readonly code?: string,
  ) {
    super(message);
    this.name = "RpcError";
  }
}

export interface Handlers {
  /** The result, or undefined for none: the request was cancelled. */
  request(method: string, params: Record<string, unknown>, call: Call): Promise<object | undefined>;
  notification(method: string, params: Record<string, unknown>): void;
}

/** A request in flight. */
export interface Call {
  readonly id: Id;
  /** Aborted by the client; not when the connection is lost. */
  readonly cancelled: AbortSignal;
}

const maxInFlight = 64;

/**
 * One end of a JSON-RPC 2.0 connection that answers requests. Guarantees: every
 * request with an id gets exactly one response, unless it was cancelled or the
 * connection ended; no input makes it throw.
 */
export class Peer {
  private readonly inFlight = new Map<Id, AbortController>();
  private closed = false;

  constructor(
    private readonly write: (message: string) => void,
    private readonly handlers: Handlers,
  ) {}

  /** Takes one message. */
  receive(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return this.fail(null, new RpcError(rpcCodes.parse, "the message is not JSON"));
    }
    if (Array.isArray(message)) return this.fail(null, new RpcError(rpcCodes.invalidRequest, "batches are not supported"));
    if (!isObject(message) || message["jsonrpc"] !== "2.0") {
      return this.fail(null, new RpcError(rpcCodes.invalidRequest, "not a JSON-RPC 2.0 message"));
    }
    if (typeof message["method"] !== "string") return this.stray(message);
    const params = isObject(message["params"]) ? message["params"] : {};
    if (message["id"] === undefined) this.notified(message["method"], params);
    else this.requested(message["id"], message["method"], params);
  }

  notify(method: string, params: object): void {
    this.send({ method, params });
  }

  /** Marks the connection as closed: nothing more is written. */
  close(): void {
    this.closed = true;
    this.inFlight.clear();
  }

  /** We send no requests, so a response belongs to nothing; anything else is malformed. */
  private stray(message: Record<string, unknown>): void {
    if ("result" in message || "error" in message) return;
    this.fail(null, new RpcError(rpcCodes.invalidRequest, "the message has no method"));
  }

  private notified(method: string, params: Record<string, unknown>): void {
    if (method === "notifications/cancelled") {
      const id = params["requestId"];
      if (typeof id === "string" || typeof id === "number") this.cancel(id);
      return;
    }
    this.handlers.notification(method, params);
  }

  private cancel(id: Id): void {
    const controller = this.inFlight.get(id);
    this.inFlight.delete(id);
    controller?.abort();
  }

  private requested(id: unknown, method: string, params: Record<string, unknown>): void {
    if (!isId(id)) return this.fail(null, new RpcError(rpcCodes.invalidRequest, "the id must be a string, or a number of at most 2^53 - 1"));
    if (this.inFlight.has(id)) return this.fail(id, new RpcError(rpcCodes.invalidRequest, "a request with this id is being answered"));
    if (this.inFlight.size >= maxInFlight) return this.fail(id, new RpcError(rpcCodes.busy, "too many requests at once", "BUSY"));
    const controller = new AbortController();
    this.inFlight.set(id, controller);
    this.handlers.request(method, params, { id, cancelled: controller.signal }).then(
      (result) => this.finish(id, controller, () => result !== undefined && this.send({ id, result })),
      (err: unknown) => this.finish(id, controller, () => this.fail(id, err)),
    );
  }

  /** Answers, unless the request was cancelled: then its id may belong to another by now. */
  private finish(id: Id, controller: AbortController, answer: () => void): void {
    if (this.inFlight.get(id) !== controller) return;
    this.inFlight.delete(id);
    answer();
  }

  private fail(id: Id | null, thrown: unknown): void {
    const err = thrown instanceof RpcError ? thrown : new RpcError(rpcCodes.internal, messageOf(thrown), "INTERNAL");
    const data = err.code === undefined ? {} : { data: { code: err.code } };
    this.send({ id, error: { code: err.number, message: err.message, ...data } });
  }

  private send(message: object): void {
    if (!this.closed) this.write(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }
}
