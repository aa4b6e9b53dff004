import type { Busy } from "../difftools";
import { openDiff } from "../difftools";
import { messageOf, ToolError } from "../errors";
import { RpcError, rpcCodes } from "../jsonrpc";
import type { Details } from "../outcome";
import type { Ports } from "../ports";
import { texts } from "../result";
import type { ToolResult } from "../result";
import type { Answer } from "../review";
import type { Reviews } from "../reviews";
import type { ToolCall } from "../tools";
import { isVerdict } from "../verdicts";
import type { Guest } from "./names";

/** The surroundings of the tools of a guest. */
export interface GuestHost {
  readonly guest: Guest;
  readonly ports: Ports;
  readonly reviews: Reviews;
  readonly others: Busy;
}

/** A person's decision, as the protocols of others can carry it: without words. */
export type Decision = { readonly accepted: string } | "rejected";

/** An edit as a guest proposes it. */
export interface Proposal {
  readonly oldPath: string;
  readonly path: string;
  readonly text: string;
  /** The guest's name for the question. */
  readonly name: string;
}

/**
 * Shows a guest's edit as the review that an edit of agent gets. Rejects if it ends without a
 * decision: a guest must not take that for a yes.
 */
export async function review({ guest, ports, reviews, others }: GuestHost, { client, cancelled }: ToolCall, edit: Proposal): Promise<Decision> {
  const { t } = ports;
  const notes = [
    {
      kind: "guest",
      text: t("{0} itself writes the file after you accept, and asks only as its own mode says. A no stops it; your words do not reach it: say there what you want instead.", guest.name),
    },
  ];
  const args = { old_file_path: edit.oldPath, new_file_path: edit.path, new_file_contents: edit.text, tab_name: edit.name, notes };
  return decisionOf(await openDiff(reviews, ports, others, { client, cancelled, args }));
}

function decisionOf(answer: Answer): Decision {
  const undecided = new RpcError(rpcCodes.aborted, "the review ended without a decision", answer === "aborted" ? "ABORTED" : "CLOSED");
  if (answer === "silent" || answer === "aborted") throw undecided;
  if (answer.isError === true) throw new ToolError("INTERNAL", answer.content[0]?.text ?? "");
  const { outcome, reason } = answer.structuredContent as Details;
  const text = answer.content[1]?.text;
  if (!isVerdict(reason)) throw undecided;
  if (outcome === "accepted" && text !== undefined) return { accepted: text };
  if (outcome === "rejected") return "rejected";
  throw undecided;
}

/** Without our own structure, which others take for the whole answer. */
export function plainFailure(thrown: unknown): ToolResult {
  return { ...texts(messageOf(thrown)), isError: true };
}
