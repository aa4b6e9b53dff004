import * as vscode from "vscode";
import { ToolError } from "../core/errors";
import type { Inline, InlineProposal } from "../core/ports";
import { sameText, toLf, withEol } from "../core/text";
import { canHold } from "./inlinemarks";
import type { InlineMarks, Mark } from "./inlinemarks";
import type { Places } from "./places";

/**
 * Proposals of programs that leave the writing to the editor: the document is
 * saved when every hunk is decided, and never holds what nobody has decided after
 * that.
 */
export class InlineProposals implements Inline {
  constructor(
    private readonly places: Places,
    private readonly marks: InlineMarks,
  ) {}

  async possible(path: string): Promise<boolean> {
    const uri = this.places.uri(path);
    return !this.marks.has(uri) && (await canHold(uri));
  }

  async propose(proposal: InlineProposal, cancelled: AbortSignal): Promise<string | undefined> {
    const document = await vscode.workspace.openTextDocument(this.places.uri(proposal.path));
    if (document.isDirty || !sameText(document.getText(), proposal.original)) {
      throw new ToolError("DIRTY_DOCUMENT", "the document has changed meanwhile; nothing was proposed");
    }
    await vscode.window.showTextDocument(document, { preview: false, preserveFocus: true });
    // eslint-disable-next-line prefer-const -- the marks know it before it is there
    let mark: Mark | undefined;
    let end: (text: string | undefined) => void = () => undefined;
    const decided = new Promise<string | undefined>((done) => (end = done));
    const finish = (text: string): void => {
      mark?.remove();
      void document.save().then(() => {
        const lf = toLf(text);
        end(text === mark?.original ? undefined : document.eol === vscode.EndOfLine.CRLF ? withEol(lf, "crlf") : lf);
      });
    };
    mark = await this.marks.add(document, proposal.proposed, proposal.description, {
      changed: () => undefined,
      decided: finish,
      maySave: () => true,
      // A person who saves the document has read what is in it.
      saved: () => void mark?.decideAll("accept"),
    });
    if (document.getText() === mark.original) finish(mark.original);
    const cancel = (): void => void mark.decideAll("reject");
    try {
      cancelled.addEventListener("abort", cancel);
      if (cancelled.aborted) cancel();
      return await decided;
    } finally {
      cancelled.removeEventListener("abort", cancel);
      mark.remove();
    }
  }
}
