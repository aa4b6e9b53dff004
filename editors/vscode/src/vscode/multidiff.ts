import * as vscode from "vscode";
import type { ReviewInfo, Reviews } from "../core/reviews";
import { allTabs, reviewsBelow } from "./tabs";
import type { Views } from "./views";

/** The edits of an answer one below the other, in one editor: each with the same row of answers. */
export class Together implements vscode.Disposable {
  private readonly stop: () => void;

  constructor(
    private readonly reviews: Reviews,
    private readonly views: Views,
  ) {
    this.stop = reviews.onChange(({ state }) => {
      if (state === "done") void this.closeDecided();
    });
  }

  async show(wanted: readonly ReviewInfo[]): Promise<void> {
    const diffs = wanted.map(({ id }) => this.reviews.find(id)?.diff).filter((diff) => diff !== undefined && !diff.isPlan);
    if (diffs.length === 0) return;
    const title = vscode.l10n.t("{0} edits ← {1}", diffs.length, wanted[0]?.asks ?? "");
    const sides = [];
    for (const diff of diffs) if (diff !== undefined) sides.push(await this.views.sidesOf(diff));
    await vscode.commands.executeCommand("vscode.changes", title, sides.map(({ left, right }) => [right, left, right]));
    for (const { id } of wanted) this.reviews.seen(id);
    await this.closeDecided(); // it may have opened after the last answer
  }

  dispose(): void {
    this.stop();
  }

  /** Closes the editors all of whose reviews are over: their documents go soon. */
  private async closeDecided(): Promise<void> {
    const isOver = (id: string): boolean => (this.reviews.get(id)?.state ?? "done") === "done";
    const tabs = allTabs().filter((tab) => reviewsBelow(tab).length > 0 && reviewsBelow(tab).every(isOver));
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
  }
}
