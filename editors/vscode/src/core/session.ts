import { basename } from "node:path";
import { callTool } from "./calls";
import type { CallHost } from "./calls";
import { Peer, RpcError, rpcCodes } from "./jsonrpc";
import type { Call } from "./jsonrpc";
import type { ClientStatus } from "./ports";
import { isObject } from "./schema";
import { oneLine, visibleName } from "./text";
import type { ToolClient } from "./tools";

/** The versions of MCP that we speak, the newest first. */
const versions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const instructions =
  "openDiff blocks until the person decides. The client writes the returned text; details.patch is the person's correction of the " +
  "proposal, so the file need not be read again. Check with checkDocumentDirty before proposing an edit. Diagnostics that " +
  "are not settled mean unknown, not clean. Lines are 0-based in positions and 1-based in text.";

/** The surroundings of a session. */
export interface SessionHost extends CallHost {
  readonly version: string;
  /** The value of the capability "agent/ide"; none for a guest. */
  capability?(): object;
  /** The name of the program whose door it is, which no client chooses there. */
  readonly guest?: string;
  /** The handshake is over, or the client said something about itself. */
  changed(): void;
  /** An edit of a file that the person has accepted here was not written. */
  notWritten(name: string, why: string): void;
  /** The client takes notifications from now on. */
  ready(): void;
}

/** One connected client, from its handshake to its end: MCP over JSON-RPC. */
export class Session implements ToolClient {
  private readonly peer: Peer;
  private initialized = false;
  private known: { name: string; pid: number | undefined; status: ClientStatus | undefined };
  readonly since: number;
  readonly isGuest: boolean;

  constructor(
    readonly id: number,
    write: (message: string) => void,
    private readonly host: SessionHost,
  ) {
    this.since = host.clock.now();
    this.isGuest = host.guest !== undefined;
    this.known = { name: host.guest ?? `client ${id}`, pid: undefined, status: undefined };
    this.peer = new Peer(write, {
      request: (method, params, call) => this.request(method, params, call),
      notification: (method, params) => this.notification(method, params),
    });
  }

  get name(): string {
    return this.known.name;
  }

  get pid(): number | undefined {
    return this.known.pid;
  }

  get status(): ClientStatus | undefined {
    return this.known.status;
  }

  receive(message: string): void {
    this.peer.receive(message);
  }

  close(): void {
    this.peer.close();
  }

  /** Tells the client something, once it is ready for that. */
  notify(method: string, params: object): void {
    if (this.initialized) this.peer.notify(method, params);
  }

  setStatus(status: { state: string; text: string; tooltip: string }): void {
    const state = (["idle", "working", "waiting", "error"] as const).find((each) => each === status.state) ?? "idle";
    this.known.status = { ...status, state };
    this.host.changed();
  }

  private async request(method: string, params: Record<string, unknown>, call: Call): Promise<object | undefined> {
    if (method === "initialize") return this.initialize(params);
    if (method === "ping") return {};
    if (!this.initialized) throw new RpcError(rpcCodes.invalidRequest, "initialize comes first");
    switch (method) {
      case "tools/list":
        return { tools: this.host.tools.described() };
      case "tools/call":
        return callTool(this.host, { client: this, params, cancelled: call.cancelled, notify: (name, more) => this.notify(name, more) });
      default:
        throw new RpcError(rpcCodes.methodNotFound, `no such method: ${oneLine(method, 100)}`);
    }
  }

  private initialize(params: Record<string, unknown>): object {
    const asked = params["protocolVersion"];
    const client = isObject(params["clientInfo"]) ? params["clientInfo"] : {};
    const { guest } = this.host;
    const capability = this.host.capability?.();
    if (guest === undefined && typeof client["name"] === "string" && client["name"] !== "") this.known.name = oneLine(client["name"], 60);
    this.initialized = true;
    this.host.changed();
    return {
      protocolVersion: versions.find((version) => version === asked) ?? versions[0],
      capabilities: { tools: { listChanged: false }, ...(capability === undefined ? {} : { experimental: { "agent/ide": capability } }) },
      serverInfo: { name: "agent-ide", title: "Agent for VS Code", version: this.host.version },
      ...(guest === undefined ? { instructions } : {}),
    };
  }

  private notification(method: string, params: Record<string, unknown>): void {
    if (method === "notifications/initialized") {
      this.host.ready();
    } else if (method === "ide_connected" && Number.isSafeInteger(params["pid"])) {
      this.known.pid = params["pid"] as number;
      this.host.changed();
    } else if (method === "not_written" && this.host.guest === undefined) {
      this.host.notWritten(visibleName(basename(String(params["filePath"]))), oneLine(String(params["reason"]), 300));
    } else if (method === "log_event") {
      this.host.log.debug(`${this.name}: ${oneLine(JSON.stringify(params), 300)}`);
    }
    // Others, known or not, ask for nothing.
  }
}
