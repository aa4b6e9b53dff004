import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { BridgeDoor } from "./bridge/door";
import { watchDiagnostics } from "./diagnostics";
import { diffTools } from "./difftools";
import { Drafts } from "./drafts";
import { editorTools } from "./editortools";
import { bearer, Guard, newToken, tokenHeader } from "./guard";
import { askForPort, requestFile, watchRequests } from "./handover";
import { IdeDoor } from "./idedoor";
import { isWindow, lockFolder, portsOf, sweep, systemLiveness } from "./lockfile";
import { McpDoor } from "./mcp/door";
import type { McpPlace } from "./mcptokens";
import { terminalTool } from "./native/command";
import { Edits } from "./native/edits";
import { Guests } from "./guest/guests";
import type { Folders } from "./guest/files";
import { guestHeader } from "./guest/socket";
import { jsonFailure } from "./native/guarded";
import { nativeTools } from "./native/tools";
import type { Cancel, Client, DraftFiles, Ports, Selection } from "./ports";
import { nonceOf } from "./proof";
import { mcpUrl, Published } from "./published";
import type { McpEntry } from "./published";
import { Reviews } from "./reviews";
import { SecretSocket } from "./secretsocket";
import { SelectionTracker } from "./selection";
import { Server } from "./server";
import type { Connection, ConnectionHandler, SocketDoor } from "./server";
import { ToolTable } from "./tools";

export interface CoreOptions {
  /** The version of the extension. */
  readonly version: string;
  /** ${AGENT_HOME:-~/.agent}; the lock goes into its folder "ide". */
  readonly home: string;
  /** A port to try first (0: none), so that restored terminals find us again. */
  readonly port: number;
  readonly pid: number;
  /** Where the texts outlive the window that persons type in reviews; undefined: nowhere. */
  readonly drafts?: DraftFiles | undefined;
  /** Where the programs of others look for an editor; without, none is let in. */
  readonly guestFolders?: Folders;
  /** Opens /mcp there; kept by the caller, so that a client that is configured once stays so. */
  mcpToken(place: McpPlace): Promise<string>;
}

/** Things to dispose with the server. */
interface Running {
  readonly port: number;
  readonly published: Published;
  readonly mcpToken: string;
  /** Undefined on Windows, which has no sandbox: the lock holds the secret itself. */
  readonly socket: SecretSocket | undefined;
  stopWatching: Cancel;
}

/** The error of a start during which the window was told to stop. */
export class Stopped extends Error {
  constructor() {
    super("stopped while it started");
  }
}

/** The extension without the editor: server, doors, files by which it is found, tools and reviews. */
export class Core {
  readonly reviews: Reviews;
  readonly drafts: Drafts | undefined;
  private readonly selections: SelectionTracker;
  private readonly ide: IdeDoor;
  private readonly mcp: McpDoor;
  private readonly guests: Guests;
  private readonly bridge: BridgeDoor;
  private readonly mcpGuard: Guard;
  private readonly server: Server;
  // Others for each time that it listens: who learned those of an earlier port knows nothing.
  private secret = newToken();
  private token = newToken();
  private readonly tokenGuards: readonly Guard[];
  private readonly startedAt: number;
  private running: Running | undefined;
  /** The last start, which may go on still: the next one waits for its end. */
  private starting: Promise<unknown> = Promise.resolve();
  /** The number of calls to stop. */
  private stops = 0;
  private warned: readonly string[] = [];
  private lastId = 0;
  /** Called when nobody sees the window and another window wants its port, with a promise of being seen again. */
  onUnseen: (back: Promise<void>) => void = () => undefined;

  constructor(
    private readonly ports: Ports,
    private readonly options: CoreOptions,
  ) {
    const { clock, log, settings } = ports;
    const { version } = options;
    this.startedAt = clock.now();
    const isLinked = (pid: number, ms: number): boolean => this.clients().some((client) => client.pid === pid && clock.now() - client.since >= ms);
    const { drafts } = options;
    this.drafts = drafts && new Drafts({ clock, log, files: drafts, pid: options.pid, isAlive: (pid) => systemLiveness.isOurs(pid), isLinked });
    this.reviews = new Reviews(ports, randomUUID, this.drafts);
    this.selections = new SelectionTracker(clock, (selection) => {
      this.ide.broadcast("selection_changed", selection);
      this.guests.selected(selection);
    });
    const shared = { nextId: () => ++this.lastId, changed: () => this.clientsChanged() };
    const edits = new Edits(ports, this.reviews);
    const editing = [...diffTools(this.reviews, ports, edits), ...editorTools(ports, this.selections), terminalTool(ports)];
    const tools = new ToolTable(editing, { closeTab: "close_tab" });
    this.ide = new IdeDoor({ ports, tools, reviews: this.reviews, selections: this.selections, version, ...shared });
    const native = new ToolTable(nativeTools(ports, edits), {}, jsonFailure);
    this.mcp = new McpDoor({ clock, log, tools: native, version, gone: (client) => this.reviews.ownerGone(client), ...shared });
    this.bridge = new BridgeDoor({ ports, reviews: this.reviews, edits, version, ...shared });
    this.guests = new Guests({ ports, reviews: this.reviews, others: edits, selections: this.selections, version, folders: options.guestFolders ?? {}, ...shared });
    this.mcpGuard = new Guard(undefined, { credential: bearer, required: () => settings.requireAuth() });
    const guard = new Guard(undefined);
    const bridgeGuard = new Guard(undefined, { required: () => settings.bridgeRequireAuth() });
    this.tokenGuards = [guard, bridgeGuard];
    this.server = new Server({
      clock,
      log,
      guard,
      sockets: [...this.guests.sockets(), ...this.sockets(bridgeGuard)],
      http: [
        ...this.guests.http(),
        {
          path: "/mcp",
          guard: this.mcpGuard,
          open: () => settings.mcpEnabled(),
          handle: (req, res) => this.mcp.handle(req, res),
        },
      ],
    });
  }

