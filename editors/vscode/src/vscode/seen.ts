import * as vscode from "vscode";
import { readyMs } from "../core/ready";
import { visibleReviews } from "./tabs";
import { originalScheme, reviewId } from "./uri";

interface Look {
  /** When it was painted at the front, in milliseconds; undefined while it is elsewhere. */
  since: number | undefined;
  /** The end of its changes was on the screen. */
  end: boolean;
}

/**
 * The reviews that a person can have looked at: each was painted at the front of a group for as long as an
 * answer needs, and the end of its changes was on the screen. A tab that flashes by is not seen.
 */
export class Seen implements vscode.Disposable {
  private readonly looks = new Map<string, Look>();
  private readonly listeners: vscode.Disposable;
  private timer: NodeJS.Timeout | undefined;
  private readonly found = new vscode.EventEmitter<void>();
  /** A review has been seen. */
  readonly onSeen = this.found.event;

  private readonly ends = new WeakMap<vscode.TextDocument, { version: number; line: number }>();

  /** lastChanged: the last line of the changes in the document of a review, counted from 1; undefined: its last line. */
  constructor(private readonly lastChanged: (document: vscode.TextDocument) => number | undefined) {
    const look = (): void => this.look();
    this.listeners = vscode.Disposable.from(
      vscode.window.tabGroups.onDidChangeTabs(look),
      vscode.window.tabGroups.onDidChangeTabGroups(look),
      vscode.window.onDidChangeVisibleTextEditors(look),
      vscode.window.onDidChangeTextEditorVisibleRanges(look),
    );
  }

  has(id: string): boolean {
    this.look();
    const { since, end } = this.looks.get(id) ?? { since: undefined, end: false };
    return since === -Infinity || (end && since !== undefined && Date.now() - since >= readyMs);
  }

  forget(id: string): void {
    this.looks.delete(id);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listeners.dispose();
    this.found.dispose();
  }

  private look(): void {
    const now = Date.now();
    const front = new Set(visibleReviews().map(({ id }) => id));
    for (const [id, look] of this.looks) if (look.since !== -Infinity && !front.has(id)) look.since = undefined;
    for (const id of front) this.lookAt(id, now);
    clearTimeout(this.timer);
    const waits = [...this.looks.values()].some(({ since }) => since !== undefined && since > 0 && now - since < readyMs);
    if (waits) this.timer = setTimeout(() => this.look(), readyMs);
  }

  private lookAt(id: string, now: number): void {
    const sides = vscode.window.visibleTextEditors.filter(({ document, visibleRanges }) => reviewId(document.uri) === id && visibleRanges.length > 0);
    const shown = sides.filter(({ document: { uri } }) => uri.scheme !== originalScheme);
    // Of a deletion the right side is empty.
    const editors = shown.some(({ document }) => document.getText() === "") ? sides.filter((side) => !shown.includes(side)) : shown;
    if (editors.length === 0) return; // not painted yet
    const look = this.looks.get(id) ?? { since: undefined, end: false };
    this.looks.set(id, look);
    look.since ??= now;
    look.end ||= editors.some((editor) => this.showsEnd(editor));
    // Once seen it stays so, whatever is at the front later.
    if (!look.end || now - look.since < readyMs || look.since === -Infinity) return;
    look.since = -Infinity;
    this.found.fire();
  }

  private showsEnd({ document, visibleRanges }: vscode.TextEditor): boolean {
    const last = this.endOf(document);
    return visibleRanges.some(({ end }) => end.line >= last);
  }

  /** The line that has to be seen; each key and each scrolled line asks. */
  private endOf(document: vscode.TextDocument): number {
    const known = this.ends.get(document);
    if (known?.version === document.version) return known.line;
    const line = Math.min(this.lastChanged(document) ?? document.lineCount, document.lineCount) - 1;
    this.ends.set(document, { version: document.version, line });
    return line;
  }
}
