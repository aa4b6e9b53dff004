import type { IncomingMessage } from "node:http";
import type { Busy } from "../difftools";
import { bearer, Guard, newToken, raw } from "../guard";
import { IdeDoor } from "../idedoor";
import { McpDoor } from "../mcp/door";
import type { Client, Ports, Selection } from "../ports";
import type { Reviews } from "../reviews";
import type { SelectionTracker } from "../selection";
import type { HttpDoor, SocketDoor } from "../server";
import { GuestFile, whyNot } from "./files";
import type { Facts, Folders } from "./files";
import { httpTools, OpenFiles } from "./http";
import { guests } from "./names";
import type { Guest } from "./names";
import { guestHeader, socketTools } from "./socket";

interface Host {
  readonly ports: Ports;
  readonly reviews: Reviews;
  readonly others: Busy;
  readonly selections: SelectionTracker;
  readonly version: string;
  readonly folders: Folders;
  nextId(): number;
  changed(): void;
}

/** One guest: its door, the token of it alone, and its file while it is wanted. */
interface Entry {
  readonly guest: Guest;
  readonly guard: Guard;
  readonly door: IdeDoor | McpDoor;
  file: GuestFile | undefined;
  token: string;
  /** Why there is no file, as the person was told. */
  failed: string;
}

/**
 * The doors for terminal agents of others, each shut unless the person has asked for it. Guarantees:
 * a token opens the door of its guest and no other; behind it there are reviews, which only the
 * person answers, and the selection and the problems in the editor.
 */
export class Guests {
  private readonly entries: readonly Entry[];
  private readonly files: OpenFiles;
  private facts: Facts | undefined;
  private work: Promise<void> = Promise.resolve();

  constructor(private readonly host: Host) {
    this.files = new OpenFiles(host.ports);
    this.entries = guests.map((guest) => {
      const credential = guest.dialect === "socket" ? raw(guestHeader) : bearer;
      return { guest, guard: new Guard(undefined, { credential }), door: this.doorOf(guest), file: undefined, token: "", failed: "" };
    });
  }

  sockets(): readonly SocketDoor[] {
    return this.entries.flatMap(({ guest, guard, door }) => {
      if (!(door instanceof IdeDoor)) return [];
      const open = (req: IncomingMessage): boolean => req.headers[guestHeader] !== undefined && this.isWanted(guest);
      return [{ path: "/", guard, open, connected: (connection) => door.connected(connection) }];
    });
  }

  /** At the path of other clients; a request is told from theirs by its token. */
  http(): readonly HttpDoor[] {
    return this.entries.flatMap(({ guest, guard, door }) => {
      if (!(door instanceof McpDoor)) return [];
      const open = (req: IncomingMessage): boolean => this.isWanted(guest) && guard.isFor(req);
      return [{ path: "/mcp", guard, open, handle: (req, res) => door.handle(req, res) }];
    });
  }

  clients(): readonly Client[] {
    return this.entries.flatMap(({ door }) => door.clients());
  }

  /** The window listens. */
  start(facts: Facts): Promise<void> {
    this.facts = facts;
    for (const entry of this.entries) {
      entry.token = newToken();
      entry.guard.use(entry.token);
    }
    return this.update();
  }

  async stop(): Promise<void> {
    this.facts = undefined;
    await this.update();
  }

  /** Brings files and connections up to date with the setting, the folders and the trust. */
  update(): Promise<void> {
    this.work = this.work.then(async () => {
      for (const entry of this.entries) await this.updateOne(entry);
    });
    return this.work;
  }

  selectionChanged(selection: Selection | undefined): void {
    if (selection !== undefined) this.files.changed(selection);
  }

  /** The selection has lasted. */
  selected(params: object): void {
    for (const { door } of this.entries) {
      if (door instanceof IdeDoor) door.broadcast("selection_changed", params);
      else door.broadcast("ide/contextUpdate", this.files.context());
    }
  }

  /** Tells those who can be told to mention a file; returns how many. */
  mention(params: object): number {
    const sockets = this.entries.map(({ door }) => door).filter((door) => door instanceof IdeDoor);
    for (const door of sockets) door.broadcast("at_mentioned", params);
    return sockets.reduce((sum, { count }) => sum + count, 0);
  }

  private async updateOne(entry: Entry): Promise<void> {
    const { guest, file, door } = entry;
    const { facts, host } = this;
    if (facts === undefined || !this.isWanted(guest)) {
      if (file === undefined) return;
      entry.file = undefined;
      await Promise.all([door.close(), file.remove().catch((err: unknown) => host.ports.log.warn(String(err)))]);
      return;
    }
    entry.file ??= this.opened(entry, facts);
    try {
      await entry.file.write();
      entry.failed = "";
    } catch (err) {
      const failed = whyNot(guest, facts, err);
      if (failed !== entry.failed) host.ports.notices.warn(failed);
      entry.failed = failed;
    }
  }

  private opened({ guest, door, token }: Entry, facts: Facts): GuestFile {
    if (door instanceof McpDoor) door.start();
    return new GuestFile(guest, this.host.folders[guest.name] ?? "", facts, token);
  }

  private isWanted({ name }: Guest): boolean {
    return this.host.ports.settings.reviewEditsOf().includes(name);
  }

  private doorOf(guest: Guest): IdeDoor | McpDoor {
    const { ports, reviews, others, selections, version } = this.host;
    const tools = { guest, ports, reviews, others };
    const shared = { version, guest: guest.name, nextId: () => this.host.nextId(), changed: () => this.host.changed() };
    if (guest.dialect === "socket") return new IdeDoor({ ports, reviews, selections, tools: socketTools(tools), ...shared });
    const { clock, log } = ports;
    return new McpDoor({
      clock,
      log,
      tools: httpTools(tools),
      gone: (client) => reviews.ownerGone(client),
      listens: (client) => client.notify("ide/contextUpdate", this.files.context()),
      ...shared,
    });
  }
}
