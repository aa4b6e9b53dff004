import { randomUUID } from "node:crypto";
import { lookAt, needStorable } from "../base";
import type { Base } from "../base";
import { messageOf, ToolError } from "../errors";
import type { Details } from "../outcome";
import { unifiedDiff } from "../patch";
import { pathKey } from "../paths";
import type { Cancel, FileText, Ports } from "../ports";
import { json } from "../result";
import type { ToolResult } from "../result";
import type { Answer } from "../review";
import type { Reviews } from "../reviews";
import { byteOrderMark, eolOf, sameText, visibleName, withEol, withEolsOf, withoutBom } from "../text";
import type { ToolCall } from "../tools";
import { isObeyed, needTrust, placeOf } from "./access";
import type { Place } from "./access";
import { errorOf, toolError } from "./guarded";
import { EditProblems } from "./problems";

const waitForOthersMs = 60_000;

/** Computes an edit's result from a file. */
export interface Edit {
  readonly text: string;
  readonly description: string;
  /** The parts of the answer beside the outcome. */
  readonly more: object;
}

/**
 * Edits files for clients that do not write themselves. A file has one edit at a time; it changes
 * only to the text that a person has accepted (or the setting lets through), and only if it still
 * is the text that this person saw; the answer reports the result.
 */
export class Edits {
  private readonly busy = new Set<string>();

  constructor(
    private readonly ports: Ports,
    private readonly reviews: Reviews,
  ) {}

  /** Whether the file has such an edit in progress; other reviewers learn of it at once. */
  isBusy(path: string): boolean {
    return this.busy.has(pathKey(path));
  }

  /** Computes an edit from the file as it is when its turn comes, and takes it through review and writing. */
  async edit(call: ToolCall, given: string, compute: (base: Base) => Edit): Promise<Answer> {
    const { workspace } = this.ports;
    needTrust(workspace);
    const place = await placeOf(workspace, given);
    if (place.relative === "") throw new ToolError("INVALID_PARAMS", "it is a folder");
    return (await this.inTurn(place.path, call.cancelled, () => this.take(call, { given, place }, compute))) ?? "silent";
  }

  /** Does work when no other edit or review of the file goes on, and keeps others from beginning; undefined if it was cancelled before. */
  async inTurn<T>(path: string, cancelled: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    const release = await this.turn(path, cancelled);
    if (release === undefined) return undefined;
    this.busy.add(pathKey(path));
    try {
      return await work();
    } finally {
      this.busy.delete(pathKey(path));
      release();
    }
  }

  /** Waits a minute at most for the file; undefined if the call was cancelled meanwhile. */
  private turn(path: string, cancelled: AbortSignal): Promise<Cancel | undefined> {
    return new Promise((done, fail) => {
      let release: Cancel = () => undefined;
      let granted = false;
      const end = (): void => {
        stop();
        cancelled.removeEventListener("abort", abort);
      };
      const abort = (): void => {
        end();
        release();
        done(undefined);
      };
      const stop = this.ports.clock.after(waitForOthersMs, () => {
        end();
        release();
        fail(new ToolError("BUSY", "another edit of this file has been waiting for its review for 60 seconds; try again later"));
      });
      cancelled.addEventListener("abort", abort);
      const grant = (): void => {
        granted = true;
        end();
        done(() => release());
      };
      release = this.reviews.lock(path, grant);
      if (cancelled.aborted && !granted) abort();
    });
  }

  private async take(call: ToolCall, { given, place }: Asked, compute: (base: Base) => Edit): Promise<Answer> {
    const { documents } = this.ports;
    const saved = await this.savePending(place.path);
    const base = await lookAt(documents, place.path);
    const computed = compute(base);
    const edit = { ...computed, text: withEolsOf(computed.text, base.original) };
    await needStorable(documents, edit.text, base.file.encoding);
    const about = { path: given, operation: base.file.exists ? "modified" : "created" };
    if (base.file.exists && sameText(edit.text, base.original)) return json({ status: "accepted", ...about, unchanged: true, ...edit.more });
    const problems = new EditProblems(this.ports, place, base.file.exists);
    try {
      const decision = this.isReviewed(place) ? await this.review(call, place, edit, saved) : { text: edit.text };
      if (decision === "silent" || decision === "aborted") return decision;
      if ("rejected" in decision) return json({ status: "rejected", path: given, ...decision.rejected, ...edit.more });
      if ("content" in decision) return decision;
      await problems.writing();
      const format = await this.write(place, base, decision).catch((err: unknown) => this.unwritten(err, { given, place }, decision));
      if (typeof format === "object") return format;
      const told = { ...(format === "" ? {} : { format_edits: format }), ...personsPart(decision) };
      return json({ status: "accepted", ...about, ...told, ...(await problems.written()), ...edit.more });
    } finally {
      problems.stop();
    }
  }

