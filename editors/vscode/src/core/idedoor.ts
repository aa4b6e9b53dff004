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
  nextId(): number;
  changed(): void;
}

/** The door of agents: MCP over a WebSocket, which also tells them what happens in the editor. */
export class IdeDoor {
  private readonly sessions = new Map<number, Session>();

  constructor(private readonly host: IdeHost) {}

  get count(): number {
    return this.sessions.size;
  }

  clients(): readonly Client[] {
    return [...this.sessions.values()].map(({ id, name, pid, since, status }) => ({
      id,
      name,
      pid,
      since,
      ...(status === undefined ? {} : { status }),
    }));
  }

  broadcast(method: string, params: object): void {
    for (const session of this.sessions.values()) session.notify(method, params);
  }

  connected(connection: Connection): ConnectionHandler {
    const { ports, tools, version, reviews } = this.host;
    const session = new Session(this.host.nextId(), (message) => connection.send(message), {
      clock: ports.clock,
      log: ports.log,
      tools,
      version,
      capability: () => this.capability(),
      changed: () => this.host.changed(),
      notWritten: (name, why) => ports.notices.warn(ports.t("The edit of {0} that you accepted was not written: {1}", name, why)),
      ready: () => this.greet(session),
    });
    this.sessions.set(session.id, session);
    this.host.changed();
    return {
      message: (text) => session.receive(text),
      closed: () => {
        session.close();
        this.sessions.delete(session.id);
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
