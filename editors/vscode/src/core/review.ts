import { basename } from "node:path";
import type { Always, Offer } from "./always";
import type { Base } from "./base";
import { draftKey } from "./drafts";
import { initial, isLive } from "./machine";
import type { Machine, Outcome } from "./machine";
import type { Decided } from "./outcome";
import { mustLook, shortNotes } from "./notes";
import type { Cancel, Check, Note, Refused, ReviewComment, ShownDiff, Translate } from "./ports";
import type { ToolResult } from "./result";
import { diffLines, splitLines } from "./linediff";
import { countChanges, unifiedDiff } from "./patch";
import type { Stats } from "./patch";
import { finalText, forDisplay, oneLine, sameText, sha256, toLf, visibleName, withoutBom } from "./text";

/** Of the texts that a person's text was before: more than an editor is late with its own copy. */
const earlierMost = 200;

/** In characters: a longer text is not sent while the person types. */
const keptAtMost = 1_000_000;

/** The connection that asked for a review. */
export interface Owner {
  readonly id: number;
  /** From its handshake, sanitized. */
  readonly name?: string;
  readonly pid?: number | undefined;
  /** A program of others, which has no word for what happens in its review before the end. */
  readonly isGuest?: boolean;
  notify(method: string, params: object): void;
}

/** A change after which the file is no longer at its place. */
export type Removal = "delete" | "move";

/** What openDiff was asked, its paths canonical. */
export interface ReviewRequest {
  readonly path: string;
  readonly oldPath: string;
  readonly removal?: Removal | undefined;
  readonly proposal: string;
  readonly tabName: string;
  /** The client's name for the question; the same question may be asked again. */
  readonly diffId: string | undefined;
  readonly description: string;
  readonly baseSha256: string | undefined;
  /** The registered name of the encoding in which the client reads the file; undefined if it does not say. */
  readonly encoding?: string | undefined;
  /** always-reject: whatever the person has set. */
  readonly onClose: "reject" | "keep" | "always-reject";
  /** Wait behind the client's earlier review of this file instead of replacing it. */
  readonly stack: boolean;
  readonly timeoutMs: number | undefined;
  /** Shown in one text with the file, if that can be. */
  readonly inline?: boolean;
  /** A plan in Markdown: no file has or gets its text. */
  readonly isPlan?: boolean;
  /** The caller holds the file's lock already, and the editor writes the accepted text. */
  readonly locked?: boolean;
  /** Facts that the person must know before answering, for the title. */
  readonly remark?: string;
  readonly notes?: readonly Note[];
  readonly refused?: Refused | undefined;
  readonly offer?: Offer | undefined;
  readonly batch?: { readonly id: string; readonly index: number; readonly total: number };
  /** The person's text of an earlier window to begin with, instead of the proposal. */
  readonly draft?: string | undefined;
  /** The client, which writes, compares the file again and asks again if it has changed: the editor does not ask about that. */
  readonly rechecks?: boolean;
  /** The client keeps the person's text, in case that this window ends. */
  readonly keepsDrafts?: boolean;
}

/** Whether a client repeats its question: the same name and the same texts. */
export function isSameQuestion(a: ReviewRequest, b: ReviewRequest): boolean {
  if (a.diffId === undefined || a.diffId !== b.diffId) return false;
  return a.path === b.path && a.oldPath === b.oldPath && a.removal === b.removal && a.proposal === b.proposal && a.baseSha256 === b.baseSha256;
}

/** A review as lists and tooltips show it; text is sanitized. */
export interface ReviewInfo {
  readonly id: string;
  readonly path: string;
  /** Differs from path for a file that moves. */
  readonly oldPath: string;
  readonly title: string;
  readonly description: string;
  readonly state: Machine["state"];
  readonly edited: boolean;
  readonly stale: boolean;
  /** Being edited elsewhere: accept and reject are refused meanwhile. */
  readonly held: boolean;
  readonly isNew: boolean;
  readonly removal: Removal | undefined;
  readonly isPlan: boolean;
  /** Who asks, and its place among the edits of one answer, such as "2 of 3". */
  readonly asks: string;
  readonly place: string;
  /** The answer that it belongs to with others, of a size; undefined for a single edit. */
  readonly turn: { readonly key: string; readonly index: number; readonly total: number } | undefined;
  /** Of the file, once it was looked at. */
  readonly encoding: string | undefined;
  /** The process that asks. */
  readonly pid: number | undefined;
  /** Once it is decided. */
  readonly outcome: Outcome | undefined;
  readonly check: Check | undefined;
  /** The rule that may be made with an acceptance. */
  readonly offer: Offer | undefined;
  readonly createdAt: number;
}

