import { dirname } from "node:path";
import * as vscode from "vscode";
import { isPending } from "../core/review";
import type { ReviewInfo, Reviews } from "../core/reviews";
import { describe, marksOf } from "./pending";
import { ask } from "./questions";
import type { Seen } from "./seen";
import { proposalUri } from "./uri";

const viewId = "agent.reviews";

/** An entry of the list; commands get it as their argument. */
interface Entry {
  readonly id: string;
  readonly resourceUri: vscode.Uri;
}

/** The edits that wait for an answer, in a view of their own, and the answers to all of them. */
export class ReviewList implements vscode.TreeDataProvider<Entry>, vscode.Disposable {
  private readonly changes = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changes.event;
  private readonly view = vscode.window.createTreeView<Entry>(viewId, { treeDataProvider: this });
  private readonly parts: vscode.Disposable[];

  constructor(
    private readonly reviews: Reviews,
    private readonly seen: Seen,
  ) {
    this.parts = [
      this.view,
      vscode.commands.registerCommand("agent.acceptAll", () => this.acceptAll()),
      vscode.commands.registerCommand("agent.rejectAll", () => this.rejectAll()),
    ];
  }

  changed({ id, state }: ReviewInfo): void {
    if (state === "done") this.seen.forget(id);
    const count = this.pending().length;
    this.view.badge = count === 0 ? undefined : { value: count, tooltip: vscode.l10n.t("{0} to review", count) };
    this.changes.fire(undefined);
  }

  getChildren(entry?: Entry): Entry[] {
    if (entry !== undefined) return [];
    return this.pending().map((review) => ({ id: review.id, resourceUri: proposalUri(review) }));
  }

  getTreeItem({ id, resourceUri }: Entry): vscode.TreeItem {
    const item = new vscode.TreeItem(resourceUri);
    item.id = id;
    item.contextValue = "review";
    item.command = { title: vscode.l10n.t("Show Diff"), command: "agent.showReview", arguments: [id] };
    const review = this.reviews.get(id);
    if (review === undefined) return item;
    const { added, removed } = this.reviews.counts(id);
    const folder = dirname(vscode.workspace.asRelativePath(review.path));
    item.description = [`+${added} −${removed}`, ...(folder === "." ? [] : [folder]), ...marksOf(review)].join(" · ");
    item.tooltip = review.description === "" ? describe(review) : `${describe(review)}: ${review.description}`;
    item.iconPath = review.stale ? new vscode.ThemeIcon("warning") : review.removal === "delete" ? new vscode.ThemeIcon("trash") : vscode.ThemeIcon.File;
    return item;
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
    this.changes.dispose();
  }

  private pending(): readonly ReviewInfo[] {
    return this.reviews.list().filter(isPending);
  }

  /** Accepts the edits that the person has had on the screen; shows the first of the others instead. */
  private async acceptAll(): Promise<void> {
    const pending = this.pending();
    const free = pending.filter(({ id, held, isPlan }) => !held && !isPlan && this.reviews.isReady(id));
    const [ready, unseen] = [free.filter(({ id }) => this.seen.has(id)), free.filter(({ id }) => !this.seen.has(id))];
    if (ready.length > 0 && (await confirmed(acceptQuestion(ready.length), vscode.l10n.t("Accept"), ready))) {
      for (const { id } of ready) this.reviews.accept(id, "command");
    }
    if (free.length === 0) return tell(this.whyNone(pending) ?? vscode.l10n.t("Accept All leaves out plans and edits that are being changed in the terminal. Answer them one by one."));
    const [first] = unseen;
    if (first === undefined) return;
    tell(unseenMessage(unseen.length));
    this.reviews.show(first.id);
  }

  /** Rejects all reviews. The question is what answers, so one that has only just appeared is in it too. */
  private async rejectAll(): Promise<void> {
    const pending = this.pending();
    const free = pending.filter(({ held }) => !held);
    if (free.length === 0) return tell(this.whyNone(pending) ?? vscode.l10n.t("This edit is being changed in the terminal. Finish there first."));
    if (!(await confirmed(rejectQuestion(free.length), vscode.l10n.t("Reject"), free))) return;
    for (const { id } of free.filter(({ id }) => this.reviews.isReady(id))) this.reviews.reject(id, "command");
  }

  /** Why a command for all finds none; undefined if what waits cannot be answered by it. */
  private whyNone(pending: readonly ReviewInfo[]): string | undefined {
    if (pending.length === 0) return vscode.l10n.t("No edit waits for your review.");
    return pending.every(({ held, isPlan }) => held || isPlan) ? undefined : vscode.l10n.t("The review has just appeared: answer once more.");
  }
}

function tell(message: string): void {
  void vscode.window.showInformationMessage(message);
}

function acceptQuestion(count: number): string {
  return count === 1 ? vscode.l10n.t("Accept the edit that you have seen?") : vscode.l10n.t("Accept {0} edits that you have seen?", count);
}

function rejectQuestion(count: number): string {
  return count === 1 ? vscode.l10n.t("Reject this edit?") : vscode.l10n.t("Reject {0} edits?", count);
}

function unseenMessage(count: number): string {
  return count === 1
    ? vscode.l10n.t("One edit has not been on the screen yet. Look at it first.")
    : vscode.l10n.t("{0} edits have not been on the screen yet. Look at them first.", count);
}

/** Asks once for several answers, with the files that they are about. */
async function confirmed(question: string, yes: string, about: readonly ReviewInfo[]): Promise<boolean> {
  const detail = about.map(describe).join("\n");
  return (await ask(question, detail, [yes])) === yes;
}
