import * as vscode from "vscode";
import { ToolError } from "../core/errors";
import { acceptHunk, findHunk, hunkKey, hunksOf, rejectHunk } from "../core/hunks";
import { splitLines } from "../core/linediff";
import { cap, oneLine, sameText, withoutIcons } from "../core/text";
import { replaceAll } from "./documents";
import { restore } from "./restore";
import type { SideFiles } from "./sidefiles";
import { originalScheme, reviewUri } from "./uri";

/** As much of what a hunk has removed is shown beside its lens. */
const tooltipMax = 2_000;

/** A save that failed is not reported; one that takes longer has. */
const saveMs = 10_000;

export type What = "accept" | "reject";

/** How a document came to hold nothing that is undecided. */
export type By = "person" | "reverted";

/** Whoever has put a proposal into a document, and is told what becomes of it. */
export interface Proposer {
  changed(text: string): void;
  /** Nothing is undecided any more: this is the text that is left. */
  decided(text: string, by: By): void;
  /** The document cannot hold the proposal any longer; its text is the one before it. */
  displaced(): void;
}

interface Pending {
  readonly id: string;
  readonly document: vscode.TextDocument;
  readonly original: string;
  readonly description: string;
  readonly proposer: Proposer;
  /** The file as it was. */
  readonly bytes: Uint8Array;
  /** The text without the hunks that are undecided. */
  baseline: string;
  /** While the document changes by our own hand. */
  busy: boolean;
  /** Why nothing can be decided just now; empty if it can. */
  locked: string;
}

/** A proposal that stands in a document. */
export interface Mark {
  readonly document: vscode.TextDocument;
  /** The text before it. */
  readonly original: string;
  /** Makes everything undecided again. */
  reopen(): void;
  lock(why: string): void;
  /** Takes the marks away; the text stays. */
  remove(): void;
  /** Takes the proposal out, and then the marks: until then no save writes it. */
  takeOut(): Promise<void>;
}

/**
 * Proposals that stand in the document itself: marked in the gutter, with Accept
 * and Reject above each hunk. What is saved never holds what nobody has decided.
 */