/**
 * Whether a review waits for the person: one that is queued behind another of its file is neither
 * shown nor answered before its turn, and is not listed until then.
 */
export function isPending({ state }: ReviewInfo): boolean {
  return state === "preparing" || state === "shown" || state === "hidden";
}

/** How a call to openDiff ends: with a result, silently, or as aborted. */
export type Answer = ToolResult | "silent" | "aborted";

/** One review: its question, its state, and the cleanup at its end. */
export class Review {
  machine: Machine;
  base: Base | undefined;
  /** The client's trial of the proposal; undefined without one. */
  check: Check | undefined;
  /** A guest has been given the person's text. */
  taken = false;
  /** Somebody has asked to see it. */
  wanted = false;
  draft: string;
  /** The hashes of its earlier texts, the last ones. */
  readonly earlier: string[] = [];
  /** The hash of the text that the client was told last. */
  told: string | undefined;
  /** Of the question, for the drafts. */
  readonly key: string;
  /** When it last came before the person's eyes; in milliseconds, as createdAt. */
  seenAt: number;
  feedback: string | undefined;
  /** The permission mode to go on in, with which the person accepts a plan. */
  mode: string | undefined;
  /** The permission that the person gives with the acceptance, beyond it. */
  always: Always | undefined;
  error: unknown;
  private compared: { draft: string; edited: boolean } | undefined;
  private counted: { draft: string; stats: Stats } | undefined;
  /** Answers the call that waits; replaced when a client comes back. */
  waiter: ((answer: Answer) => void) | undefined;
  /** Timers, watchers and the file's lock, each by its purpose. */
  private readonly pending = new Map<string, Cancel>();
  /** Resolves when the review is over, at the latest closeTimeoutMs after its answer. */
  readonly closed: Promise<void>;
  readonly markClosed: () => void;
  /** Resolves when the look that an acceptance takes at the file is over. */
  looked: Promise<void> = Promise.resolve();
  /** Resolves when its tabs are closed, however long the editor takes. */
  gone: Promise<void> = Promise.resolve();

  constructor(
    readonly id: string,
    public owner: Owner,
    readonly request: ReviewRequest,
    /** Relative to the workspace folder, or undefined outside of all. */
    readonly relative: string | undefined,
    readonly createdAt: number,
    private readonly t: Translate,
    /** The name of its folder, if the window has several. */
    private readonly root = "",
    /** Another file of the same name waits, too. */
    private readonly hasNamesake = false,
  ) {
    this.machine = { ...initial, cautious: mustLook(request.notes ?? []).length > 0, looks: request.locked === true };
    this.draft = request.draft ?? request.proposal;
    this.key = draftKey(request);
    this.seenAt = createdAt;
    let mark = (): void => undefined;
    this.closed = new Promise((done) => (mark = done));
    this.markClosed = mark;
  }

  /** The person has changed the text. */
  typed(text: string): void {
    if (text === this.draft) return;
    if (this.earlier.push(sha256(withoutBom(this.draft))) > earlierMost) this.earlier.shift();
    this.draft = text;
  }

  get diffId(): string {
    return this.request.diffId ?? this.id;
  }

  get live(): boolean {
    return isLive(this.machine);
  }

  /** Whether the person has changed the text, compared once for each draft: every list asks at each key. */
  get edited(): boolean {
    if (this.compared?.draft !== this.draft) this.compared = { draft: this.draft, edited: !sameText(this.draft, this.request.proposal) };
    return this.compared.edited;
  }

