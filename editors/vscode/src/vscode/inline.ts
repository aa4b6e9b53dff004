import * as vscode from "vscode";
import { ToolError } from "../core/errors";
import type { Inline, InlineEnd, InlineProposal } from "../core/ports";
import { sameText, toLf, withEol } from "../core/text";
import { canHold } from "./inlinemarks";
import type { InlineMarks } from "./inlinemarks";
import type { Leftovers } from "./leftovers";
import type { Places } from "./places";

/**
 * Proposals of programs that leave the writing to the editor. Only the person's
 * command accepts; when it is decided the document is as before, and whoever
 * asked writes.
 */
export class InlineProposals implements Inline {
  constructor(
    private readonly places: Places,
    private readonly marks: InlineMarks,
    private readonly leftovers: Leftovers,
  ) {}

  async possible(path: string): Promise<boolean> {
    const uri = this.places.uri(path);
    return !this.marks.has(uri) && (await canHold(uri));
  }

  standing(path: string): string | undefined {
    return this.marks.original(this.places.uri(path));
  }

  async propose(proposal: InlineProposal, cancelled: AbortSignal): Promise<InlineEnd> {
    const document = await vscode.workspace.openTextDocument(this.places.uri(proposal.path));
    if (document.isDirty || !sameText(document.getText(), proposal.original)) {
      throw new ToolError("DIRTY_DOCUMENT", "the document has changed meanwhile; nothing was proposed");
    }
    await vscode.window.showTextDocument(document, { preview: false, preserveFocus: true });
    const original = document.getText();
    let left = proposal.proposed;
    let end: (how: InlineEnd) => void = () => undefined;
    const decided = new Promise<InlineEnd>((done) => (end = done));
    const cancel = (): void => end({ kind: "rejected" });
    await this.leftovers.keep(document, left);
    try {
      const mark = await this.marks.add(document, proposal.proposed, proposal.description, {
        changed: (text) => {
          left = text;
          void this.leftovers.keep(document, text);
        },
        decided: (text) => end(text === original ? { kind: "rejected" } : { kind: "accepted", text: uniform(document, text) }),
        displaced: () => end({ kind: "displaced", text: uniform(document, left) }),
      });
      try {
        cancelled.addEventListener("abort", cancel);
        if (cancelled.aborted || document.getText() === original) cancel();
        return await decided;
      } finally {
        cancelled.removeEventListener("abort", cancel);
        await mark.takeOut();
      }
    } finally {
      await this.leftovers.forget(document.uri);
    }
  }
}

/** The text with the line endings of its document. */
function uniform(document: vscode.TextDocument, text: string): string {
  const lf = toLf(text);
  return document.eol === vscode.EndOfLine.CRLF ? withEol(lf, "crlf") : lf;
}
