import type { Always } from "./always";
import type { Outcome, Reason } from "./machine";
import { unifiedDiff } from "./patch";
import type { Stats } from "./patch";
import { countChanges } from "./patch";
import type { FileText, ReviewComment } from "./ports";
import { texts } from "./result";
import type { ToolResult } from "./result";
import { eolOf, finalText, sha256, toLf, withoutBom } from "./text";

/** Everything about a review that its outcome tells. */
export interface Decided {
  readonly outcome: Outcome;
  readonly diffId: string;
  readonly tabName: string;
  /** Relative to the workspace, for the header of the patch. */
  readonly name: string;
  /** Undefined if the file was never looked at. */
  readonly base: FileText | undefined;
  readonly original: string;
  readonly proposal: string;
  readonly draft: string;
  readonly stale: boolean;
  readonly comments: readonly ReviewComment[];
  readonly feedback: string | undefined;
  /** Of an accepted plan. */
  readonly mode: string | undefined;
  readonly always: Always | undefined;
  readonly durationMs: number;
}

/** The third (or second) item of an outcome; part of the protocol. */
export interface Details {
  readonly v: 1;
  readonly diffId: string;
  readonly outcome: "accepted" | "rejected" | "closed";
  readonly reason: Reason;
  readonly userEdited: boolean;
  readonly patch?: string;
  readonly stats?: Stats;
  readonly finalSha256?: string;
  readonly baseSha256?: string;
  readonly stale: boolean;
  readonly file?: { eol?: string; encoding: string; bom: boolean; finalNewline: boolean; existed: boolean };
  readonly written: false;
  readonly comments: readonly ReviewComment[];
  readonly feedback?: string;
  readonly mode?: string;
  readonly always?: Always;
  readonly durationMs: number;
}

/** A review's outcome, as the two calls that wait for it are answered. */
export interface Verdict {
  /** For openDiff. */
  readonly result: ToolResult;
  /** For resolveDiff: the details and, if accepted, the text. */
  readonly told: Details & { readonly text?: string };
}

/**
 * The answer to openDiff: FILE_SAVED with the final text, DIFF_REJECTED with the
 * tab's name, or TAB_CLOSED, each followed by the details as JSON.
 */
export function toVerdict(d: Decided): Verdict {
  const final = finalText(d.draft, d.proposal, d.original);
  const details = toDetails(d, final);
  const items = {
    accepted: ["FILE_SAVED", final.text],
    rejected: ["DIFF_REJECTED", d.tabName],
    closed: ["TAB_CLOSED"],
  }[details.outcome];
  const result = { ...texts(...items, JSON.stringify(details)), structuredContent: details };
  return { result, told: details.outcome === "accepted" ? { ...details, text: final.text } : details };
}

function toDetails(d: Decided, final: { text: string; edited: boolean }): Details {
  const accepted = d.outcome.kind === "accepted";
  const kind = d.outcome.kind === "accepted" || d.outcome.kind === "rejected" ? d.outcome.kind : "closed";
  return {
    v: 1,
    diffId: d.diffId,
    outcome: kind,
    reason: d.outcome.reason,
    userEdited: final.edited,
    ...(accepted && final.edited ? userPatch(d, final.text) : {}),
    ...(accepted ? { finalSha256: sha256(final.text) } : {}),
    ...(d.base === undefined ? {} : { baseSha256: d.base.sha256, file: describe(d.base) }),
    stale: d.stale,
    written: false,
    comments: d.comments,
    ...(d.feedback === undefined ? {} : { feedback: d.feedback }),
    ...(accepted && d.mode !== undefined ? { mode: d.mode } : {}),
    // Neither a save nor the terminal's yes allows more than this edit.
    ...(accepted && d.always !== undefined && (d.outcome.reason === "button" || d.outcome.reason === "command") ? { always: d.always } : {}),
    durationMs: d.durationMs,
  };
}

/** The person's changes: from proposed to final, ignoring differences in line endings alone. */
function userPatch(d: Decided, final: string): { patch: string; stats: Stats } {
  const sameEol = eolOf(final) === eolOf(d.proposal);
  const before = sameEol ? d.proposal : toLf(withoutBom(d.proposal));
  const after = sameEol ? final : toLf(withoutBom(final));
  return { patch: unifiedDiff(d.name, before, after), stats: countChanges(before, after) };
}

function describe(base: FileText): NonNullable<Details["file"]> {
  const eol = eolOf(base.text);
  return {
    ...(eol === undefined ? {} : { eol }),
    encoding: base.encoding,
    bom: base.bom,
    finalNewline: base.text.endsWith("\n"),
    existed: base.exists,
  };
}