  /** Whether the right side is only to be read. */
  get fixed(): boolean {
    return this.request.removal === "delete" || this.base?.file.unreadable !== undefined;
  }

  /** Who asks, for the person. */
  get asks(): string {
    return this.owner.name ?? this.t("The program that asked");
  }

  /** The file's name for the person, in which no character hides. */
  get name(): string {
    const { relative, root } = this;
    return relative === undefined ? visibleName(this.request.path) : visibleName(`${root === "" ? "" : `${root}/`}${relative}`);
  }

  /** Names the file as it is, never as the client calls it, so that no title can deceive; without its folders where these are not needed. */
  get title(): string {
    if (this.request.isPlan === true) {
      const plan = this.owner.name === undefined ? this.t("Plan") : this.t("Plan of {0}", this.owner.name);
      return this.machine.held ? `${plan} (${this.t("being edited in the terminal")})` : plan;
    }
    const remarks = [
      this.place,
      this.relative === undefined ? this.t("outside the workspace") : "",
      this.machine.stale ? `⚠ ${this.t("changed on disk")}` : "",
      this.machine.held ? this.t("being edited in the terminal") : "",
      this.request.remark ?? "",
      ...shortNotes(this.request.notes ?? [], this.t),
    ].filter((remark) => remark !== "");
    return `${this.what}${remarks.length > 0 ? ` (${remarks.join(", ")})` : ""}`;
  }

  /** The question about the file. */
  private get what(): string {
    const { name, request, t } = this;
    const isShort = this.root === "" && this.relative !== undefined && !this.hasNamesake;
    const short = isShort ? visibleName(basename(request.path)) : name;
    if (request.removal === "delete") return t("Delete {0}?", short);
    if (request.removal === "move") return t("Move {0} → {1}", visibleName(basename(request.oldPath)), name);
    if (this.base?.file.exists === false) return t("New: {0}", name);
    if (request.oldPath !== request.path) return `${visibleName(basename(request.oldPath))} → ${name}`;
    return this.place === "" ? `${short} ← ${oneLine(this.asks, 30)}` : short;
  }

  /** How many lines the draft adds and removes, counted once for each draft. */
  counts(): Stats {
    if (this.base === undefined) return { added: 0, removed: 0 };
    const before = this.base.original;
    if (this.counted?.draft !== this.draft) this.counted = { draft: this.draft, stats: countChanges(before, forDisplay(this.draft, before)) };
    return this.counted.stats;
  }

  /** The lines of the draft that are not in the file, from 0, to exclusive; a removal is where the lines were. */
  changed(): readonly { from: number; to: number }[] {
    const [before, after] = [this.base?.original ?? "", this.draft].map((text) => splitLines(toLf(withoutBom(text))));
    return diffLines(before ?? [], after ?? []).map(({ newFrom, newTo }) => ({ from: newFrom, to: newTo }));
  }

  info(): ReviewInfo {
    return {
      id: this.id,
      path: this.request.path,
      oldPath: this.request.oldPath,
      title: this.title,
      description: oneLine(this.request.description, 200),
      state: this.machine.state,
      edited: this.edited,
      stale: this.machine.stale,
      held: this.machine.held,
      isNew: this.base?.file.exists === false && this.request.isPlan !== true,
      removal: this.request.removal,
      isPlan: this.request.isPlan === true,
      asks: this.owner.name ?? "",
      place: this.place,
      turn: this.turn,
      encoding: this.base?.file.encoding,
      pid: this.owner.pid,
      outcome: this.machine.outcome,
      check: this.check,
      offer: this.request.offer,
      createdAt: this.createdAt,
    };
  }

  /** What to tell the client when the file has changed under the review. */
  redo(): string {
    const ask = "The file has changed on disk since you proposed this edit. Read it again and make the edit on the new text.";
    if (!this.edited) return ask;
    const name = this.relative ?? basename(this.request.path);
    const patch = unifiedDiff(name, toLf(withoutBom(this.request.proposal)), toLf(withoutBom(this.draft)));
    return `${ask}\nI had changed your proposal; keep these changes of mine:\n${patch}`;
  }

