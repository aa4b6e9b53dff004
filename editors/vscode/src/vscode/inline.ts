import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { Inline, InlineEnd, InlineProposal } from "../core/ports";
import { pathKey } from "../core/paths";
import { readyMs } from "../core/ready";
import { oneLine, sameText } from "../core/text";
import type { InlineDocuments, InlineProposed } from "./inlinedocs";

/**
 * Proposals of programs that leave the writing to the editor, each in one text
 * with its file. Only the person's command accepts; a tab that is closed rejects.
 */
export class InlineProposals implements Inline {
  private readonly standing_ = new Map<string, string>();

  constructor(private readonly documents: InlineDocuments) {}

  standing(path: string): string | undefined {
    return this.standing_.get(pathKey(path));
  }

  async propose({ path, original, proposed, description }: InlineProposal, cancelled: AbortSignal): Promise<InlineEnd> {
    const id = randomUUID();
    this.standing_.set(pathKey(path), original);
    try {
      const decided = new Promise<InlineEnd>((end) => {
        cancelled.addEventListener("abort", () => end({ kind: "rejected" }));
        const heading = { asks: "", place: "", description: oneLine(description, 200), notes: [], check: undefined, effect: "" };
        const title = vscode.l10n.t("Review: {0}", vscode.workspace.asRelativePath(path));
        void this.show({ id, path, original, proposed, title, heading, locked: "" }, end);
      });
      return cancelled.aborted ? { kind: "rejected" } : await decided;
    } finally {
      await this.documents.hide(id);
      this.documents.forget(path, id);
      this.standing_.delete(pathKey(path));
    }
  }

  private async show(proposal: InlineProposed, end: (how: InlineEnd) => void): Promise<void> {
    const { id, original } = proposal;
    let since = Number.POSITIVE_INFINITY;
    const tabs = vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      if (!this.documents.has(id)) tabs.dispose();
      else if (closed.length > 0 && this.documents.tabs(id) === 0) end({ kind: "rejected" });
    });
    await this.documents.add(proposal, {
      ready: () => Date.now() - since >= readyMs,
      changed: () => undefined,
      decided: (text) => {
        tabs.dispose();
        end(sameText(text, original) ? { kind: "rejected" } : { kind: "accepted", text });
        return true;
      },
    });
    await this.documents.show(id, { focus: false, background: false });
    since = Date.now();
  }
}
