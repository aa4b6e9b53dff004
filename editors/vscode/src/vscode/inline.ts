import * as vscode from "vscode";
import { ToolError } from "../core/errors";
import { acceptHunk, hunksOf, rejectHunk } from "../core/hunks";
import type { Inline, InlineProposal } from "../core/ports";
import { oneLine, sameText, toLf, withEol } from "../core/text";
import { replaceAll } from "./documents";
import type { Places } from "./places";
import type { SideFiles } from "./sidefiles";
import { originalScheme, reviewUri } from "./uri";

interface Pending {
  readonly id: string;
  readonly document: vscode.TextDocument;
  readonly original: string;
  readonly description: string;
  /** The text without the hunks that are undecided. */
  baseline: string;
  /** While we change the document ourselves. */
  busy: boolean;
  end(text: string | undefined): void;
}

type What = "accept" | "reject";

/**
 * Proposals that stand in the document itself: marked in the gutter, with Accept
 * and Reject above each hunk. The document is saved when every hunk is decided,
 * and never holds what nobody has decided after that.
 */
export class InlineProposals implements Inline, vscode.CodeLensProvider, vscode.QuickDiffProvider, vscode.Disposable {
  private readonly pending = new Map<string, Pending>();
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

  constructor(
    private readonly places: Places,
    private readonly originals: SideFiles,
  ) {
    this.listeners = [
      vscode.languages.registerCodeLensProvider({ scheme: "file" }, this),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.changed(document)),
      vscode.workspace.onDidSaveTextDocument((document) => this.saved(document)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
    ];
  }

  async possible(path: string): Promise<boolean> {
    const uri = this.places.uri(path);
    const autoSave = vscode.workspace.getConfiguration("files", uri).get("autoSave", "off");
    if (autoSave !== "off" || this.pending.has(uri.toString())) return false;
    return !(await vscode.workspace.openTextDocument(uri)).isDirty;
  }

  async propose(proposal: InlineProposal, cancelled: AbortSignal): Promise<string | undefined> {
    const document = await vscode.workspace.openTextDocument(this.places.uri(proposal.path));
    const key = document.uri.toString();
    if (document.isDirty || !sameText(document.getText(), proposal.original)) {
      throw new ToolError("DIRTY_DOCUMENT", "the document has changed meanwhile; nothing was proposed");
    }
    const decided = new Promise<string | undefined>((done) => {
      const { description } = proposal;
      const baseline = document.getText();
      this.pending.set(key, { id: `inline-${++this.lastId}`, document, original: baseline, description, baseline, busy: true, end: done });
    });
    const pending = this.pending.get(key) as Pending;
    const cancel = (): void => void this.decideAll(key, "reject");
    try {
      await this.originals.add(this.originalOf(pending), pending.baseline);
      await vscode.window.showTextDocument(document, { preview: false, preserveFocus: true });
      if (!(await replaceAll(document, proposal.proposed))) throw new ToolError("PERMISSION_DENIED", "the editor did not change the document");
      pending.busy = false;
      this.refresh();
      this.settle(pending);
      cancelled.addEventListener("abort", cancel);
      if (cancelled.aborted) cancel();
      return await decided;
    } finally {
      cancelled.removeEventListener("abort", cancel);
      this.pending.delete(key);
      this.originals.remove(this.originalOf(pending));
      this.refresh();
    }
  }

  /** A command of a lens, or of the palette without an index: the document's, all hunks. */
  async decide(what: What, uri?: unknown, index?: unknown): Promise<void> {
    const key = uri instanceof vscode.Uri ? uri.toString() : vscode.window.activeTextEditor?.document.uri.toString();
    const pending = this.pending.get(key ?? "");
    if (pending === undefined || key === undefined) return;
    if (typeof index !== "number") return this.decideAll(key, what);
    await this.apply(pending, what, index);
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const pending = this.pending.get(document.uri.toString());
    if (pending === undefined) return [];
    return hunksOf(pending.baseline, document.getText()).flatMap((hunk, index) => {
      const line = Math.min(hunk.newFrom, document.lineCount - 1);
      const removed = hunk.oldTo - hunk.oldFrom;
      const why = index === 0 && pending.description !== "" ? `: ${oneLine(pending.description, 80)}` : "";
      const lens = (title: string, what: What): vscode.CodeLens =>
        new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command: `agent.inline.${what}`, arguments: [document.uri, index] });
      return [lens(`$(check) Accept${why}`, "accept"), lens(`$(close) Reject${removed > 0 ? ` (brings back ${removed} lines)` : ""}`, "reject")];
    });
  }

  provideOriginalResource(uri: vscode.Uri): vscode.Uri | undefined {
    const pending = this.pending.get(uri.toString());
    return pending === undefined ? undefined : this.originalOf(pending);
  }

  dispose(): void {
    for (const key of this.pending.keys()) void this.decideAll(key, "reject");
    this.control?.dispose();
    this.added.dispose();
    for (const listener of this.listeners) listener.dispose();
  }

  private originalOf({ document, id }: Pending): vscode.Uri {
    return reviewUri(originalScheme, document.uri.fsPath, id);
  }

  private async decideAll(key: string, what: What): Promise<void> {
    const pending = this.pending.get(key);
    if (pending === undefined) return;
    if (what === "accept") pending.baseline = pending.document.getText();
    else await this.change(pending, pending.baseline);
    this.settle(pending);
  }

  private async apply(pending: Pending, what: What, index: number): Promise<void> {
    const current = pending.document.getText();
    if (what === "accept") pending.baseline = acceptHunk(pending.baseline, current, index);
    else await this.change(pending, rejectHunk(pending.baseline, current, index));
    this.refresh();
    this.settle(pending);
  }

  private async change(pending: Pending, text: string): Promise<void> {
    pending.busy = true;
    await replaceAll(pending.document, text);
    pending.busy = false;
  }

  private changed(document: vscode.TextDocument): void {
    const pending = this.pending.get(document.uri.toString());
    if (pending === undefined || pending.busy) return;
    this.refresh();
    this.settle(pending);
  }

  /** A person who saves the document has read what is in it. */
  private saved(document: vscode.TextDocument): void {
    const pending = this.pending.get(document.uri.toString());
    if (pending !== undefined && !pending.busy) void this.decideAll(document.uri.toString(), "accept");
  }

  /** Ends the proposal when nothing of it is undecided. */
  private settle(pending: Pending): void {
    const text = pending.document.getText();
    if (pending.busy || text !== pending.baseline) return;
    pending.busy = true;
    void pending.document.save().then(() => {
      const lf = toLf(text);
      pending.end(text === pending.original ? undefined : pending.document.eol === vscode.EndOfLine.CRLF ? withEol(lf, "crlf") : lf);
    });
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
