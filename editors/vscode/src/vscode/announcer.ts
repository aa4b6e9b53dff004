import * as vscode from "vscode";
import { isPending } from "../core/review";
import type { ReviewInfo } from "../core/reviews";
import { describe } from "./pending";

/** Reviews that come or go within so many milliseconds are told together. */
const togetherMs = 300;
const shownMs = 3_000;
/** More lines than this are told as a number. */
const linesMax = 3;

/**
 * Tells people with a screen reader that reviews come and go. VS Code has no other way to say
 * something from an extension than a notification, which it reads out; ours goes by itself.
 */
export class Announcer implements vscode.Disposable {
  private readonly known = new Set<string>();
  private readonly lines: { come: string[]; go: string[] } = { come: [], go: [] };
  private timer: NodeJS.Timeout | undefined;

  changed(review: ReviewInfo): void {
    const { id, state, outcome } = review;
    if (state === "done") this.known.delete(id);
    const isKnown = this.known.has(id);
    if (!isKnown && isPending(review) && state !== "preparing") {
      this.known.add(id);
      this.add("come", comes(review));
    } else if (isKnown && outcome !== undefined) {
      this.known.delete(id);
      const word = outcome.kind === "accepted" ? vscode.l10n.t("{0} accepted", describe(review)) : outcome.kind === "rejected" ? vscode.l10n.t("{0} rejected", describe(review)) : vscode.l10n.t("{0} no longer waits", describe(review));
      this.add("go", word);
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private add(what: "come" | "go", line: string): void {
    if (vscode.workspace.getConfiguration("editor").get("accessibilitySupport") !== "on") return;
    this.lines[what].push(line);
    this.timer ??= setTimeout(() => this.say(), togetherMs);
  }

  private say(): void {
    this.timer = undefined;
    const [come, go] = [this.lines.come.splice(0), this.lines.go.splice(0)];
    const text = [
      ...(go.length > linesMax ? [vscode.l10n.t("{0} edits no longer wait", go.length)] : go),
      ...(come.length > linesMax ? [vscode.l10n.t("{0} edits wait for your review", come.length)] : come),
    ].join(". ");
    void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: text }, () => new Promise((done) => setTimeout(done, shownMs)));
  }
}

function comes(review: ReviewInfo): string {
  const { asks, place } = review;
  const from = asks === "" ? vscode.l10n.t("A program") : asks;
  return vscode.l10n.t("{0} waits for your review. From: {1}", describe(review), place === "" ? from : `${from}, ${place}`);
}
