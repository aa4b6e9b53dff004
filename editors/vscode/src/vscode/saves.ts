import * as vscode from "vscode";
import { SavedText } from "../core/saving";
import type { SideFiles } from "./sidefiles";

/** Within this many milliseconds before a save that somebody asked for the editor's formatters change its text. */
const instantMs = 200;
/** A save by itself comes autoSaveDelay after the last change of a person: in three quarters of it there are only formatters, slow as they may be. */
const lateShare = 0.75;
const lateMaxMs = 2_000;

/**
 * The texts of side files, before and after their saves. Auto-save, Save All and we ourselves save
 * reviews, and before each save formatters change the text, in lines that nobody has edited as
 * well. Those changes are undone after the save: a review holds the proposal and the person's typing.
 */
export class Saves implements vscode.Disposable {
  private readonly texts = new Map<string, SavedText>();
  private readonly listeners: vscode.Disposable;

  constructor(private readonly files: SideFiles) {
    this.listeners = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument((document) => this.opened(document)),
      // Before or after the editor's own formatters: that is another way in each window.
      vscode.workspace.onWillSaveTextDocument(({ document, reason }) => {
        const isLate = reason === vscode.TextDocumentSaveReason.AfterDelay;
        this.texts.get(document.uri.toString())?.begin(cursorsOf(document).map((cursor) => document.offsetAt(cursor)), Date.now(), isLate ? lateMs(document) : instantMs);
      }),
      vscode.workspace.onDidSaveTextDocument((document) => void this.end(document)),
    );
  }

  /** The text before the save of a document, until it is there again. */
  before(uri: vscode.Uri): string | undefined {
    return this.texts.get(uri.toString())?.before;
  }

  /** Whether a change is one by a save. */
  isSaves({ document, contentChanges, reason }: vscode.TextDocumentChangeEvent): boolean {
    const known = this.texts.get(document.uri.toString());
    const saved = known ?? this.opened(document);
    if (saved === undefined || known === undefined) return false;
    const cursors = cursorsOf(document);
    const changes = contentChanges.map(({ range, rangeOffset, rangeLength, text }) => ({
      offset: rangeOffset,
      length: rangeLength,
      text,
      atCursor: cursors.some((cursor) => cursor.isEqual(range.start) || cursor.isEqual(range.end)),
    }));
    const was = saved.before;
    const is = saved.isSaves(document.getText(), changes, Date.now());
    // An undo is the person's, and a text that is loaded is the file's.
    if (reason !== undefined || (saved.before === undefined && this.files.holds(document.uri, document.getText()))) saved.forget();
    if (was !== undefined && saved.before === undefined && document.getText() !== was) this.files.age(document.uri);
    return is && reason === undefined;
  }

  /** The text is another from now on: no earlier one comes back. */
  drop(uri: vscode.Uri): void {
    this.texts.get(uri.toString())?.forget();
  }

  remove(uri: vscode.Uri): void {
    this.texts.delete(uri.toString());
  }

  dispose(): void {
    this.listeners.dispose();
  }

  private opened(document: vscode.TextDocument): SavedText | undefined {
    if (!this.files.has(document.uri)) return undefined;
    const saved = new SavedText(document.getText());
    this.texts.set(document.uri.toString(), saved);
    return saved;
  }

  private async end(document: vscode.TextDocument): Promise<void> {
    const before = this.texts.get(document.uri.toString())?.end();
    if (before !== undefined && this.files.has(document.uri)) await this.files.set(document.uri, before);
  }
}

function cursorsOf(document: vscode.TextDocument): vscode.Position[] {
  return vscode.window.visibleTextEditors.filter((editor) => editor.document === document).flatMap(({ selections }) => selections.map(({ active }) => active));
}

function lateMs({ uri }: vscode.TextDocument): number {
  return Math.min(lateMaxMs, lateShare * vscode.workspace.getConfiguration("files", uri).get("autoSaveDelay", 1_000));
}