  /** The person's unsaved changes come first; a remark in the review explains it. */
  private async savePending(path: string): Promise<boolean> {
    const { documents } = this.ports;
    if (documents.buffer(path)?.isDirty !== true) return false;
    if (await documents.save(path)) return true;
    throw new ToolError("DIRTY_DOCUMENT", "the file has unsaved changes in the editor that could not be saved");
  }

  private isReviewed(place: Place): boolean {
    return this.ports.settings.approvalMode() !== "never" || isObeyed(place);
  }

  private async review(call: ToolCall, place: Place, edit: Edit, saved: boolean): Promise<Decision> {
    const diffId = randomUUID();
    const { answer, cancel } = this.reviews.ask(
      call.client,
      {
        path: place.path,
        oldPath: place.path,
        proposal: edit.text,
        tabName: diffId,
        diffId,
        description: edit.description,
        baseSha256: undefined,
        onClose: "always-reject",
        stack: true,
        timeoutMs: undefined,
        locked: true,
        ...(saved ? { remark: this.ports.t("your unsaved changes were saved first") } : {}),
      },
      place.relative,
    );
    call.cancelled.addEventListener("abort", cancel);
    if (call.cancelled.aborted) cancel();
    const result = await answer;
    call.cancelled.removeEventListener("abort", cancel);
    if (typeof result === "string") return result;
    const told = this.reviews.decided(call.client, diffId)?.told;
    if (told === undefined) return result.isError === true ? result : "aborted";
    return told.outcome === "accepted" ? accepted(told) : rejected(told);
  }

  /** The error of an accepted edit that was not written: it has the person's part, which is nowhere else any more. */
  private unwritten(err: unknown, { given, place }: Asked, decision: Accepted): ToolResult {
    const told = toolError(err);
    if (told.code === "INTERNAL") this.ports.log.error(`writing ${place.path}: ${messageOf(err)}`);
    if (this.isReviewed(place)) this.warnUnwritten(place);
    return errorOf(told, "path", given, personsPart(decision));
  }

  /** Tells the person that an accepted edit was not written. */
  warnUnwritten({ relative }: Place): void {
    const { notices, t } = this.ports;
    notices.warn(t("The accepted edit of {0} was not written. The program that asked gets the reason, your changes and your comments.", visibleName(relative)));
  }

  /** Writes the accepted text if the file is unchanged; returns the editor's changes to it as a patch, or "". */
  async write(place: Place, base: Base, { text, stale }: Accepted): Promise<string> {
    const { documents, workspace } = this.ports;
    const again = await placeOf(workspace, place.path);
    if (again.path !== place.path) throw new ToolError("OUTSIDE_WORKSPACE", "the path leads elsewhere now; nothing was written");
    if (documents.buffer(place.path)?.isDirty === true) {
      throw new ToolError("DIRTY_DOCUMENT", "the file was changed in the editor during the review; nothing was written");
    }
    if (stale !== true && (await documents.read(place.path)).sha256 !== base.file.sha256) {
      throw new ToolError("STALE_BASE", "the file changed on disk during the review; nothing was written");
    }
    await needStorable(documents, text, base.file.encoding);
    await documents.write(place.path, text, base.file.encoding);
    return formatting(place.relative, base.original, text, await documents.read(place.path, base.file.encoding));
  }
}

interface Asked {
  /** The path as the client names it. */
  readonly given: string;
  readonly place: Place;
}

interface Accepted {
  readonly text: string;
  readonly patch?: string;
  readonly comments?: Details["comments"];
  /** The person has said yes although the file had changed. */
  readonly stale?: boolean | undefined;
}

interface Rejected {
  /** The person's feedback. */
  readonly rejected: { readonly comments?: Details["comments"]; readonly feedback?: string };
}

type Decision = Accepted | Rejected | Answer;

function accepted(told: Details & { readonly text?: string }): Accepted {
  return {
    text: told.text ?? "",
    ...(told.patch === undefined ? {} : { patch: told.patch }),
    ...(told.comments.length === 0 ? {} : { comments: told.comments }),
    stale: told.stale,
  };
}

/** The part of the answer about the person's changes and comments. */
function personsPart({ patch, comments }: Accepted): object {
  return { ...(patch === undefined ? {} : { user_edits: patch }), ...(comments === undefined ? {} : { comments }) };
}

function rejected({ comments, feedback }: Details): Rejected {
  return { rejected: { ...(comments.length === 0 ? {} : { comments }), ...(feedback === undefined ? {} : { feedback }) } };
}

/**
 * The editor's changes to the accepted text on saving: between the bytes that the text alone would
 * have had on disk, with the file's former line endings, and the bytes that are there.
 */
function formatting(name: string, original: string, accepted: string, saved: FileText): string {
  if (sameText(saved.text, accepted)) return "";
  const eol = [eolOf(original), eolOf(accepted), eolOf(saved.text)].find((e) => e === "lf" || e === "crlf");
  const text = withoutBom(accepted);
  const mark = saved.bom ? byteOrderMark : "";
  return unifiedDiff(name, mark + (eol === undefined ? text : withEol(text, eol)), mark + withoutBom(saved.text));
}