  /** What its tab shows, once its file was looked at. */
  get diff(): ShownDiff | undefined {
    return this.live && this.base !== undefined ? this.shown(this.base, true) : undefined;
  }

  /** The text for the tab; the draft, if the tab is opened again. */
  shown(base: Base, background: boolean): ShownDiff {
    return {
      id: this.id,
      path: this.request.path,
      oldPath: this.request.oldPath,
      title: this.title,
      original: base.original,
      proposed: forDisplay(this.draft, base.original),
      encoding: base.file.encoding,
      background,
      inline: this.request.inline === true && this.canInline(base),
      canInline: this.canInline(base),
      oneSided: this.isOneSided(base),
      isPlan: this.request.isPlan === true,
      fixed: this.fixed,
      held: this.machine.held,
      effect: this.effect,
      description: oneLine(this.request.description, 2_000),
      asks: this.owner.name ?? "",
      place: this.place,
      notes: this.request.notes ?? [],
      check: this.check,
      refused: this.request.refused,
      offer: this.request.offer,
    };
  }

  /** The edits of one answer, if there are several. */
  get turn(): { key: string; index: number; total: number } | undefined {
    const { id, index, total } = this.request.batch ?? { id: "", index: 0, total: 1 };
    return total > 1 ? { key: `${this.owner.id} ${id}`, index, total } : undefined;
  }

  private get place(): string {
    return this.turn === undefined ? "" : this.t("{0} of {1}", this.turn.index + 1, this.turn.total);
  }

  private get effect(): string {
    switch (this.request.removal) {
      case "delete":
        return this.t("The file is deleted.");
      case "move":
        return this.t("The file moves here from {0}.", this.nameOf(this.request.oldPath));
      case undefined:
        return "";
    }
  }

  private nameOf(path: string): string {
    const { relative, root } = this;
    const folder = relative !== undefined && this.request.path.endsWith(relative) ? this.request.path.slice(0, -relative.length) : "";
    if (folder === "" || !path.startsWith(folder)) return visibleName(path);
    return visibleName(`${root === "" ? "" : `${root}/`}${path.slice(folder.length)}`);
  }

  /** A new file, or one that is deleted; without any text there would be nothing to see. */
  private isOneSided({ file, original }: Base): boolean {
    const { removal, isPlan, oldPath, path } = this.request;
    if (removal === "delete") return original !== "" && file.unreadable === undefined;
    return !file.exists && removal === undefined && isPlan !== true && oldPath === path && this.draft !== "";
  }

  private canInline(base: Base): boolean {
    return this.request.removal === undefined && this.request.isPlan !== true && this.relative !== undefined && base.file.exists && this.request.oldPath === this.request.path;
  }

  /** The person's text for a client that keeps it, as an acceptance would return it. */
  kept(): { text?: string } {
    if (this.request.keepsDrafts !== true || !this.edited || this.draft.length > keptAtMost) return {};
    return { text: finalText(this.draft, this.request.proposal, this.base?.original ?? "").text };
  }

  /** Everything that its outcome tells. */
  decided(outcome: Outcome, comments: readonly ReviewComment[], now: number): Decided {
    return {
      ...this.request,
      outcome,
      diffId: this.diffId,
      name: this.relative ?? this.request.path.replace(/^\/+/, ""),
      base: this.base?.file,
      original: this.base?.original ?? "",
      draft: this.draft,
      stale: this.machine.stale,
      comments,
      feedback: this.feedback,
      mode: this.mode,
      always: this.always,
      durationMs: now - this.createdAt,
    };
  }

  /** Sets the cleanup for a purpose, replacing the previous one. */
  hold(purpose: "lock" | "watch" | "grace" | "timeout" | "recheck" | "report" | "draft", cancel: Cancel): void {
    this.drop(purpose);
    this.pending.set(purpose, cancel);
  }

  holds(purpose: string): boolean {
    return this.pending.has(purpose);
  }

  drop(purpose: string): void {
    this.pending.get(purpose)?.();
    this.pending.delete(purpose);
  }

  dropAll(): void {
    for (const purpose of [...this.pending.keys()]) this.drop(purpose);
  }
}