  /** Listens and writes the lock; resolves with what terminals have to know. Rejects with Stopped if stop is called before that. */
  start(): Promise<{ port: number; lockPath: string }> {
    const { stops } = this;
    const goOn = (): void => {
      if (this.stops !== stops) throw new Stopped();
    };
    const started = this.starting.then(() => this.listen(goOn));
    this.starting = started.catch(() => undefined);
    return started;
  }

  /** goOn throws if the window no longer wants to listen. */
  private async listen(goOn: () => void): Promise<{ port: number; lockPath: string }> {
    const { ports, options } = this;
    const folder = await lockFolder(options.home);
    const swept = await sweep(folder, systemLiveness);
    for (const name of swept.removed) ports.log.info(`removed ${name}: its window is gone`);
    for (const problem of swept.problems) ports.log.warn(`cleaning ${folder}: ${problem}`);
    await this.unseenGone();
    goOn();
    this.secret = newToken();
    this.token = newToken();
    for (const guard of this.tokenGuards) guard.use(this.token);
    const port = await this.server.listen(options.port);
    let published: Published | undefined;
    let socket: SecretSocket | undefined;
    try {
      const mcpToken = await options.mcpToken(await this.place(port));
      goOn();
      this.mcpGuard.use(mcpToken);
      const { secret, token, startedAt } = this;
      const { pid, version } = options;
      socket = process.platform === "win32" ? undefined : await SecretSocket.open(folder, port, () => this.secret);
      const known = socket === undefined ? { secret } : { secretSocket: socket.path };
      published = new Published({ ports, folder, port, pid, version, startedAt, known, token, mcp: () => this.mcpEntry() });
      this.running = { port, published, mcpToken, socket, stopWatching: () => undefined };
      await published.write();
      goOn();
    } catch (err) {
      this.running = undefined;
      await Promise.allSettled([published?.remove(), socket?.close(), this.server.close()]);
      throw err;
    }
    this.mcp.start();
    await this.drafts?.load();
    this.warnOfOpenDoors();
    const lockPath = this.running.published.lock.path;
    await this.guests.start({ ports, port, pid: options.pid, parent: process.ppid, lockPath });
    this.running.stopWatching = this.watch(requestFile(folder, port));
    return { port, lockPath };
  }

  private watch(requests: string): Cancel {
    const { ports } = this;
    const { clock, log, view } = ports;
    const cancels = [
      watchDiagnostics(ports, (params) => this.ide.broadcast("diagnostics_changed", params)),
      watchRequests(requests, { clock, log, answered: () => view.caughtUp(), unseen: (back) => this.onUnseen(back) }),
    ];
    return () => cancels.forEach((cancel) => cancel());
  }

  /**
   * Waits for other windows of these folders that end or that nobody sees: above all this one, as it was
   * before it was loaded again. With another port than that had, the terminals would offer to be relaunched,
   * which ends what runs in them.
   */
  async unseenGone(): Promise<void> {
    const { ports, options } = this;
    const { pid, home } = options;
    const folder = await lockFolder(home);
    const workspaceFolders = ports.workspace.folders().map(({ path }) => path);
    const others = (): Promise<number[]> => portsOf(folder, { workspaceFolders, pid }, systemLiveness);
    await Promise.all(
      (await others()).map((port) => {
        ports.log.info(`another window of these folders has port ${port}, which it leaves if nobody sees it`);
        return askForPort(requestFile(folder, port), { pid, clock: ports.clock, holds: async () => (await others()).includes(port) });
      }),
    );
  }

  /** Whether a port is that of a window of ours. */
  async isWindow(port: number): Promise<boolean> {
    return isWindow(await lockFolder(this.options.home), port, systemLiveness);
  }

