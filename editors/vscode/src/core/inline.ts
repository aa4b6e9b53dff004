import { needStorable } from "./base";
import { ToolError } from "./errors";
import type { FileText, InlineEnd, InlineProposal, Ports } from "./ports";
import { sameText } from "./text";

/** How a proposal ended, and the file that it was made from; stale: that has changed, so nothing is decided. */
export type InlineDecision = (InlineEnd | { readonly kind: "stale"; readonly draft?: string }) & { readonly base: FileText };

/**
 * Asks about a proposal in one text with its file. Guarantees: stale instead of a
 * rejection if the file changed while the person decided; writeAccepted looks at it before
 * an accepted text is written. So no answer is given to another text than was seen.
 */
export async function decideInline(ports: Ports, proposal: InlineProposal, cancelled: AbortSignal): Promise<InlineDecision> {
  const { documents, inline } = ports;
  const base = await documents.read(proposal.path);
  if (!sameText(base.text, proposal.original)) throw new ToolError("STALE_BASE", "the file is not what the editor shows; nothing was proposed");
  const stale = new AbortController();
  const look = async (): Promise<void> => {
    if (!(await isStill(ports, proposal.path, base))) stale.abort();
  };
  const stop = documents.watch(proposal.path, () => void look());
  try {
    const end = await inline.propose(proposal, AbortSignal.any([cancelled, stale.signal]));
    if (cancelled.aborted || end.kind === "accepted") return { ...end, base };
    return { ...end, kind: (await isStill(ports, proposal.path, base)) ? "rejected" : "stale", base };
  } finally {
    stop();
  }
}

/** Writes the accepted text as if the person had saved it; resolves with the file's text afterwards. */
export async function writeAccepted(ports: Ports, path: string, base: FileText, text: string): Promise<FileText> {
  const { documents } = ports;
  if (documents.buffer(path)?.isDirty === true && !sameText(documents.buffer(path)?.text ?? "", base.text)) {
    throw new ToolError("DIRTY_DOCUMENT", "the document has unsaved changes of its own now; nothing was written");
  }
  if (!(await isStill(ports, path, base))) throw staleBase();
  await needStorable(documents, text, base.encoding);
  await documents.write(path, text, base.encoding);
  return documents.read(path, base.encoding);
}

export const staleBase = (): ToolError => new ToolError("STALE_BASE", "the file changed on disk meanwhile; nothing was written");

async function isStill({ documents }: Ports, path: string, base: FileText): Promise<boolean> {
  const now = await documents.read(path).catch(() => undefined);
  return now?.exists === base.exists && now.sha256 === base.sha256;
}
