import { stat } from "node:fs/promises";
import * as vscode from "vscode";
import { systemClock } from "../core/clock";
import type { Core } from "../core/core";
import { isPending } from "../core/review";
import type { ReviewInfo } from "../core/reviews";
import { waitUntil } from "../core/waiting";
import type { InlineProposals } from "./inline";
import type { Places } from "./places";
import type { Terminals } from "./terminals";
import type { Views } from "./views";

const writtenMs = 3_000;
/** For how long the next edit of an answer is waited for, in milliseconds. */
const nextMs = 2_000;

interface Parts {
  readonly core: Core;
  readonly views: Views;
  readonly inline: InlineProposals;
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

  constructor(private readonly parts: Parts) {
    this.stop = parts.core.reviews.onChange((review) => {
      if (review.state === "done" && isPersons(review)) void this.goOn(review);
    });
  }

  dispose(): void {
    this.stop();
  }

  private async goOn(review: ReviewInfo): Promise<void> {
    const { core, views, terminals } = this.parts;
    const next = await this.next(review);
    if (next !== undefined) {
      views.takeFocus(next.id);
      core.reviews.show(next.id);
      return;
    }
    // The file may come seconds later, or never: keys must not be lost until then.
    const inTerminal = terminals.showOwn(review.pid);
    if (!inTerminal) await focusEditors();
    const isFile = !review.isPlan && review.removal !== "delete";
    if (review.outcome?.kind !== "accepted" || !isFile || !this.parts.showAccepted()) return;
    const isShown = await this.showFile(review.path, review.encoding);
    if (isShown && !inTerminal && !this.asksAgain()) await focusEditors();
  }

  /** The next review; one of the same answer may come in a moment, and until then the keys that answer do nothing. */
  private async next({ more }: ReviewInfo): Promise<ReviewInfo | undefined> {
    const { reviews } = this.parts.core;
    const find = (): ReviewInfo | undefined => reviews.list().find(isPending);
    if (more && find() === undefined) {
      await isAwaiting(true);
      await waitUntil(() => find() !== undefined, (look) => reviews.onChange(look), systemClock, nextMs);
      await isAwaiting(false);
    }
    return find();
  }

  /**
   * Shows an accepted file, without the focus, when it is there: the client writes it after the
   * answer. Gives up if a question comes meanwhile, which the file would cover. Reports whether it is shown.
   */
  private async showFile(path: string, encoding: string | undefined): Promise<boolean> {
    const until = Date.now() + writtenMs;
    const isThere = (): Promise<boolean> => stat(path).then(() => true, () => false);
    while (!(await isThere())) {
      if (Date.now() > until || this.asksAgain()) return false;
      await new Promise((done) => setTimeout(done, 50));
    }
    try {
      // Loading takes a while; a loaded file is shown before a review that comes from now on.
      const document = await vscode.workspace.openTextDocument(this.parts.places.uri(path), encoding === undefined ? {} : { encoding });
      if (this.asksAgain()) return false;
      await vscode.window.showTextDocument(document, { preserveFocus: true });
      return true;
    } catch {
      return false; // it is gone again, or not a text
    }
  }

  private asksAgain(): boolean {
    return this.parts.inline.isAsking || this.parts.core.reviews.list().some(isPending);
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
