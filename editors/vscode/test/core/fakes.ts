// The edges of the core, made of memory: a clock that is moved by hand, an editor
// whose screen is a map, documents over real files.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type {
  Buffer as OpenBuffer,
  Cancel,
  Check,
  Client,
  Clock,
  CommandQuestion,
  CommandResult,
  CommandRun,
  Diagnostic,
  Diagnostics,
  DiffView,
  Documents,
  EditorTab,
  FileDiagnostics,
  FileText,
  OpenFileRequest,
  Ports,
  ReviewComment,
  Selection,
  ShownDiff,
  Terminals,
} from "../../src/core/ports";
import { atEnd } from "./ending";
import type { Ends } from "./ending";
import { ToolError } from "../../src/core/errors";
import { systemClock } from "../../src/core/clock";
import { runChild } from "../../src/core/shell/child";
import type { ReviewRequest } from "../../src/core/review";
import { eolOf, withEol, withoutBom } from "../../src/core/text";

/** A folder of its own for a test, removed at its end, by its real path. */
export function tempFolder(t: Ends): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-core-")));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Lets everything that waits for promises alone go on, real files included. */
export async function settled(rounds = 20): Promise<void> {
  for (let i = 0; i < rounds; i++) await new Promise((done) => setImmediate(done));
}

/** Waits until something is so; the deadline is only for a test that fails. */
export async function until(what: string, is: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!is()) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await new Promise((done) => setTimeout(done, 2));
  }
}

export class ManualClock implements Clock {
  private time = 1_000_000;
  private timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): Cancel {
    const timer = { at: this.time + ms, run };
    this.timers.push(timer);
    return () => (this.timers = this.timers.filter((each) => each !== timer));
  }

  get waiting(): number {
    return this.timers.length;
  }

  /** Moves on and runs due timers, in order. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const next = this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.timers = this.timers.filter((each) => each !== next);
      this.time = Math.max(this.time, next.at);
      next.run();
    }
    this.time = end;
  }
}

/** A screen. Opening succeeds at once unless a test says otherwise. */
export class FakeView implements DiffView {
  readonly shown = new Map<string, ShownDiff>();
  readonly count = new Map<string, number>();
  readonly texts = new Map<string, string>();
  readonly remarks = new Map<string, readonly ReviewComment[]>();
  readonly titles = new Map<string, string>();
  readonly readonly = new Set<string>();
  readonly forgotten: string[] = [];
  readonly closes: string[] = [];
  opening: "works" | "fails" | "hangs" = "works";
  closing: "works" | "hangs" = "works";
  private readonly hanging: (() => void)[] = [];
  readonly staleAsked: string[] = [];
  staleAnswers: ((yes: boolean | "redo") => void)[] = [];
  noteAnswers: ((yes: boolean) => void)[] = [];
  /** Edits that the window has not reported yet. */
  late: Promise<void> | undefined;

  open(diff: ShownDiff): Promise<void> {
    if (this.opening === "fails") return Promise.reject(new Error("no window"));
    if (this.opening === "hangs") return new Promise(() => undefined);
    this.appear(diff);
    return Promise.resolve();
  }

  appear(diff: ShownDiff): void {
    this.shown.set(diff.id, diff);
    this.titles.set(diff.id, diff.title);
    this.count.set(diff.id, 1);
    if (!this.texts.has(diff.id)) this.texts.set(diff.id, diff.proposed);
  }

  tabs(id: string): number {
    return this.count.get(id) ?? 0;
  }

  text(id: string): string | undefined {
    return this.tabs(id) > 0 ? this.texts.get(id) : undefined;
  }

  async caughtUp(): Promise<void> {
    if (this.late !== undefined) await this.late;
  }

  comments(id: string): readonly ReviewComment[] {
    return this.remarks.get(id) ?? [];
  }

  update(id: string, state: { title: string; held: boolean }): void {
    this.titles.set(id, state.title);
    if (state.held) this.readonly.add(id);
    else this.readonly.delete(id);
  }

  readonly checks = new Map<string, Check>();

  checked(id: string, check: Check): void {
    this.checks.set(id, check);
  }

  confirmStale(_id: string, path: string): Promise<"anyway" | "redo" | "no"> {
    this.staleAsked.push(path);
    return new Promise((done) => this.staleAnswers.push((yes) => done(yes === "redo" ? "redo" : yes ? "anyway" : "no")));
  }

  confirmNotes(): Promise<boolean> {
    return new Promise((done) => this.noteAnswers.push(done));
  }

  close(id: string): Promise<void> {
    this.closes.push(id);
    const gone = (): void => void this.count.set(id, 0);
    if (this.closing === "hangs") return new Promise<void>((done) => this.hanging.push(done)).then(gone);
    gone();
    return Promise.resolve();
  }