  /** Where /mcp is: a port that a stranger holds has had clients send him its token. */
  private async place(port: number): Promise<McpPlace> {
    const wished = this.options.port;
    const moved = port !== wished;
    const isTaken = moved && wished !== 0 && !(await this.isWindow(wished));
    if (isTaken) {
      this.ports.log.warn(`port ${wished} is held by a program that is no window of ours: the token for MCP clients is another one from now on, on port ${port}`);
    }
    return { port, moved, lost: isTaken ? wished : undefined };
  }

  /** Ends every review undecided, closes all connections, removes the files; start may follow. */
  async stop(): Promise<void> {
    const { running } = this;
    this.stops++;
    this.running = undefined;
    running?.stopWatching();
    this.selections.stop();
    const closed = this.reviews.dispose();
    // The answers are on their way; they must be sent before the connections close.
    await new Promise((done) => setImmediate(done));
    await Promise.all([this.mcp.close(), this.guests.stop()]);
    await Promise.all([closed, this.server.close(), running?.published.remove(), running?.socket?.close()]);
  }

  /** Undefined while nothing listens. */
  get port(): number | undefined {
    return this.running?.port;
  }

  /** How a client of /mcp is configured; undefined while nothing listens there. */
  mcpEntry(): McpEntry | undefined {
    if (this.running === undefined || !this.ports.settings.mcpEnabled()) return undefined;
    const headers: Record<string, string> = this.ports.settings.requireAuth() ? { Authorization: `Bearer ${this.running.mcpToken}` } : {};
    return { url: mcpUrl(this.running.port), headers };
  }

  clients(): readonly Client[] {
    return [...this.ide.clients(), ...this.mcp.clients(), ...this.bridge.clients(), ...this.guests.clients()];
  }

  /** To be called with every change of the selection (undefined: the focus left the text). */
  selectionChanged(selection: Selection | undefined): void {
    this.guests.selectionChanged(selection);
    this.selections.changed(selection);
  }

  /** Tells the clients to mention a file; lines are 0-based, inclusive. Returns how many were told. */
  mention(path: string, lines?: { start: number; end: number }): number {
    const where = lines === undefined ? {} : { lineStart: lines.start, lineEnd: lines.end };
    const mentioned = { filePath: path, ...where };
    this.ide.broadcast("at_mentioned", mentioned);
    return this.ide.count + this.guests.mention(mentioned);
  }

  /** The folders, the trust, the settings or the focus of the window changed: the files follow. */
  windowChanged(change: { focused?: boolean }): void {
    if (change.focused === false) return;
    if (this.running !== undefined) {
      this.warnOfOpenDoors();
      void this.guests.update();
    }
    if (change.focused === true) this.running?.published.focused();
    else void this.running?.published.changed();
  }

  /** Explains once what it means to let programs in without a token. */
  private warnOfOpenDoors(): void {
    const { notices } = this.ports;
    const open = openDoors(this.ports);
    for (const warning of open.filter((each) => !this.warned.includes(each))) notices.warn(warning);
    this.warned = open;
  }

  /** The doors by WebSocket. At "/" a program without a token is let in only if the person has chosen that, and where it looks. */
  private sockets(bridgeGuard: Guard): readonly SocketDoor[] {
    const { settings } = this.ports;
    const ide = (connection: Connection): ConnectionHandler => this.ide.connected(connection);
    const bridge = (connection: Connection): ConnectionHandler => this.bridge.connected(connection);
    const required = (): boolean => settings.bridgeRequireAuth();
    const isPlain = (req: IncomingMessage): boolean => [tokenHeader, guestHeader].every((name) => req.headers[name] === undefined) && nonceOf(req) === undefined;
    const anyone = (req: IncomingMessage): boolean =>
      settings.bridgeEnabled() && !required() && settings.bridgeFile() !== undefined && isPlain(req);
    return [
      { path: "/", guard: new Guard(undefined, { required }), open: anyone, connected: bridge },
      { path: "/", guard: new Guard(undefined, { proves: true }), secret: () => this.secret, connected: ide },
      { path: "/bridge", guard: bridgeGuard, open: () => settings.bridgeEnabled(), connected: bridge },
    ];
  }

  private clientsChanged(): void {
    this.ports.notices.clientsChanged(this.clients());
  }
}

function openDoors({ settings, t }: Ports): string[] {
  const open: string[] = [];
  if (settings.mcpEnabled() && !settings.requireAuth()) {
    open.push(t("agent.requireAuth is off: every program on this computer can edit files and run commands through this window, as far as agent.approvalMode lets it."));
  }
  if (settings.bridgeEnabled() && !settings.bridgeRequireAuth()) {
    open.push(t("agent.bridge.requireAuth is off: every program on this computer can show edits in this window; you still accept each change."));
  }
  return open;
}

export function createCore(ports: Ports, options: CoreOptions): Core {
  return new Core(ports, options);
}
