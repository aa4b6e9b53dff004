import type { Offer } from "./always";

/**
 * The interfaces of the editor that the core needs. The core decides and the adapters act: an
 * adapter has no rules of its own beyond those written at its methods. Paths are absolute, lines
 * and characters 0-based, characters UTF-16 code units.
 */

/** Ends a timer or a listener. Calling it twice is harmless. */
export type Cancel = () => void;

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  after(ms: number, run: () => void): Cancel;
}

export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** A remark that the person must see before answering; the kinds are those of the protocol. */
export interface Note {
  readonly kind: string;
  readonly text: string;
}

/** A place in the proposed text that a check names; from 1, column 0 if unknown. */
export interface CheckProblem {
  readonly line: number;
  readonly column: number;
  readonly isWarning: boolean;
  readonly text: string;
}

/** A client's trial of a proposal by a command, sanitized. */
export interface Check {
  readonly state: "running" | "passed" | "failed" | "unknown";
  /** The command and its result on one line. */
  readonly text: string;
  readonly output: string;
  readonly problems: readonly CheckProblem[];
}

/** The proposal for the same file that the person refused before, and their words. */
export interface Refused {
  readonly text: string;
  readonly feedback: string;
  /** Lines from 1, in text. */
  readonly comments: readonly { readonly line: number; readonly text: string }[];
}

/** The content of a diff tab. */
export interface ShownDiff {
  /** Identity of the review: unique, URI-safe; belongs into both URIs. */
  readonly id: string;
  /** The file under review; its extension chooses the language of both sides. */
  readonly path: string;
  /** Differs from path for a rename. */
  readonly oldPath: string;
  readonly title: string;
  /** Left side; "" for a new file. */
  readonly original: string;
  /** Right side, with the line endings of the left one. */
  readonly proposed: string;
  /** The encoding in which the editor will decode both sides, e.g. "utf8". */
  readonly encoding: string;
  /** Open the tab without making it active. */
  readonly background: boolean;
  /** The client wishes it in one text with the file. */
  readonly inline: boolean;
  /** It may be shown so: a file of the workspace that is there already. */
  readonly canInline: boolean;
  /** It adds all lines, or removes all: there is nothing to put beside it. */
  readonly oneSided: boolean;
  /** A plan in Markdown, to be shown as a document: original is "". */
  readonly isPlan: boolean;
  /** The right side can only be read. */
  readonly fixed: boolean;
  /** The draft is being edited elsewhere: nothing can be typed in here until update says otherwise. */
  readonly held: boolean;
  /** What becomes of the file, if it is deleted or moved; else "". */
  readonly effect: string;
  readonly description: string;
  /** Who asks, sanitized. */
  readonly asks: string;
  /** Its place among the edits of one answer, such as "2 of 3"; empty for a single one. */
  readonly place: string;
  readonly notes: readonly Note[];
  readonly check: Check | undefined;
  readonly refused: Refused | undefined;
  readonly offer: Offer | undefined;
}

/** A remark on lines of a diff. */
export interface ReviewComment {
  readonly side: "original" | "modified";
  /** 1-based, inclusive. */
  readonly startLine: number;
  readonly endLine: number;
  /** The lines remarked upon. */
  readonly quote: string;
  readonly text: string;
}

/**
 * The tabs of reviews. A review may have none (hidden), one, or several (split).
 * Every method is also called for reviews that were never opened.
 */