  /** Ends the closings that hang. */
  closeAtLast(): void {
    for (const done of this.hanging.splice(0)) done();
  }

  forget(id: string): void {
    this.forgotten.push(id);
  }
}

/** Real files, read as UTF-8, and buffers that a test sets. */
export class FakeDocuments implements Documents {
  readonly buffers = new Map<string, OpenBuffer>();
  readonly opened: OpenFileRequest[] = [];
  readonly saved: string[] = [];
  readonly watchers = new Map<string, () => void>();
  saves = true;
  /** Set to make reading wait for the test. */
  gate: Promise<void> | undefined;

  async read(path: string): Promise<FileText> {
    await this.gate;
    const bytes = existsSync(path) ? readFileSync(path) : undefined;
    const text = bytes?.toString("utf8") ?? "";
    return {
      exists: bytes !== undefined,
      text: text.replace(/^\ufeff/, ""),
      sha256: createHash("sha256")
        .update(bytes ?? "")
        .digest("hex"),
      encoding: "utf8",
      bom: text.startsWith("\ufeff"),
      ...(text.includes("\0") ? { unreadable: "BINARY_FILE" as const } : {}),
      size: bytes?.length ?? 0,
    };
  }

  chosen(path: string): Promise<string> {
    return Promise.resolve(path.endsWith(".sjis") ? "shiftjis" : "utf8");
  }

  unstorable(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  buffer(path: string): OpenBuffer | undefined {
    return this.buffers.get(path);
  }

  save(path: string): Promise<boolean> {
    this.saved.push(path);
    const buffer = this.buffers.get(path);
    if (this.saves && buffer !== undefined) {
      writeFileSync(path, buffer.text ?? "");
      this.buffers.set(path, { ...buffer, isDirty: false });
    }
    return Promise.resolve(this.saves);
  }

  /** The editor's change of a text on saving. */
  format = (text: string): string => text;

  /** As in an editor a file keeps its line endings and its byte order mark. */
  write(path: string, text: string): Promise<void> {
    if (!this.saves) return Promise.reject(new ToolError("PERMISSION_DENIED", "the editor did not save the file; it is as before"));
    mkdirSync(dirname(path), { recursive: true });
    const before = existsSync(path) ? readFileSync(path, "utf8") : "";
    const eol = eolOf(before);
    const saved = this.format(eol === "lf" || eol === "crlf" ? withEol(text, eol) : text);
    writeFileSync(path, (before.startsWith("\ufeff") ? "\ufeff" : "") + withoutBom(saved));
    this.written(path);
    return Promise.resolve();
  }

  readonly edits: { path: string; text: string }[] = [];

  edit(path: string, text: string): Promise<void> {
    this.edits.push({ path, text });
    this.buffers.set(path, { text, isDirty: true, isUntitled: false });
    return Promise.resolve();
  }

  /** Called after each write. */
  written: (path: string) => void = () => undefined;

  open(request: OpenFileRequest): Promise<{ languageId: string; lineCount: number }> {
    this.opened.push(request);
    return Promise.resolve({ languageId: "plaintext", lineCount: 3 });
  }

  watch(path: string, changed: () => void): Cancel {
    this.watchers.set(path, changed);
    return () => this.watchers.delete(path);
  }
}

export class FakeDiagnostics implements Diagnostics {
  readonly found = new Map<string, readonly Diagnostic[]>();
  readonly listeners = new Set<(uris: readonly string[]) => void>();
  readonly loaded: string[] = [];
  shown = false;
  /** Whether there is a language server. */
  served = true;
  readonly inVain: string[] = [];

  all(): readonly FileDiagnostics[] {
    return [...this.found].map(([uri, diagnostics]) => ({ uri, diagnostics }));
  }

  of(file: string): FileDiagnostics {
    const uri = `file://${file}`;
    return { uri, diagnostics: this.found.get(uri) ?? [] };
  }

  onChange(changed: (uris: readonly string[]) => void): Cancel {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  }

  set(uri: string, diagnostics: readonly Diagnostic[]): void {
    this.found.set(uri, diagnostics);
    for (const listener of this.listeners) listener([uri]);
  }

  load(file: string): Promise<void> {
    this.loaded.push(file);
    return Promise.resolve();
  }

  isShown(): boolean {
    return this.shown;
  }

  mayReport(): boolean {
    return this.served;
  }

  waitedInVain(file: string): void {
    this.inVain.push(file);
  }
}

/** Terminals that really run their commands, without a screen. */
export class FakeTerminals implements Terminals {
  readonly runs: CommandRun[] = [];
  works = true;

