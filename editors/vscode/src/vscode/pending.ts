import * as vscode from "vscode";
import type { ReviewInfo, Reviews } from "../core/reviews";
import { proposedScheme, reviewId, reviewUri } from "./uri";

/** What a review is called in a list: its file, and what makes it special. */
export function describe(review: ReviewInfo): string {
  const marks = [
    review.isNew ? "new file" : "",
    review.edited ? "edited by you" : "",
    review.stale ? "changed on disk" : "",
    review.held ? "being edited in the terminal" : "",
  ].filter((mark) => mark !== "");
  const name = vscode.workspace.asRelativePath(review.path);
  return marks.length === 0 ? name : `${name} (${marks.join(", ")})`;
}

export function isPending(review: ReviewInfo): boolean {
  return review.state !== "resolving" && review.state !== "done";
}

/**
 * The edits that wait for an answer, as a list in the Source Control view. The
 * list is there only while something waits.
 */
export class PendingList implements vscode.Disposable {
  private control: vscode.SourceControl | undefined;
  private group: vscode.SourceControlResourceGroup | undefined;

  constructor(private readonly reviews: Reviews) {}

  refresh(): void {
    const pending = this.reviews.list().filter(isPending);
    if (pending.length === 0) return this.dispose();
    const group = this.shown();
    group.resourceStates = pending.map(toState);
    if (this.control !== undefined) this.control.count = pending.length;
  }

  dispose(): void {
    this.group?.dispose();
    this.control?.dispose();
    this.group = undefined;
    this.control = undefined;
  }

  private shown(): vscode.SourceControlResourceGroup {
    if (this.group !== undefined) return this.group;
    this.control = vscode.scm.createSourceControl("agent", "Agent");
    this.control.inputBox.visible = false;
    this.group = this.control.createResourceGroup("pending", "Edits to Review");
    return this.group;
  }
}

function toState(review: ReviewInfo): vscode.SourceControlResourceState {
  return {
    resourceUri: reviewUri(proposedScheme, review.path, review.id),
    contextValue: "review",
    command: { title: "Show Diff", command: "agent.showReview", arguments: [review.id] },
    decorations: {
      tooltip: review.description === "" ? describe(review) : `${describe(review)}: ${review.description}`,
      ...(review.stale ? { iconPath: new vscode.ThemeIcon("warning") } : {}),
    },
  };
}

/** Marks the diffs whose state the label of a tab cannot tell. */
export class Marks implements vscode.FileDecorationProvider {
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChangeFileDecorations = this.changes.event;

  constructor(private readonly reviews: Reviews) {}

  changed(review: ReviewInfo): void {
    this.changes.fire(reviewUri(proposedScheme, review.path, review.id));
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const review = uri.scheme === proposedScheme ? this.reviews.get(reviewId(uri) ?? "") : undefined;
    if (review === undefined) return undefined;
    if (review.stale) {
      const color = new vscode.ThemeColor("list.warningForeground");
      return new vscode.FileDecoration("!", "The file has changed on disk since this edit was proposed", color);
    }
    if (review.held) return new vscode.FileDecoration("T", "Being edited in the terminal");
    return undefined;
  }
}