export interface DiffView {
  /**
   * Opens the diff without taking the focus, or reveals its tab if there is one.
   * Resolves when the tab is there; the core waits five seconds and closes a tab
   * that comes later than its review's end.
   */
  open(diff: ShownDiff): Promise<void>;
  /** How many tabs show the review now. */
  tabs(id: string): number;
  /** The text of the right side, or undefined while its document is not loaded. */
  text(id: string): string | undefined;
  /** Resolves when text() tells all that was typed before the call; never, while the window does not answer. */
  caughtUp(): Promise<void>;
  /** The remarks made so far. */
  comments(id: string): readonly ReviewComment[];
  /** Puts a new title on the tabs. held: the draft is edited elsewhere, and can only be read here. */
  update(id: string, state: { title: string; held: boolean }): void;
  /** The check of the proposal has begun, or ended. */
  checked(id: string, check: Check): void;
  /**
   * Asks what to do about an acceptance although the file has changed on disk; anyway
   * is offered only where the client would write.
   */
  confirmStale(id: string, path: string): Promise<"anyway" | "redo" | "no">;
  /** Asks whether to accept although there are these remarks. */
  confirmNotes(id: string, path: string, notes: readonly Note[]): Promise<boolean>;
  /**
   * Closes every tab of the review without a question: saves the right side
   * first. Saves made in here may be reported, the core ignores them.
   */
  close(id: string): Promise<void>;
  /** The review has been over for some seconds: drop its contents. */
  forget(id: string): void;
}

/** A file as it is on disk, decoded as the editor would. */
export interface FileText {
  readonly exists: boolean;
  /** Decoded, without byte order mark; "" if the file does not exist. */
  readonly text: string;
  /** Lower-case hex SHA-256 of the bytes; of no bytes if it does not exist. */
  readonly sha256: string;
  /** The editor's name of an encoding in which the text gives these bytes again. */
  readonly encoding: string;
  readonly bom: boolean;
  /** Why it has no text; undefined if it has. */
  readonly unreadable?: "BINARY_FILE" | "ENCODING";
  readonly size: number;
}

/** A document that is open in the editor. */
export interface Buffer {
  /** Undefined for unsaved changes in an editor that shows no text, such as a notebook's. */
  readonly text: string | undefined;
  readonly isDirty: boolean;
  readonly isUntitled: boolean;
  /** In which it was read, and is saved. */
  readonly encoding?: string;
}

export interface OpenFileRequest {
  readonly path: string;
  /** As read gave it. */
  readonly encoding?: string;
  readonly preview: boolean;
  /** Give it the focus; otherwise open it beside the focused editor. */
  readonly makeFrontmost: boolean;
  readonly selection?: Range;
}

/** Files by their real paths (symbolic links resolved), however the editor opened them. */
export interface Documents {
  /**
   * Decodes a file such that its text gives the same bytes again: in the encoding of its mark or
   * its document, else in the wished one, the editor's, UTF-8 or Windows-1252.
   */
  read(path: string, wished?: string): Promise<FileText>;
  /** Undefined if the file is not open. */
  buffer(path: string): Buffer | undefined;
  /** The encoding that a person has chosen for the file, or that the editor finds in it, e.g. "shiftjis"; "utf8" if that does not give its bytes again. */
  chosen(path: string): Promise<string>;
  /** The first character of a text that an encoding cannot store, and its line from 1; undefined if it stores all. */
  unstorable(text: string, encoding: string): Promise<{ readonly character: string; readonly line: number } | undefined>;
  /** Saves an open document; false if the editor refused, ENCODING if a save would change bytes that it could not read. */
  save(path: string): Promise<boolean>;
  /**
   * Makes this the text of the file on disk, in an encoding that stores it, as if the person had
   * typed and saved it: keeps its line endings, makes folders, and runs the editor's actions on
   * saving (formatting). Rejects if it was not saved; the file is then unchanged.
   */
  write(path: string, text: string, encoding: string): Promise<void>;
  /** Makes this the text of the document, in one step that the person can undo, and does not save it. */
  edit(path: string, text: string, encoding: string): Promise<void>;
  /** Shows a file; rejects if that is not possible. */
  open(request: OpenFileRequest): Promise<{ languageId: string; lineCount: number }>;
  /** Calls back after each change of this one file on disk. */
  watch(path: string, changed: () => void): Cancel;
}

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** A selection in an editor; with an empty range it is a mere cursor. */
export interface Selection extends Range {
  readonly path: string;
  readonly uri: string;
  readonly text: string;
}

