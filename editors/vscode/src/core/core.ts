import { randomUUID } from "node:crypto";
import { watchDiagnostics } from "./diagnostics";
import { diffTools } from "./difftools";
import { editorTools } from "./editortools";
import { messageOf } from "./errors";
import { Guard, newToken } from "./guard";
import { LockFile, lockFolder, sweep, systemLiveness } from "./lockfile";
import type { LockContent } from "./lockfile";
import { canonical } from "./paths";
import type { Cancel, Client, Ports, Selection } from "./ports";
import { Reviews } from "./reviews";
import { SelectionTracker } from "./selection";
import { maxPayload, Server } from "./server";
import type { Connection, ConnectionHandler } from "./server";
import { Session } from "./session";
import { ToolTable } from "./tools";

export interface CoreOptions {
  /** The version of the extension. */
  readonly version: string;
  /** ${AGENT_HOME:-~/.agent}; the lock goes into its folder "ide". */
  readonly home: string;
  /** A port to try first (0: none), so that restored terminals find us again. */
  readonly port: number;
  readonly pid: number;
}

/** The extension without the editor: server, lock file, tools and reviews. */
export class Core {
  readonly reviews: Reviews;
  private readonly sessions = new Map<number, Session>();
  private readonly selections: SelectionTracker;
  private readonly tools: ToolTable;
  private readonly server: Server;
  private readonly token = newToken();
  private readonly times: { readonly started: number; focused: number };
  private lock: LockFile | undefined;
  private stopWatching: Cancel = () => undefined;
  private lastId = 0;

  constructor(
    private readonly ports: Ports,
    private readonly options: CoreOptions,
  ) {
    const { clock, log } = ports;
    this.times = { started: clock.now(), focused: clock.now() };
    this.reviews = new Reviews(ports, randomUUID);
    this.selections = new SelectionTracker(clock, (selection) => this.broadcast("selection_changed", selection));
    this.tools = new ToolTable([...diffTools(this.reviews, ports), ...editorTools(ports, this.selections)], {
      closeTab: "close_tab",
    });
    this.server = new Server({ guard: new Guard(this.token), clock, log, connected: (connection) => this.connected(connection) });
  }

  /** Listens and writes the lock; resolves with what terminals have to know. */
  async start(): Promise<{ port: number; lockPath: string }> {
    const folder = await lockFolder(this.options.home);
    const swept = await sweep(folder, systemLiveness);
    for (const name of swept.removed) this.ports.log.info(`removed ${name}: its window is gone`);
    for (const problem of swept.problems) this.ports.log.warn(`cleaning ${folder}: ${problem}`);
    const port = await this.server.listen(this.options.port);
    const lock = new LockFile(folder, port);
    try {
      await lock.write(await this.lockContent());
    } catch (err) {
      await this.server.close();
      throw err;
    }
    this.lock = lock;
    this.stopWatching = watchDiagnostics(this.ports, (params) => this.broadcast("diagnostics_changed", params));
    return { port, lockPath: lock.path };
  }

  /** Ends every review undecided, closes all connections, removes the lock; start may follow. */
  async stop(): Promise<void> {
    this.stopWatching();
    this.selections.stop();
    const closed = this.reviews.dispose();
    // The answers are on their way; they must be sent before the connections close.
    await new Promise((done) => setImmediate(done));
    await Promise.all([closed, this.server.close(), this.lock?.remove()]);
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

  /** To be called with every change of the selection (undefined: the focus left the text). */
  selectionChanged(selection: Selection | undefined): void {
    this.selections.changed(selection);
  }

  /** Tells the clients to mention a file; lines are 0-based, inclusive. Returns how many were told. */
  mention(path: string, lines?: { start: number; end: number }): number {
    const where = lines === undefined ? {} : { lineStart: lines.start, lineEnd: lines.end };
    this.broadcast("at_mentioned", { filePath: path, ...where });
    return this.sessions.size;
  }

  /** The folders, the trust or the focus of the window changed: the lock follows. */
  windowChanged(change: { focused?: boolean }): void {
    if (change.focused === false) return;
    if (change.focused === true) this.times.focused = this.ports.clock.now();
    const { lock } = this;
    if (lock === undefined) return;
    this.lockContent()
      .then((content) => lock.write(content))
      .catch((err: unknown) => this.ports.log.warn(`writing the lock file: ${messageOf(err)}`));
  }

  private async lockContent(): Promise<LockContent> {
    const { workspace } = this.ports;
    const folders = workspace.folders().map(({ path }) => path);
    return {
      v: 1,
      pid: this.options.pid,
      workspaceFolders: folders,
      realFolders: await Promise.all(folders.map((path) => canonical(path).catch(() => path))),
      ideName: workspace.name,
      transport: "ws",
      authToken: this.token,
      trusted: workspace.isTrusted(),
      startedAt: this.times.started,
      focusedAt: this.times.focused,
      extVersion: this.options.version,
    };
  }

  private connected(connection: Connection): ConnectionHandler {
    const session = new Session(++this.lastId, (message) => connection.send(message), {
      clock: this.ports.clock,
      log: this.ports.log,
      tools: this.tools,
      version: this.options.version,
      capability: () => this.capability(),
      changed: () => this.clientsChanged(),
      ready: () => this.greet(session),
    });
    this.sessions.set(session.id, session);
    this.clientsChanged();
    return {
      message: (text) => session.receive(text),
      closed: () => {
        session.close();
        this.sessions.delete(session.id);
        this.reviews.ownerGone(session);
        this.clientsChanged();
      },
    };
  }

  /** Tells a new client what the others were told when it changed. */
  private greet(session: Session): void {
    const selected = this.selections.current();
    if (selected !== undefined) session.notify("selection_changed", selected);
  }

  /** What a client may rely on beyond the tools that every editor has. */
  private capability(): object {
    return {
      version: 1,
      openDiffDetails: 1,
      comments: 1,
      status: 1,
      trusted: this.ports.workspace.isTrusted(),
      platform: process.platform,
      maxPayload,
    };
  }

  private broadcast(method: string, params: object): void {
    for (const session of this.sessions.values()) session.notify(method, params);
  }

  private clientsChanged(): void {
    this.ports.notices.clientsChanged(this.clients());
  }
}

export function createCore(ports: Ports, options: CoreOptions): Core {
  return new Core(ports, options);
}
