import * as vscode from "vscode";
import type { ReviewInfo, Reviews } from "../core/reviews";
import { visibleName } from "../core/text";
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

/** Marks the diffs whose state the label of a tab cannot tell. */
export class Marks implements vscode.FileDecorationProvider {
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChangeFileDecorations = this.changes.event;

  constructor(private readonly reviews: Reviews) {}

  changed(review: ReviewInfo): void {
    this.changes.fire(proposalUri(review));
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
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