export interface EditorTab {
  readonly uri: string;
  readonly path: string;
  readonly label: string;
  readonly isActive: boolean;
  readonly isPinned: boolean;
  readonly isPreview: boolean;
  readonly isDirty: boolean;
  readonly isUntitled: boolean;
  readonly groupIndex: number;
  readonly viewColumn: number;
  readonly isGroupActive: boolean;
  readonly languageId: string;
  readonly lineCount: number;
}

export interface Editors {
  /** Text tabs of real files, in the order of groups and tabs; no review tabs. */
  tabs(): readonly EditorTab[];
  /**
   * Closes the tabs of a file that is gone, except those with unsaved changes; the file that it
   * has moved to is opened in their place. Returns the number of tabs that stay.
   */
  removed(path: string, movedTo: string | undefined): Promise<number>;
  /** The selection in the focused editor; undefined if no text editor of a real file has it. */
  selection(): Selection | undefined;
}

export type Severity = "Error" | "Warning" | "Information" | "Hint";

export interface Diagnostic {
  readonly message: string;
  readonly severity: Severity;
  readonly range: Range;
  readonly source?: string;
  readonly code?: string;
}

export interface FileDiagnostics {
  readonly uri: string;
  readonly diagnostics: readonly Diagnostic[];
}

export interface Diagnostics {
  /** Of every file that has any. */
  all(): readonly FileDiagnostics[];
  /** Of one file, given as a path or as a URI. */
  of(file: string): FileDiagnostics;
  /** Calls back with the URIs whose diagnostics changed. */
  onChange(changed: (uris: readonly string[]) => void): Cancel;
  /** Loads the document without showing it, so that language servers look at it. */
  load(file: string): Promise<void>;
  /**
   * Whether somebody may report problems of the document, which is loaded: a language server, or any
   * other extension. Without shown: as the document is shown now.
   */
  mayReport(file: string, shown?: boolean): boolean;
  /** Nobody has reported anything about the document for as long as one waits. */
  waitedInVain(file: string): void;
  /** Whether the document is shown in an editor: some servers report only then. */
  isShown(file: string): boolean;
}

/** Answers requests of the Language Server Protocol from the editor's own providers, about the texts in its buffers. */
export interface Languages {
  /**
   * The result in the protocol's shape, undefined if nothing here knows the language. It rejects with a
   * ToolError if the request as such is wrong.
   */
  lookUp(method: LookUp, params: Record<string, unknown>): Promise<{ readonly result: unknown } | undefined>;
}

export const lookUps = [
  "textDocument/definition",
  "textDocument/references",
  "textDocument/documentSymbol",
  "textDocument/rename",
  "textDocument/codeAction",
  "workspace/symbol",
] as const;

export type LookUp = (typeof lookUps)[number];

export interface Folder {
  readonly name: string;
  readonly uri: string;
  readonly path: string;
}

export interface Workspace {
  /** The editor's name, as the user knows it. */
  readonly name: string;
  folders(): readonly Folder[];
  isTrusted(): boolean;
}

export interface Settings {
  /** agent.diff.open */
  diffOpen(): "always" | "background" | "onDemand";
  /** agent.diff.onTabClose */
  onTabClose(): "auto" | "reject" | "keep";
  /** agent.diagnosticDelay, milliseconds */
  diagnosticDelay(): number;
  /** agent.reviewEditsOf, without those whose own extension answers them. */
  reviewEditsOf(): readonly string[];
  /** agent.mcp.enabled */
  mcpEnabled(): boolean;
  /** agent.requireAuth, of /mcp */
  requireAuth(): boolean;
  /** agent.approvalMode: which calls over /mcp are asked about. It is as the person wrote it; ask about everything for any other value. */
  approvalMode(): "always" | "write-only" | "never";
  /** agent.bridge.enabled */
  bridgeEnabled(): boolean;
  /** agent.bridge.requireAuth */
  bridgeRequireAuth(): boolean;
  /** agent.bridge.file, absolute; undefined: the usual place. */
  bridgeFile(): string | undefined;
}

