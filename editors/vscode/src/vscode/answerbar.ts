import * as vscode from "vscode";
import { isPending } from "../core/review";
import type { Reviews } from "../core/reviews";
import { describe } from "./pending";

/** Accept and Reject in the status bar, while a review that takes answers is in front. */
export class AnswerBar implements vscode.Disposable {
  private readonly accept = vscode.window.createStatusBarItem("agent.accept", vscode.StatusBarAlignment.Left, -11);
  private readonly reject = vscode.window.createStatusBarItem("agent.reject", vscode.StatusBarAlignment.Left, -12);

  constructor(private readonly reviews: Reviews) {
    [this.accept.name, this.reject.name] = [vscode.l10n.t("Agent: Accept"), vscode.l10n.t("Agent: Reject")];
    this.accept.text = `$(check) ${vscode.l10n.t("Accept")}`;
    this.reject.text = `$(close) ${vscode.l10n.t("Reject")}`;
    [this.accept.command, this.reject.command] = ["agent.diffAccept", "agent.diffReject"];
    this.accept.color = new vscode.ThemeColor("charts.green");
    this.reject.color = new vscode.ThemeColor("charts.red");
  }

  /** id: the review in front, if there is one. */
  show(id: string | undefined): void {
    const review = id === undefined ? undefined : this.reviews.get(id);
    const items = [this.accept, this.reject];
    if (review === undefined || !isPending(review) || review.held) return items.forEach((item) => item.hide());
    const name = describe(review);
    const [accepts, rejects] = [vscode.l10n.t("Accept the edit of {0}", name), vscode.l10n.t("Reject the edit of {0}", name)];
    for (const [item, label] of [[this.accept, accepts], [this.reject, rejects]] as const) {
      item.tooltip = label;
      item.accessibilityInformation = { label, role: "button" };
      item.show();
    }
  }

  dispose(): void {
    this.accept.dispose();
    this.reject.dispose();
  }
}