export class InlineMarks implements vscode.CodeLensProvider, vscode.QuickDiffProvider, vscode.Disposable {
  private readonly pending = new Map<string, Pending>();
  /** Documents that are just being saved without their proposal. */
  private readonly saves = new Map<string, Pending>();
  private readonly lenses = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lenses.event;
  private control: vscode.SourceControl | undefined;
  private readonly added = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("diffEditor.insertedLineBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.addedForeground"),
  });
  private readonly listeners: vscode.Disposable[];
  private lastId = 0;

  constructor(private readonly originals: SideFiles) {
    this.listeners = [
      vscode.languages.registerCodeLensProvider({ scheme: "file" }, this),
      vscode.workspace.onDidChangeTextDocument((event) => this.changed(event)),
      vscode.workspace.onWillSaveTextDocument((event) => this.saving(event)),
      vscode.workspace.onDidSaveTextDocument((document) => void this.saved(document)),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("files.autoSave") && this.check()),
      // A document whose language changes is opened again, with the settings of that language.
      vscode.workspace.onDidOpenTextDocument(() => this.check()),
      // An editor with unsaved changes takes them along.
      vscode.workspace.onWillRenameFiles((event) => event.waitUntil(this.leave(event.files.map(({ oldUri }) => oldUri)))),
      vscode.workspace.onWillDeleteFiles((event) => event.waitUntil(this.leave(event.files))),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
    ];
  }

  has(uri: vscode.Uri): boolean {
    return this.pending.has(uri.toString());
  }

  /** The text of a document without the proposal that stands in it; undefined if there is none. */
  original(uri: vscode.Uri): string | undefined {
    return this.pending.get(uri.toString())?.original;
  }

  /** Puts a proposal into a document, in one step that can be undone. */
  async add(document: vscode.TextDocument, proposed: string, description: string, proposer: Proposer): Promise<Mark> {
    const key = document.uri.toString();
    const original = document.getText();
    const bytes = await vscode.workspace.fs.readFile(document.uri);
    const id = `inline-${++this.lastId}`;
    const pending: Pending = { id, document, original, description, proposer, bytes, baseline: original, busy: true, locked: "" };
    this.pending.set(key, pending);
    const remove = (): void => {
      if (this.pending.get(key) !== pending) return;
      this.pending.delete(key);
      this.originals.remove(this.originalOf(pending));
      this.refresh();
    };
    try {
      await this.originals.add(this.originalOf(pending), original);
      if (!(await replaceLines(document, proposed))) throw new ToolError("PERMISSION_DENIED", "the editor did not change the document");
    } catch (error) {
      remove();
      throw error;
    }
    pending.busy = false;
    this.refresh();
    return {
      document,
      original,
      reopen: () => {
        pending.baseline = original;
        this.refresh();
      },
      lock: (why) => {
        pending.locked = why;
        this.refresh();
      },
      remove,
      takeOut: async () => {
        await this.clear(pending);
        remove();
      },
    };
  }

  /** A command of a lens; or of a key or the palette, which mean all that is left in the active document. */
  async decide(what: What, uri?: unknown, index?: unknown, hunk?: unknown): Promise<void> {
    const key = uri instanceof vscode.Uri ? uri.toString() : vscode.window.activeTextEditor?.document.uri.toString();
    const pending = this.pending.get(key ?? "");
    if (pending === undefined || pending.busy || pending.locked !== "") return;
    if (typeof index !== "number") return this.decideAll(pending, what);
    const current = pending.document.getText();
    // The lens that was clicked may be older than the text.
    const at = findHunk(pending.baseline, current, String(hunk), index);
    if (at === undefined) return this.refresh();
    if (what === "accept") pending.baseline = acceptHunk(pending.baseline, current, at);
    else await this.change(pending, rejectHunk(pending.baseline, current, at));
    this.settle(pending, "person");
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const pending = this.pending.get(document.uri.toString());
    if (pending === undefined) return [];
    const [text, before] = [document.getText(), splitLines(pending.baseline)];
    return hunksOf(pending.baseline, text).flatMap((hunk, index) => {
      const line = Math.min(hunk.newFrom, document.lineCount - 1);
      const removed = hunk.oldTo - hunk.oldFrom;
      const why = index === 0 && pending.description !== "" ? `: “${withoutIcons(oneLine(pending.description, 80))}”` : "";
      const back = removed === 0 ? "" : ` (brings back ${removed === 1 ? "1 line" : `${removed} lines`})`;
      const range = new vscode.Range(line, 0, line, 0);
      const parameters = [document.uri, index, hunkKey(pending.baseline, text, hunk)];
      if (pending.locked !== "") return [new vscode.CodeLens(range, { title: pending.locked, command: "" })];
      const lens = (title: string, what: What, tooltip: string): vscode.CodeLens =>
        new vscode.CodeLens(range, { title, tooltip, command: `agent.inline.${what}`, arguments: parameters });
      const old = cap(before.slice(hunk.oldFrom, hunk.oldTo).join(""), tooltipMax);
      return [lens(`$(check) Accept${why}`, "accept", oneLine(pending.description, 200)), lens(`$(close) Reject${back}`, "reject", old)];
    });
  }

  provideOriginalResource(uri: vscode.Uri): vscode.Uri | undefined {
    const pending = this.pending.get(uri.toString());
    return pending === undefined ? undefined : this.originalOf(pending);
  }

  dispose(): void {
    this.control?.dispose();
    this.added.dispose();
    for (const listener of this.listeners) listener.dispose();
  }

  private originalOf({ document, id }: Pending): vscode.Uri {
    return reviewUri(originalScheme, document.uri.fsPath, id);
  }

  private async decideAll(pending: Pending, what: What): Promise<void> {
    if (what === "accept") pending.baseline = pending.document.getText();
    else await this.change(pending, pending.baseline);
    this.settle(pending, "person");
  }

  private async change(pending: Pending, text: string): Promise<void> {
    pending.busy = true;
    await replaceAll(pending.document, text);
    pending.busy = false;
    pending.proposer.changed(pending.document.getText());
  }

  private changed({ document, reason, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const pending = this.pending.get(document.uri.toString());
    if (pending === undefined || pending.busy || contentChanges.length === 0) return;
    // Without unsaved changes, and not by undoing them: as on disk, because the person did not want them.
    const reverted = !document.isDirty && reason !== vscode.TextDocumentChangeReason.Undo;
    if (!reverted) pending.proposer.changed(document.getText());
    // What was accepted of it has been undone or reverted, too.
    if (document.getText() === pending.original) pending.baseline = pending.original;
    this.settle(pending, reverted ? "reverted" : "person");
  }

  private saving(event: vscode.TextDocumentWillSaveEvent): void {
    const { document } = event;
    const key = document.uri.toString();
    const pending = this.pending.get(key);
    if (pending === undefined) return;
    this.saves.set(key, pending);
    pending.busy = true;
    setTimeout(() => {
      if (this.saves.get(key) === pending) void this.displace(pending);
    }, saveMs);
    const all = new vscode.Range(new vscode.Position(0, 0), document.lineAt(document.lineCount - 1).range.end);
    event.waitUntil(Promise.resolve([vscode.TextEdit.replace(all, pending.original)]));
  }

  private async saved(document: vscode.TextDocument): Promise<void> {
    const key = document.uri.toString();
    const pending = this.pending.get(key);
    this.saves.delete(key);
    if (pending === undefined) return;
    // A save that asks no extension, or an extension that formats after us, has written something else.
    const { uri } = document;
    const intact = Buffer.compare(await vscode.workspace.fs.readFile(uri), pending.bytes) === 0;
    if (!intact) await vscode.workspace.fs.writeFile(uri, pending.bytes);
    await this.displace(pending);
  }

  /** The document cannot hold the proposal any longer. */
  private async displace(pending: Pending): Promise<void> {
    const stands = (): boolean => this.pending.get(pending.document.uri.toString()) === pending;
    if (!stands()) return;
    await this.clear(pending);
    if (!stands()) return;
    pending.proposer.displaced();
  }

  /** Makes the document what is on disk. */
  private async clear(pending: Pending): Promise<void> {
    pending.busy = true;
    const { document, original } = pending;
    if (document.isClosed) return;
    // First by our own hand: an editor cannot revert what is not on disk any more.
    if (document.isDirty || document.getText() !== original) await replaceAll(document, original);
    if (await restore(document)) return;
    void vscode.window.showWarningMessage(`${vscode.workspace.asRelativePath(document.uri)} could not be put back as it is on disk. Revert it before you save it.`);
  }

  private check(): void {
    for (const pending of this.pending.values()) {
      if (!pending.busy && savesItself(pending.document)) void this.displace(pending);
    }
  }

  private async leave(uris: readonly vscode.Uri[]): Promise<void> {
    const concerned = [...this.pending.values()].filter(({ document: { uri } }) =>
      uris.some(({ path }) => uri.path === path || uri.path.startsWith(`${path}/`)),
    );
    await Promise.all(concerned.map((pending) => this.displace(pending)));
  }

  /** Says so when nothing is undecided. */
  private settle(pending: Pending, by: By): void {
    this.refresh();
    const text = pending.document.getText();
    if (!pending.busy && text === pending.baseline) pending.proposer.decided(text, by);
  }

  private refresh(): void {
    if (this.pending.size > 0 && this.control === undefined) {
      this.control = vscode.scm.createSourceControl("agent-inline", "Agent: Proposals");
      this.control.inputBox.visible = false;
      this.control.quickDiffProvider = this;
    } else if (this.pending.size === 0) {
      this.control?.dispose();
      this.control = undefined;
    }
    // Ctrl+S means Accept where a proposal stands; by path, because the window of a remote host knows the file by another scheme.
    const paths = [...this.pending.values()].map(({ document }) => document.uri.fsPath);
    void vscode.commands.executeCommand("setContext", "agent.inlineDocuments", paths);
    this.lenses.fire();
    this.draw();
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const pending = this.pending.get(editor.document.uri.toString());
      const hunks = pending === undefined ? [] : hunksOf(pending.baseline, editor.document.getText());
      const lines = hunks.filter((hunk) => hunk.newTo > hunk.newFrom).map((hunk) => new vscode.Range(hunk.newFrom, 0, hunk.newTo - 1, 0));
      editor.setDecorations(this.added, lines);
    }
  }
}

