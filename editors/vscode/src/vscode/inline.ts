import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { Inline, InlineEnd, InlineProposal } from "../core/ports";
import { pathKey } from "../core/paths";
import { decision } from "../core/proposing";
import type { ProposalScreen } from "../core/proposing";
import { readyMs } from "../core/ready";
import { oneLine, sameText } from "../core/text";
import type { InlineDocuments, InlineProposed } from "./inlinedocs";
import { onTabs } from "./tabs";

/**
 * Proposals of programs that leave the writing to the editor, each in one text
 * with its file. Only the person's command accepts; a tab that is closed rejects.
 */
export class InlineProposals implements Inline {
  private readonly standing_ = new Map<string, string>();

  constructor(private readonly documents: InlineDocuments) {}

  /** Whether any proposal waits for its answer. */
  get isAsking(): boolean {
    return this.standing_.size > 0;
  }

  standing(path: string): string | undefined {
    return this.standing_.get(pathKey(path));
  }

  async propose({ path, original, proposed, description }: InlineProposal, cancelled: AbortSignal): Promise<InlineEnd> {
    const id = randomUUID();
    this.standing_.set(pathKey(path), original);
    try {
      const heading = { asks: "", place: "", description: oneLine(description, 200), notes: [], check: undefined, effect: "" };
      const title = vscode.l10n.t("Review: {0}", vscode.workspace.asRelativePath(path));
      const end = await decision(this.screen({ id, path, original, proposed, title, heading, locked: "" }), cancelled);
      const draft = this.documents.draft(id);
      return end.kind === "rejected" && draft !== undefined ? { ...end, draft } : end;
    } finally {
      try {
        await this.documents.hide(id);
      } finally {
        this.documents.forget(path, id);
        this.standing_.delete(pathKey(path));
      }
    }
  }

  private screen(proposal: InlineProposed): ProposalScreen {
    const { documents } = this;
    const { id, original } = proposal;
    let since = Number.POSITIVE_INFINITY;
    return {
      add: (end) =>
        documents.add(proposal, {
          ready: () => Date.now() - since >= readyMs,
          changed: () => undefined,
          decided: (text) => {
            end(sameText(text, original) ? { kind: "rejected" } : { kind: "accepted", text });
            return true;
          },
        }),
      show: async () => {
        await documents.show(id, { focus: false, background: false });
        since = Date.now();
      },
      tabs: () => documents.tabs(id),
      onTabs,
    };
  }
}