/** A connected program. */
export interface Client {
  readonly id: number;
  /** From its handshake, sanitized. */
  readonly name: string;
  readonly pid: number | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly status?: ClientStatus;
  /** It is a program of others, come through a door of its own. */
  readonly isGuest?: boolean;
  /** When it called last, of a client that holds no connection; milliseconds since the epoch. */
  readonly heard?: number;
}

/** A client's description of its state (setStatus), sanitized. */
export interface ClientStatus {
  readonly state: "idle" | "working" | "waiting" | "error";
  readonly text: string;
  readonly tooltip: string;
}

/** A command that a client wants to run. */
export interface CommandQuestion {
  /** Who asks. */
  readonly client: string;
  /** The whole command, with what cannot be seen made visible. */
  readonly command: string;
  readonly cwd: string;
}

/** The person's answer to a command; feedback is for the caller. */
export interface CommandVerdict {
  readonly run: boolean;
  readonly feedback: string;
}

/** Translates a message for the person; {0}, {1} and so on are replaced by the arguments. */
export type Translate = (message: string, ...args: (string | number)[]) => string;

export interface Notices {
  /** A short message for the person, without a decision. */
  warn(message: string): void;
  /** Asks whether a command may run; no is the answer if the question is closed, which it is when cancelled. */
  mayRun(question: CommandQuestion, cancelled: AbortSignal): Promise<CommandVerdict>;
  /** The clients, or their states, changed. */
  clientsChanged(clients: readonly Client[]): void;
}

/** A command to run in a visible terminal. */
export interface CommandRun {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Aborted: end the command and everything it started. */
  readonly cancelled: AbortSignal;
  /** Given each piece of output as it comes; for the person, who sees it elsewhere too. */
  readonly printed?: (text: string) => void;
}

export interface CommandResult {
  /** Null if it did not end by itself, or could not be run. */
  readonly exitCode: number | null;
  /** The output, as a plain run prints it: without control sequences of the terminal. */
  readonly output: string;
  /** False if nothing could be captured, because no terminal at all could be had. */
  readonly captured: boolean;
  readonly timedOut: boolean;
}

export interface Terminals {
  /** Shows the command as it runs; resolves when it and its output have ended. */
  run(run: CommandRun): Promise<CommandResult>;
}

/** A text that a person typed in a review. */
export interface KeptDraft {
  /** Identity of the question; a plain word. */
  readonly key: string;
  /** The review that showed it last. */
  readonly id: string;
  readonly path: string;
  /** The file's name for the person. */
  readonly name: string;
  readonly text: string;
  /** The hashes of the texts that it was before, the last ones. */
  readonly earlier?: readonly string[];
  /** The hash of the text that the client was told last; undefined if none. */
  readonly told?: string | undefined;
  /** Who asked, sanitized; and its process. */
  readonly asks: string;
  readonly pid?: number | undefined;
  /** Nothing is typed yet: the editor may know better after a crash, and has the review's id alone. */
  readonly untouched?: boolean;
  /** The person has accepted it, and nobody has heard that. */
  readonly accepted?: boolean;
  /** The person knows of it. */
  readonly offered?: boolean;
  /** The process of its window. */
  readonly window: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Where drafts outlive the window. */
export interface DraftFiles {
  load(): Promise<readonly KeptDraft[]>;
  read(key: string): Promise<KeptDraft | undefined>;
  save(draft: KeptDraft): Promise<void>;
  remove(key: string): Promise<void>;
}

export interface Ports {
  readonly clock: Clock;
  readonly log: Log;
  readonly view: DiffView;
  readonly documents: Documents;
  readonly diagnostics: Diagnostics;
  readonly languages: Languages;
  readonly editors: Editors;
  readonly workspace: Workspace;
  readonly settings: Settings;
  readonly notices: Notices;
  readonly terminals: Terminals;
  readonly t: Translate;
  /** The program ripgrep; undefined if missing. */
  readonly ripgrep: string | undefined;
}
