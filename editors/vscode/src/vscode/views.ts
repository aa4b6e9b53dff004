import * as vscode from "vscode";
import type { DiffView, ReviewComment, ShownDiff } from "../core/ports";
import type { Diffs } from "./diffs";
import type { InlineReviews } from "./inlinereviews";
import { activeReview } from "./tabs";

/** Where reviews are shown: in the document itself where that is wanted and can be, else as a diff. */
export class Views implements DiffView {
  /** Reviews that have a diff already go on there. */
  private readonly asDiff = new Set<string>();
  private readonly opening = new Map<string, Promise<void>>();
  private readonly focusNext = new Set<string>();

  constructor(
    readonly diffs: Diffs,
    readonly inline: InlineReviews,
  ) {}

  /** One after the other: a review that is just being shown is not shown twice. */
  open(diff: ShownDiff): Promise<void> {
    const opened = (this.opening.get(diff.id) ?? Promise.resolve()).catch(() => undefined).then(() => this.openNow(diff));
    this.opening.set(diff.id, opened);
    return opened;
  }

  private async openNow(diff: ShownDiff): Promise<void> {
    const focus = this.focusNext.delete(diff.id);
    if (this.inline.has(diff.id) || (!this.asDiff.has(diff.id) && (await this.inline.possible(diff)))) {
      return this.inline.show(diff, focus);
    }
    this.asDiff.add(diff.id);
    if (focus) this.diffs.takeFocus(diff.id);
    return this.diffs.open(diff);
  }

  /** The next time this review is opened, it gets the focus: the person asked for it. */
  takeFocus(id: string): void {
    this.focusNext.add(id);
  }

  /** The review that the person looks at. */
  active(): string | undefined {
    return activeReview() ?? this.inline.active();
  }

  tabs(id: string): number {
    return this.inline.has(id) ? 1 : this.diffs.tabs(id);
  }

  text(id: string): string | undefined {
    return this.inline.has(id) ? this.inline.text(id) : this.diffs.text(id);
  }

  caughtUp(): Promise<void> {
    return this.diffs.caughtUp();
  }

  comments(id: string): readonly ReviewComment[] {
    return this.diffs.comments(id);
  }

  update(id: string, state: { title: string; readonly: boolean }): void {
    if (this.inline.has(id)) this.inline.lock(id, state.readonly);
    else this.diffs.update(id, state);
  }

  confirmStale(id: string, path: string): Promise<boolean> {
    return this.diffs.confirmStale(id, path);
  }

  async close(id: string): Promise<void> {
    await this.inline.close(id);
    await this.diffs.close(id);
  }

  forget(id: string): void {
    this.asDiff.delete(id);
    this.opening.delete(id);
    this.diffs.forget(id);
  }

  /** Shows the buttons of a review above a document in which one stands. */
  noteActive(): void {
    void vscode.commands.executeCommand("setContext", "agent.inlineReview", this.inline.active() !== undefined);
  }

  watch(): vscode.Disposable {
    return vscode.window.onDidChangeActiveTextEditor(() => this.noteActive());
  }
}
