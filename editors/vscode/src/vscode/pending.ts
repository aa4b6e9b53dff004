import * as vscode from "vscode";
import type { ReviewInfo, Reviews } from "../core/reviews";
import { isPending } from "../core/review";
import { visibleName } from "../core/text";
import type { Places } from "./places";
import { isProposalUri, proposalUri, reviewId } from "./uri";

/** The label of a review in a list: its file and its special marks. */
export function describe(review: ReviewInfo): string {
  const marks = marksOf(review);
  const name = review.isPlan ? review.title : nameOf(review.path);
  return marks.length === 0 ? name : `${name} (${marks.join(", ")})`;
}

/** The file's path in its workspace, in which no character hides. */
function nameOf(path: string): string {
  return visibleName(vscode.workspace.asRelativePath(path));
}

/** What makes a review special. */
export function marksOf(review: ReviewInfo): string[] {
  return [
    review.isNew ? vscode.l10n.t("new file") : "",
    review.removal === "delete" ? vscode.l10n.t("deleted") : "",
    review.removal === "move" ? vscode.l10n.t("moved from {0}", nameOf(review.oldPath)) : "",
    review.edited ? vscode.l10n.t("edited by you") : "",
    review.stale ? vscode.l10n.t("changed on disk") : "",
    review.held ? vscode.l10n.t("being edited in the terminal") : "",
    review.check?.state === "failed" ? review.check.text : "",
  ].filter((mark) => mark !== "");
}

/** Marks the files that wait for a review, and the diffs whose state the label of a tab cannot tell. */
export class Marks implements vscode.FileDecorationProvider {
  private readonly changes = new vscode.EventEmitter<vscode.Uri[]>();
  readonly onDidChangeFileDecorations = this.changes.event;

  /** The files that wait. */
  private files = new Set<string>();

  constructor(
    private readonly reviews: Reviews,
    private readonly places: Places,
  ) {}

  changed(review: ReviewInfo): void {
    const file = this.places.uri(review.oldPath);
    const waits = this.reviews.list().some((each) => isPending(each) && !each.isPlan && each.path === review.path);
    const isNews = this.files.has(file.toString()) !== waits;
    if (waits) this.files.add(file.toString());
    else this.files.delete(file.toString());
    this.changes.fire(isNews ? [proposalUri(review), file] : [proposalUri(review)]);
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (this.files.has(uri.toString())) {
      const waits = new vscode.FileDecoration("?", vscode.l10n.t("An edit of this file waits for your review"), new vscode.ThemeColor("list.warningForeground"));
      waits.propagate = true;
      return waits;
    }
    const review = isProposalUri(uri) ? this.reviews.get(reviewId(uri) ?? "") : undefined;
    if (review === undefined) return undefined;
    if (review.stale) {
      const color = new vscode.ThemeColor("list.warningForeground");
      return new vscode.FileDecoration("!", vscode.l10n.t("The file has changed on disk since this edit was proposed"), color);
    }
    if (review.held) return new vscode.FileDecoration("T", vscode.l10n.t("Being edited in the terminal"));
    return undefined;
  }
}