  run(run: CommandRun): Promise<CommandResult> {
    this.runs.push(run);
    if (!this.works) return Promise.resolve({ exitCode: null, output: "", captured: false, timedOut: false });
    return runChild({ ...run, shell: "/bin/sh", clock: systemClock, env: process.env, shown: () => undefined }).ended;
  }
}

export function onPath(program: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));
}

/** The whole editor, with everything that a test looks at. */
export class FakeEditor {
  readonly clock = new ManualClock();
  readonly view = new FakeView();
  readonly documents = new FakeDocuments();
  readonly diagnostics = new FakeDiagnostics();
  readonly languages = { lookUp: (method: string, params: Record<string, unknown>): Promise<{ result: unknown } | undefined> => this.lookUp(method, params) };
  /** Answers as the editor's providers do; nobody knows anything by default. */
  lookUp: (method: string, params: Record<string, unknown>) => Promise<{ result: unknown } | undefined> = () => Promise.resolve(undefined);
  readonly log: string[] = [];
  readonly warnings: string[] = [];
  readonly settings = {
    open: "always" as "always" | "background" | "onDemand",
    onTabClose: "auto" as "auto" | "reject" | "keep",
    reviewEditsOf: [] as string[],
    mcpEnabled: true,
    requireAuth: true,
    approvalMode: "always" as "always" | "write-only" | "never",
    bridgeEnabled: false,
    bridgeRequireAuth: true,
    bridgeFile: undefined as string | undefined,
  };
  readonly commands = new FakeTerminals();
  trusted = true;
  /** The questions whether a command may run, with their answers to give. */
  readonly questions: { question: CommandQuestion; answer(yes: boolean, feedback?: string): void }[] = [];
  folders: { name: string; uri: string; path: string }[] = [];
  tabs: EditorTab[] = [];
  selection: Selection | undefined;
  clients: readonly Client[] = [];

  readonly removed: string[] = [];
  unsavedTabs = 0;

  readonly ports: Ports = {
    clock: this.clock,
    log: {
      debug: (message) => this.log.push(`debug ${message}`),
      info: (message) => this.log.push(`info ${message}`),
      warn: (message) => this.log.push(`warn ${message}`),
      error: (message) => this.log.push(`error ${message}`),
    },
    view: this.view,
    documents: this.documents,
    diagnostics: this.diagnostics,
    languages: this.languages,
    editors: {
      tabs: () => this.tabs,
      selection: () => this.selection,
      removed: (path, movedTo) => {
        this.removed.push(movedTo === undefined ? path : `${path} → ${movedTo}`);
        return Promise.resolve(this.unsavedTabs);
      },
    },
    workspace: { name: "Test Editor", folders: () => this.folders, isTrusted: () => this.trusted },
    settings: {
      diffOpen: () => this.settings.open,
      onTabClose: () => this.settings.onTabClose,
      diagnosticDelay: () => 1_500,
      reviewEditsOf: () => this.settings.reviewEditsOf,
      mcpEnabled: () => this.settings.mcpEnabled,
      requireAuth: () => this.settings.requireAuth,
      approvalMode: () => this.settings.approvalMode,
      bridgeEnabled: () => this.settings.bridgeEnabled,
      bridgeRequireAuth: () => this.settings.bridgeRequireAuth,
      bridgeFile: () => this.settings.bridgeFile,
    },
    notices: {
      warn: (message) => this.warnings.push(message),
      mayRun: (question, cancelled) =>
        new Promise((done) => {
          const asked = { question, answer: (run: boolean, feedback = "") => done({ run, feedback }) };
          this.questions.push(asked);
          cancelled.addEventListener("abort", () => {
            this.questions.splice(this.questions.indexOf(asked), 1);
            asked.answer(false);
          });
        }),
      clientsChanged: (clients) => (this.clients = clients),
    },
    terminals: this.commands,
    t: (message, ...args) => args.reduce<string>((text, arg, i) => text.replaceAll(`{${i}}`, String(arg)), message),
    ripgrep: onPath("rg"),
  };
}

export function request(path: string, proposal: string, more: Partial<ReviewRequest> = {}): ReviewRequest {
  return {
    path,
    oldPath: path,
    proposal,
    tabName: `✻ [agent] ${path} ⧉`,
    diffId: undefined,
    description: "",
    baseSha256: undefined,
    onClose: "reject",
    stack: false,
    timeoutMs: undefined,
    ...more,
  };
}

/** A source of chance that can be repeated. */
export class Chance {
  constructor(private state: number) {}

  /** A whole number in [0, n). */
  below(n: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * n);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}

/** Whether a process runs. One that nobody has waited for yet is still listed. */
export function isAlive(pid: number): boolean {
  return !/^(Z|$)/.test(spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout);
}
