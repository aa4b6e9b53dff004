import { stat } from "node:fs/promises";
import * as vscode from "vscode";
import { systemClock } from "../core/clock";
import type { Core } from "../core/core";
import { isPending } from "../core/review";
import type { ReviewInfo } from "../core/reviews";
import { waitUntil } from "../core/waiting";
import type { Places } from "./places";
import { tabThere } from "./tabs";
import type { Terminals } from "./terminals";
import type { Views } from "./views";

const writtenMs = 3_000;
/** For how long the next edit of an answer is waited for, in milliseconds. */
const nextMs = 2_000;

/** For how long the accepted change is marked. */
const highlightMs = 1_000;

interface Lines {
  readonly from: number;
  readonly to: number;
}

interface Parts {
  readonly core: Core;
  readonly views: Views;
  readonly terminals: Terminals;
  readonly places: Places;
  /** Whether an accepted file is shown. */
  showAccepted(): boolean;
}

/**
 * Where a person goes on after an answer in the editor: at the next review, else in
 * the terminal of the agent that asked, with the accepted file shown.
 */
export class Afterwards implements vscode.Disposable {
  private readonly stop: () => void;
  /** How many answers there were. */
  private turns = 0;
  private readonly changedStyle = vscode.window.createTextEditorDecorationType({ isWholeLine: true, backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground") });

  constructor(private readonly parts: Parts) {
    this.stop = parts.core.reviews.onChange((review) => {
      if (review.state === "done" && isPersons(review)) void this.goOn(review);
    });
  }

  dispose(): void {
    this.stop();
    this.changedStyle.dispose();
  }

  private async goOn(review: ReviewInfo): Promise<void> {
    const { core, views, terminals } = this.parts;
    const turn = ++this.turns;
    const isLast = (): boolean => turn === this.turns;
    const ended = core.reviews.find(review.id);
    const [changed, closed] = [ended?.changed() ?? [], ended?.closed];
    const next = await this.next(review);
    if (!isLast()) return; // of several answers at once the last one decides where to go
    if (next !== undefined) {
      views.takeFocus(next.id);
      core.reviews.show(next.id);
      await closed;
      await tabThere(() => views.active() === next.id);
      // With a screen reader the end of the tab that had the focus leaves it nowhere.
      if (isLast() && views.active() === next.id) await focusEditors();
      return;
    }
    // The file may come seconds later, or never: keys must not be lost until then.
    const inTerminal = terminals.showOwn(review.pid);
    if (!inTerminal) await focusEditors();
    const isFile = !review.isPlan && review.removal !== "delete";
    if (review.outcome?.kind !== "accepted" || !isFile || !this.parts.showAccepted()) return;
    const isShown = await this.showFile(review, changed, isLast);
    if (isShown && !inTerminal && !this.asksAgain()) await focusEditors();
  }

  /** The next review; one of the same answer may come in a moment, and until then the keys that answer do nothing. Others that come meanwhile do not take the focus. */
  private async next({ turn }: ReviewInfo): Promise<ReviewInfo | undefined> {
    const { reviews } = this.parts.core;
    const waiting = reviews.list().find(isPending);
    if (waiting !== undefined || turn === undefined || turn.index + 1 >= turn.total) return waiting;
    const find = (): ReviewInfo | undefined => reviews.list().find((each) => isPending(each) && each.turn?.key === turn.key);
    await isAwaiting(true);
    await waitUntil(() => find() !== undefined, (look) => reviews.onChange(look), systemClock, nextMs);
    await isAwaiting(false);
    return find();
  }

  /**
   * Shows an accepted file at its change, without the focus, when it is there: the client writes it after
   * the answer. Gives up if a question comes meanwhile, which the file would cover. Reports whether it is shown.
   */
  private async showFile({ path, encoding }: ReviewInfo, changed: readonly Lines[], isWanted: () => boolean): Promise<boolean> {
    const { places } = this.parts;
    const until = Date.now() + writtenMs;
    const isThere = (): Promise<boolean> => stat(path).then(() => true, () => false);
    while (!(await isThere())) {
      if (Date.now() > until || this.asksAgain() || !isWanted()) return false;
      await new Promise((done) => setTimeout(done, 50));
    }
    try {
      // Loading takes a while; a loaded file is shown before a review that comes from now on.
      const document = await vscode.workspace.openTextDocument(places.uri(path), encoding === undefined ? {} : { encoding });
      if (this.asksAgain() || !isWanted()) return false;
      const tab = places.tabs(path)[0];
      const ranges = changed.map(({ from, to }) => document.validateRange(new vscode.Range(from, 0, Math.max(from, to - 1), 0)));
      const editor = await vscode.window.showTextDocument(document, {
        preserveFocus: true,
        // A file that the person reads in preview stays.
        preview: tab?.isPreview ?? false,
        ...(tab === undefined ? {} : { viewColumn: tab.group.viewColumn }),
        ...(tab !== undefined || ranges[0] === undefined ? {} : { selection: new vscode.Range(ranges[0].start, ranges[0].start) }),
      });
      this.highlight(editor, ranges);
      return true;
    } catch {
      return false; // it is gone again, or not a text
    }
  }

  /** Marks the changed lines for a moment. */
  private highlight(editor: vscode.TextEditor, ranges: readonly vscode.Range[]): void {
    if (ranges[0] === undefined) return;
    editor.revealRange(ranges[0], vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    editor.setDecorations(this.changedStyle, ranges);
    setTimeout(() => editor.setDecorations(this.changedStyle, []), highlightMs);
  }

  private asksAgain(): boolean {
    return this.parts.core.reviews.list().some(isPending);
  }
}

async function isAwaiting(is: boolean): Promise<void> {
  await vscode.commands.executeCommand("setContext", "agent.awaitsReview", is);
}

async function focusEditors(): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.focusActiveEditorGroup");
}

function isPersons({ outcome }: ReviewInfo): boolean {
  return outcome !== undefined && ["button", "command", "save"].includes(outcome.reason);
}
