import type { Client, Ports } from "./ports";
import type { Reviews } from "./reviews";
import type { SelectionTracker } from "./selection";
import { maxPayload } from "./server";
import type { Connection, ConnectionHandler } from "./server";
import { Session } from "./session";
import type { ToolTable } from "./tools";

export interface IdeHost {
  readonly ports: Ports;
  readonly tools: ToolTable;
  readonly reviews: Reviews;
  readonly selections: SelectionTracker;
  readonly version: string;
  /** The name of the program of others whose door it is; undefined: ours. */
  readonly guest?: string;
  nextId(): number;
  changed(): void;
}

/** The door of agents, or of one guest: MCP over a WebSocket, which also tells them what happens in the editor. */
export class IdeDoor {
  private readonly sessions = new Map<Session, Connection>();

  constructor(private readonly host: IdeHost) {}

  get count(): number {
    return this.sessions.size;
  }

  clients(): readonly Client[] {
    return [...this.sessions.keys()].map(({ id, name, pid, since, status, isGuest }) => ({
      id,
      name,
      pid,
      since,
      ...(status === undefined ? {} : { status }),
      ...(isGuest ? { isGuest } : {}),
    }));
  }

  /** Ends all connections. */
  close(): void {
    for (const connection of this.sessions.values()) connection.close(1001, "the door is shut");
  }

  broadcast(method: string, params: object): void {
    for (const session of this.sessions.keys()) session.notify(method, params);
  }

  connected(connection: Connection): ConnectionHandler {
    const { ports, tools, version, reviews, guest } = this.host;
    const session = new Session(this.host.nextId(), (message) => connection.send(message), {
      clock: ports.clock,
      log: ports.log,
      tools,
      version,
      ...(guest === undefined ? { capability: () => this.capability() } : { guest }),
      changed: () => this.host.changed(),
      notWritten: (name, why) => ports.notices.warn(ports.t("The edit of {0} that you accepted was not written: {1}", name, why)),
      ready: () => this.greet(session),
    });
    this.sessions.set(session, connection);
    this.host.changed();
    return {
      message: (text) => session.receive(text),
      closed: () => {
        session.close();
        this.sessions.delete(session);
        reviews.ownerGone(session);
        this.host.changed();
      },
    };
  }

  /** Sends a new client the last change, which the others have. */
  private greet(session: Session): void {
    const selected = this.host.selections.current();
    if (selected !== undefined) session.notify("selection_changed", selected);
  }

  /** Announces the whole protocol, whose number is in the lock and in every proof. */
  private capability(): object {
    return {
      trusted: this.host.ports.workspace.isTrusted(),
      platform: process.platform,
      maxPayload,
    };
  }
}
