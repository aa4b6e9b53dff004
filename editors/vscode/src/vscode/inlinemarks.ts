import * as vscode from "vscode";
import { ToolError } from "../core/errors";
import { acceptHunk, hunksOf, rejectHunk } from "../core/hunks";
import { splitLines } from "../core/linediff";
import { oneLine, sameText } from "../core/text";
import { replaceAll } from "./documents";
import type { SideFiles } from "./sidefiles";
import { originalScheme, reviewUri } from "./uri";

export type What = "accept" | "reject";

/** How a document came to hold nothing that is undecided. */
export type By = "person" | "reverted";

/** How the person saved a document. */
export interface Save {
  readonly manual: boolean;
  /** It was the one that the person looked at. */
  readonly active: boolean;
}

/** Whoever has put a proposal into a document, and is told what becomes of it. */
export interface Proposer {
  changed(text: string): void;
  /** Nothing is undecided any more: this is the text that is left. */
  decided(text: string, by: By): void;
  /** Whether the document may be saved as it is; else it is saved without what is undecided. */
  maySave(save: Save): boolean;
  saved(text: string, save: Save): void;
}

interface Pending {
  readonly id: string;
  readonly document: vscode.TextDocument;
  readonly original: string;
  readonly description: string;
  readonly proposer: Proposer;
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
  /** Decides all that is undecided. */
  decideAll(what: What): Promise<void>;
  /** Makes everything undecided again. */
  reopen(): void;
  lock(why: string): void;
  /** Takes the marks away; the text stays. */
  remove(): void;
}

/**
 * Proposals that stand in the document itself: marked in the gutter, with Accept
 * and Reject above each hunk. What is saved never holds what nobody has decided,
 * unless whoever proposed it takes the save for a decision.
 */
export class InlineMarks implements vscode.CodeLensProvider, vscode.QuickDiffProvider, vscode.Disposable {
  private readonly pending = new Map<string, Pending>();
  private readonly saves = new Map<string, Save>();
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
      vscode.workspace.onDidSaveTextDocument((document) => this.saved(document)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
    ];
  }

  has(uri: vscode.Uri): boolean {
    return this.pending.has(uri.toString());
  }

  /** Puts a proposal into a document, in one step that can be undone. */
  async add(document: vscode.TextDocument, proposed: string, description: string, proposer: Proposer): Promise<Mark> {
    const key = document.uri.toString();
    const original = document.getText();
    const pending: Pending = { id: `inline-${++this.lastId}`, document, original, description, proposer, baseline: original, busy: true, locked: "" };
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
      decideAll: (what) => this.decideAll(pending, what),
      reopen: () => {
        pending.baseline = original;
        this.refresh();
      },
      lock: (why) => {
        pending.locked = why;
        this.refresh();
      },
      remove,
    };
  }

  /** A command of a lens, or of the palette without an index: the document's, all hunks. */
  async decide(what: What, uri?: unknown, index?: unknown): Promise<void> {
    const key = uri instanceof vscode.Uri ? uri.toString() : vscode.window.activeTextEditor?.document.uri.toString();
    const pending = this.pending.get(key ?? "");
    if (pending === undefined || pending.locked !== "") return;
    if (typeof index !== "number") return this.decideAll(pending, what);
    const current = pending.document.getText();
    if (what === "accept") pending.baseline = acceptHunk(pending.baseline, current, index);
    else await this.change(pending, rejectHunk(pending.baseline, current, index));
    this.settle(pending, "person");
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const pending = this.pending.get(document.uri.toString());
    if (pending === undefined) return [];
    return hunksOf(pending.baseline, document.getText()).flatMap((hunk, index) => {
      const line = Math.min(hunk.newFrom, document.lineCount - 1);
      const removed = hunk.oldTo - hunk.oldFrom;
      const why = index === 0 && pending.description !== "" ? `: ${oneLine(pending.description, 80)}` : "";
      const range = new vscode.Range(line, 0, line, 0);
      if (pending.locked !== "") return [new vscode.CodeLens(range, { title: pending.locked, command: "" })];
      const lens = (title: string, what: What): vscode.CodeLens =>
        new vscode.CodeLens(range, { title, command: `agent.inline.${what}`, arguments: [document.uri, index] });
      return [lens(`$(check) Accept${why}`, "accept"), lens(`$(close) Reject${removed > 0 ? ` (brings back ${removed} lines)` : ""}`, "reject")];
    });
  }

  provideOriginalResource(uri: vscode.Uri): vscode.Uri | undefined {
    const pending = this.pending.get(uri.toString());
    return pending === undefined ? undefined : this.originalOf(pending);
  }

  dispose(): void {
    for (const pending of this.pending.values()) void this.decideAll(pending, "reject");
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
    this.settle(pending, reverted ? "reverted" : "person");
  }

  private saving(event: vscode.TextDocumentWillSaveEvent): void {
    const { document, reason } = event;
    const pending = this.pending.get(document.uri.toString());
    if (pending === undefined || pending.busy) return;
    const save = {
      manual: reason === vscode.TextDocumentSaveReason.Manual,
      active: vscode.window.activeTextEditor?.document === document,
    };
    this.saves.set(document.uri.toString(), save);
    if (pending.proposer.maySave(save)) return;
    pending.busy = true;
    const all = new vscode.Range(new vscode.Position(0, 0), document.lineAt(document.lineCount - 1).range.end);
    event.waitUntil(Promise.resolve([vscode.TextEdit.replace(all, pending.original)]));
  }

  private saved(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    const [pending, save] = [this.pending.get(key), this.saves.get(key)];
    this.saves.delete(key);
    if (pending === undefined || save === undefined) return;
    pending.busy = false;
    pending.proposer.saved(document.getText(), save);
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

/** Whether a document can hold a proposal: it has no unsaved changes, and nothing saves it but the person. */
export async function canHold(uri: vscode.Uri): Promise<boolean> {
  const autoSave = vscode.workspace.getConfiguration("files", uri).get("autoSave", "off");
  if (autoSave !== "off") return false;
  return !(await vscode.workspace.openTextDocument(uri)).isDirty;
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