/** Whether a document can hold a proposal: it has no unsaved changes, nothing saves it but the person, and lenses are shown in it. */
export async function canHold(uri: vscode.Uri): Promise<boolean> {
  const document = await vscode.workspace.openTextDocument(uri);
  const lenses = vscode.workspace.getConfiguration("editor", document).get("codeLens", true);
  return lenses && !document.isDirty && !savesItself(document);
}

/** By the settings of its place and its language. */
function savesItself(document: vscode.TextDocument): boolean {
  return vscode.workspace.getConfiguration("files", document).get("autoSave", "off") !== "off";
}

/** Makes this the document's text, line by line in one step, so that the cursor stays where nothing changes. */
async function replaceLines(document: vscode.TextDocument, text: string): Promise<boolean> {
  const lines = splitLines(text);
  const edit = new vscode.WorkspaceEdit();
  const edits = hunksOf(document.getText(), text).map(({ oldFrom, oldTo, newFrom, newTo }) =>
    vscode.TextEdit.replace(document.validateRange(new vscode.Range(oldFrom, 0, oldTo, 0)), lines.slice(newFrom, newTo).join("")),
  );
  edit.set(document.uri, edits);
  if (!(await vscode.workspace.applyEdit(edit))) return false;
  return sameText(document.getText(), text) || replaceAll(document, text);
}
