import type { Always } from "./always";
import { lookAt, needReadable, nothing } from "./base";
import { draftKey } from "./drafts";
import type { Drafts } from "./drafts";
import { messageOf } from "./errors";
import { mustLook } from "./notes";
import { Locks } from "./locks";
import { step } from "./machine";
import type { Effect, Event, Outcome } from "./machine";
import { toVerdict } from "./outcome";
import type { Verdict } from "./outcome";
import { countChanges } from "./patch";
import type { Stats } from "./patch";
import { folderName, pathKey } from "./paths";
import type { Cancel, Check, Ports } from "./ports";
import { readyMs } from "./ready";
import { failure } from "./result";
import { isSameQuestion, Review } from "./review";
import type { Answer, Owner, ReviewInfo, ReviewRequest } from "./review";
import { sha256, toLf, withoutBom } from "./text";
import { hasNamesake, inTurns, isOneOfMany } from "./turns";
import { Verdicts } from "./verdicts";

export type { ReviewInfo } from "./review";

/** After this time without its tab a diff is answered from the list, too, and after the second one it is said to be lost. */
const openTimeoutMs = 5_000;
const lostMs = 60_000;
const closeTimeoutMs = 5_000;
const graceMs = 3_000;
/** A tab that moves to another group is opened there and then closed here. */
const recheckMs = 50;
const reportMs = 100;
const draftMs = 50;
/** How often to look whether the process of a lost client has ended. */
const deadMs = 200;
const earlyMax = 50;
/** The editor may still read the contents of a tab that it closes. */
const forgetMs = 5_000;

/**
 * The reviews of this window. Each call to openDiff is answered at most once and each review has
 * one outcome; a file has one visible review at a time; a client sees and ends only its own
 * reviews; a lost client's reviews close after three seconds, and a client that comes back in time
 * goes on with them. Adapters report events on the screen; an unknown id is ignored.
 */
export class Reviews {
  private readonly all = new Map<string, Review>();
  private readonly locks = new Locks();
  /** Clients whose connection has ended. */
  private readonly lost = new WeakSet<Owner>();
  private readonly listeners = new Set<(review: ReviewInfo) => void>();
  private readonly verdicts: Verdicts;
  /** The files of the reviews whose client has just gone. */
  private readonly gone: string[] = [];
  /** Checks of proposals whose review has not begun yet, by client and diffId. */
  private readonly early = new Map<string, Check>();

  constructor(
    private readonly ports: Ports,
    private readonly newId: () => string,
    private readonly drafts?: Drafts,
  ) {
    this.verdicts = new Verdicts(ports.clock);
  }

  /** The reviews that still wait for an answer, oldest first; those of one answer together, in its order. */
  list(): readonly ReviewInfo[] {
    return inTurns(this.live()).map((review) => review.info());
  }

  get(id: string): ReviewInfo | undefined {
    return this.all.get(id)?.info();
  }

  /** How many lines the draft of a review adds and removes. */
  counts(id: string): Stats {
    return this.all.get(id)?.counts() ?? { added: 0, removed: 0 };
  }

  /** A review that goes on, or has just ended. */
  find(id: string): Review | undefined {
    return this.all.get(id);
  }

  /** Called after each change of a review; the last call has state "done". */
  onChange(listener: (review: ReviewInfo) => void): Cancel {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The review has come before the person's eyes. */
  seen(id: string): void {
    const review = this.all.get(id);
    if (review !== undefined) review.seenAt = this.ports.clock.now();
  }

  /** Whether it has been there long enough for an answer in the editor to be meant for it; adapters drop others. */
  isReady(id: string): boolean {
    const review = this.all.get(id);
    return review !== undefined && this.ports.clock.now() - review.seenAt >= readyMs;
  }

  /** mode: the permission mode to go on in after a plan. always: the permission beyond this edit. */
  accept(id: string, by: "button" | "command" | "save", mode?: string, always?: Always): void {
    this.take(id, { type: "accept", by }, ({ request }) => ({ mode, always: request.offer === undefined ? undefined : always }));
  }

  /** Resolves when an acceptance given before has ended the review, or asks once more, or is refused. */
  async looked(id: string): Promise<void> {
    await this.all.get(id)?.looked;
  }

  reject(id: string, by: "button" | "command", feedback?: string): void {
    this.take(id, { type: "reject", by }, () => ({ feedback }));
  }

  /** Shows the diff (again), whatever the setting says. */
  show(id: string): void {
    const review = this.all.get(id);
    if (review?.live !== true) return;
    review.wanted = true; // it may still be in preparation
    this.open(review, false);
  }

  /** The right side's text changed. */
  edited(id: string, text: string): void {
    const review = this.all.get(id);
    if (review === undefined || !review.live || review.fixed) return;
    review.typed(text);
    if (!review.holds("draft")) review.hold("draft", this.ports.clock.after(draftMs, () => (review.live ? this.keepDraft(review) : undefined)));
    this.changed(review);
  }

  /** A tab of the review was opened or closed: the core looks at DiffView.tabs. */
  tabsChanged(id: string): void {
    const review = this.all.get(id);
    if (review === undefined) return;
    review.drop("recheck");
    if (this.ports.view.tabs(id) > 0) {
      if (review.machine.state !== "shown") this.seen(id);
      this.run(review, { type: "tabOpened" });
    } else if (review.machine.state === "shown") {
      review.hold("recheck", this.ports.clock.after(recheckMs, () => this.tabsGone(review)));
    }
  }

  // The protocol's side.

  /** Begins a review, or takes up the one with the same diffId and proposal; neither for a lost client, whose review nothing would end. */
  ask(owner: Owner, request: ReviewRequest, relative: string | undefined): { answer: Promise<Answer>; cancel: Cancel } {
    if (this.lost.has(owner)) return { answer: Promise.resolve("silent"), cancel: () => undefined };
    const earlier = this.verdicts.elsewhere(owner.id, request);
    if (earlier !== undefined) this.drafts?.drop(draftKey(request));
    if (earlier !== undefined) return { answer: Promise.resolve(earlier.result), cancel: () => undefined };
    const known = this.live().find((r) => isSameQuestion(r.request, request));
    const review = known ?? new Review(this.newId(), owner, request, relative, this.ports.clock.now(), this.ports.t, folderName(request.path, this.ports.workspace.folders()), hasNamesake(request.path, this.live()));
    review.waiter?.("aborted");
    let mine: (answer: Answer) => void = () => undefined;
    const answer = new Promise<Answer>((resolve) => (mine = resolve));
    review.waiter = mine;
    if (known === undefined) this.begin(review);
    else this.adopt(known, owner);
    return { answer, cancel: () => review.waiter === mine && this.run(review, { type: "cancelled" }) };
  }

  /** The terminal's answer: the verdict, which is an earlier one if there was one; undefined without such a review. */
  resolve(owner: Owner, diffId: string, by: "accept" | "reject"): Verdict | undefined {
    const review = this.own(owner).find((r) => r.diffId === diffId);
    if (review !== undefined) this.run(review, { type: by, by: "terminal" });
    return this.verdicts.last(owner.id, diffId);
  }

  /** Marks the draft as being edited in the terminal, or no longer; false if there is no such review. */
  claim(owner: Owner, diffId: string, by: "hold" | "release"): boolean {
    const review = this.own(owner).find((r) => r.diffId === diffId);
    if (review !== undefined) this.run(review, { type: by });
    return review !== undefined;
  }

  /** The client wants its diff to be seen; false if there is no such review. */
  present(owner: Owner, diffId: string): boolean {
    const review = this.own(owner).find((r) => r.diffId === diffId);
    if (review !== undefined) this.show(review.id);
    return review !== undefined;
  }

  /** The check of a proposal has begun, or ended. It may overtake the question. */
  checked(owner: Owner, diffId: string, check: Check): void {
    const review = this.own(owner).find((r) => r.diffId === diffId);
    if (review === undefined) {
      if (this.early.size >= earlyMax) this.early.clear();
      this.early.set(`${owner.id} ${diffId}`, check);
      return;
    }
    review.check = check;
    this.ports.view.checked(review.id, check);
    this.tell(review);
  }

  /** Closes the client's reviews with this tab name (all, without one); resolves with their number when they are gone. */
  async close(owner: Owner, tabName?: string): Promise<number> {
    const wanted = [...this.all.values()].filter(
      (r) => r.owner.id === owner.id && r.machine.state !== "done" && (tabName ?? r.request.tabName) === r.request.tabName,
    );
    for (const review of wanted) this.run(review, { type: "closedByClient" });
    await Promise.all(wanted.map((review) => review.closed));
    return wanted.length;
  }

  /** The client's connection is gone. */
  ownerGone(owner: Owner): void {
    this.lost.add(owner);
    for (const review of this.own(owner)) {
      review.waiter = undefined;
      this.run(review, { type: "ownerGone" });
    }
  }

  ownedBy(owner: Owner): readonly Review[] {
    return this.own(owner);
  }

  /** The window is closing: answers every call, and closes as much as it can in the remaining time. */
  async dispose(): Promise<void> {
    for (const review of this.live()) this.run(review, { type: "aborted" });
    await Promise.all([this.drafts?.rest(), ...[...this.all.values()].map((review) => review.closed)]);
  }

  /** A person's recent decision on a question of this client. */
  decided(owner: Owner, diffId: string): Verdict | undefined {
    return this.verdicts.last(owner.id, diffId);
  }

  /**
   * Waits until no review and no other edit of the file goes on, and keeps others
   * from beginning; the returned function ends that.
   */
  lock(path: string, granted: () => void): Cancel {
    return this.locks.acquire(pathKey(path), granted);
  }

  private begin(review: Review): void {
    const { path, oldPath, stack, timeoutMs } = review.request;
    if (!stack) {
      const old = this.own(review.owner).filter((r) => pathKey(r.request.path) === pathKey(path));
      for (const r of old) this.run(r, { type: "superseded" });
    }
    this.all.set(review.id, review);
    const problem = review.request.offer?.problem ?? "";
    if (problem !== "") this.ports.notices.warn(problem);
    const key = `${review.owner.id} ${review.diffId}`;
    review.check = this.early.get(key);
    this.early.delete(key);
    if (timeoutMs !== undefined) {
      review.hold("timeout", this.ports.clock.after(timeoutMs, () => this.run(review, { type: "timeout" })));
    }
    if (review.request.locked === true) this.run(review, { type: "granted" });
    // A lock that is free is granted before acquire returns.
    else review.hold("lock", this.locks.acquireAll([pathKey(path), pathKey(oldPath)], () => this.run(review, { type: "granted" })));
    this.tell(review);
  }

  private adopt(review: Review, owner: Owner): void {
    review.owner = owner;
    this.run(review, { type: "adopted" });
  }

  /** Takes a person's answer. Its words go along only if the review is answered by it: others must not be sent with a later answer. */
  private take(id: string, event: Event, words: (review: Review) => Partial<Pick<Review, "feedback" | "mode" | "always">>): void {
    const review = this.all.get(id);
    if (review === undefined || !review.live || step(review.machine, event)[0] === review.machine) return;
    Object.assign(review, words(review));
    this.run(review, event);
  }

  private run(review: Review, event: Event): void {
    const before = review.machine;
    const [after, effects] = step(before, event);
    review.machine = after;
    for (const effect of effects) this.perform(review, effect);
    if (after !== before && review.machine === after) this.changed(review);
  }

  private perform(review: Review, effect: Effect): void {
    const { view } = this.ports;
    const { id } = review;
    switch (effect) {
      case "prepare":
        return void this.prepare(review);
      case "answer":
        return this.answer(review);
      case "close":
        return void this.closeTabs(review).then(() => this.run(review, { type: "settled" }));
      case "closeLate":
        return void view.close(id).catch((err: unknown) => this.ports.log.warn(messageOf(err)));
      case "release":
        return this.release(review);
      case "lookAgain":
        review.looked = this.lookBeforeWriting(review);
        return;
      case "askStale":
        return void this.askStale(review);
      case "warnHidden":
        return this.ports.notices.warn(this.ports.t("The diff of {0} could not be shown; it waits among the pending reviews.", review.title));
      case "update":
        view.update(id, { title: review.title, held: review.machine.held });
        return;
      case "startGrace":
        return this.awaitOwner(review, graceMs);
      case "stopGrace":
        return review.drop("grace");
    }
  }

  /** Gives a lost client a moment to come back, unless its process has ended. */
  private awaitOwner(review: Review, ms: number): void {
    if (ms <= 0 || this.drafts?.isGone(review.owner.pid) === true) return this.run(review, { type: "graceOver" });
    review.hold("grace", this.ports.clock.after(Math.min(deadMs, ms), () => this.awaitOwner(review, ms - deadMs)));
  }

  private async prepare(review: Review): Promise<void> {
    const { documents, settings } = this.ports;
    const { oldPath, baseSha256, isPlan, removal, encoding, proposal } = review.request;
    try {
      const base = isPlan === true ? nothing : await lookAt(documents, oldPath, baseSha256, { removed: removal !== undefined, ...(encoding === undefined ? {} : { encoding }) });
      if (removal === undefined) needReadable(base, proposal, oldPath);
      review.base = base;
      if (!review.fixed) review.draft = (await this.drafts?.take(review.key, review.owner.pid, review.request.draft)) ?? review.draft;
    } catch (err) {
      review.error = err;
      return this.run(review, { type: "refused" });
    }
    if (!review.live) return;
    this.keepDraft(review);
    if (isPlan !== true) review.hold("watch", documents.watch(oldPath, () => void this.lookAgain(review)));
    const mode = review.wanted ? "always" : isOneOfMany(review, this.own(review.owner)) ? "onDemand" : settings.diffOpen();
    if (mode === "onDemand") this.run(review, { type: "deferred" });
    else this.open(review, mode === "background");
  }

  private open(review: Review, background: boolean): void {
    if (review.base === undefined) return;
    const { clock, log, view } = this.ports;
    let told = false;
    const failed = (why: string): void => {
      if (told || !review.live) return; // it was answered before it was shown
      told = true;
      log.warn(`the diff ${review.id} is not shown: ${why}`);
      this.run(review, { type: "openFailed" });
    };
    // A busy window reports the tab before it has done the rest.
    const look = (otherwise: () => void): void => (view.tabs(review.id) > 0 ? this.tabsChanged(review.id) : otherwise());
    const stops = [
      clock.after(openTimeoutMs, () => look(() => this.run(review, { type: "deferred" }))),
      clock.after(lostMs, () => look(() => failed("the editor did not open it in time"))),
    ];
    view.open(review.shown(review.base, background)).finally(() => stops.forEach((stop) => stop())).then(() => look(() => failed("it was closed at once")), (err: unknown) => failed(messageOf(err)));
  }

  /** The file was touched: the review is stale if its contents are others now. */
  private async lookAgain(review: Review): Promise<void> {
    const now = await this.ports.documents.read(review.request.oldPath).catch(() => undefined);
    if (now?.sha256 !== review.base?.file.sha256) this.run(review, { type: "baseChanged" });
  }

  /**
   * Looks at a file that the editor is about to write: a change that the watcher has not reported yet, or
   * that was only typed, would make the write fail when the person's draft is gone from the screen,
   * and so would a character that the file's encoding cannot store.
   */
  private async lookBeforeWriting(review: Review): Promise<void> {
    const { documents, notices, t } = this.ports;
    await this.lookAgain(review);
    const draft = withoutBom(this.ports.view.text(review.id) ?? review.draft);
    const encoding = review.base?.file.encoding ?? "utf8";
    const lost = await documents.unstorable(draft, encoding).catch(() => undefined); // the write fails, and explains it
    const isDirty = documents.buffer(review.request.path)?.isDirty === true;
    if (!review.live || (!isDirty && lost === undefined)) return this.run(review, { type: "looked" });
    if (isDirty) notices.warn(t("{0} has unsaved changes in the editor. Save or undo them, then accept this edit again.", review.name));
    else if (lost !== undefined) notices.warn(t("{0} is stored as {1}, which has no {2} (line {3}). Change that, then accept this edit again.", review.name, encoding, lost.character, lost.line));
    this.run(review, { type: "staleAnswered", yes: false });
  }

  private async askStale(review: Review): Promise<void> {
    const { id, request } = review;
    const { view } = this.ports;
    const asks = review.machine.stale && request.rechecks !== true;
    const answer = asks ? await view.confirmStale(id, request.oldPath).catch(() => "no" as const) : "anyway";
    const notes = mustLook(request.notes ?? []);
    const yes = answer === "anyway" && (notes.length === 0 || (await view.confirmNotes(id, request.path, notes).catch(() => false)));
    this.run(review, { type: "staleAnswered", yes });
    // The person's draft goes along as a patch: nobody writes it over the new text.
    if (answer === "redo") this.reject(id, "button", review.redo());
  }

  private tabsGone(review: Review): void {
    if (this.ports.view.tabs(review.id) > 0) return;
    const { onClose } = review.request;
    const setting = this.ports.settings.onTabClose();
    const wished = setting === "auto" ? onClose : setting;
    this.run(review, { type: "tabsClosed", policy: onClose === "always-reject" || wished !== "keep" ? "reject" : "keep" });
  }

  /** Freezes the draft and answers the waiting calls, before touching the screen. */
  private answer(review: Review): void {
    if (!review.fixed) review.draft = this.ports.view.text(review.id) ?? review.draft;
    const answer = this.answerOf(review);
    const isHeard = review.waiter !== undefined;
    review.waiter?.(answer);
    review.waiter = undefined;
    this.endDraft(review, isHeard);
  }

  private keepDraft(review: Review, accepted = false): void {
    const { key, id, name, owner, draft, earlier } = review;
    review.drop("draft");
    const untouched = !review.edited && !accepted;
    this.drafts?.keep({ key, id, path: review.request.path, name, text: untouched ? "" : withoutBom(draft), earlier: [...earlier], told: review.told, asks: owner.name ?? "", pid: owner.pid, untouched, accepted });
  }

  /** Keeps the person's text until somebody has heard the answer, or the person has it. */
  private endDraft(review: Review, isHeard: boolean): void {
    const { kind, reason } = review.machine.outcome as Outcome;
    const { clock, notices, t } = this.ports;
    const isTold = isHeard && (kind === "accepted" || kind === "rejected") && reason !== "superseded" && reason !== "timeout";
    const isTakenBack = (kind === "closed" && (review.owner.isGuest !== true || review.taken)) || (reason === "cancelled" && review.request.locked !== true);
    if (isTold || isTakenBack || (kind !== "accepted" && kind !== "aborted" && !review.edited)) this.drafts?.drop(review.key);
    else this.keepDraft(review, kind === "accepted");
    // A client that comes back asks again, and gets the answer.
    if (kind === "accepted" && !isHeard) return void clock.after(graceMs, () => this.drafts?.leave(review.key));
    this.drafts?.leave(review.key);
    if (reason !== "client_gone" || review.edited) return;
    if (this.gone.push(review.name) > 1) return;
    const tell = (): void => {
      const names = this.gone.splice(0);
      notices.warn(names.length === 1 ? t("{0} is gone: its edit of {1} was not written.", review.asks, names[0] ?? "") : t("{0} is gone: its edits of {1} files were not written.", review.asks, names.length));
    };
    clock.after(0, tell);
  }

  private answerOf(review: Review): Answer {
    const outcome = review.machine.outcome as Outcome;
    if (outcome.kind === "silent" || outcome.kind === "aborted") return outcome.kind;
    if (outcome.kind === "failed") return failure(review.error);
    const verdict = toVerdict(review.decided(outcome, this.ports.view.comments(review.id), this.ports.clock.now()));
    this.verdicts.remember(review, outcome.reason, verdict);
    return verdict.result;
  }

  private async closeTabs(review: Review): Promise<void> {
    review.drop("recheck");
    review.drop("watch");
    const { clock, log, view } = this.ports;
    let stop: Cancel = () => undefined;
    const timeout = new Promise<void>((done) => (stop = clock.after(closeTimeoutMs, done)));
    review.gone = view.close(review.id).catch((err: unknown) => log.warn(`closing a diff: ${messageOf(err)}`));
    await Promise.race([review.gone, timeout]);
    stop();
  }

  private release(review: Review): void {
    review.dropAll();
    review.markClosed();
    void review.gone.then(() => this.ports.clock.after(forgetMs, () => this.forget(review)));
  }

  /** Drops the contents, which a busy editor needs until its tab is closed: it saves a typed draft in them. */
  private forget(review: Review): void {
    this.all.delete(review.id);
    this.ports.view.forget(review.id);
  }

  /** Reports a review's state to the lists at once, and to its client soon, even while the person is typing. */
  private changed(review: Review): void {
    if (review.live && !review.holds("report")) {
      review.hold("report", this.ports.clock.after(reportMs, () => this.report(review)));
    }
    this.tell(review);
  }

  private report(review: Review): void {
    review.drop("report");
    if (!review.live || review.machine.orphaned) return;
    const counts = countChanges(toLf(review.request.proposal), toLf(review.draft));
    const { state } = review.machine;
    const kept = review.kept();
    if (review.owner.isGuest !== true) review.owner.notify("diff_changed", { diffId: review.diffId, state, edited: review.edited, ...counts, ...kept });
    review.told = kept.text === undefined ? undefined : sha256(kept.text);
    if (review.edited) this.keepDraft(review);
  }

  private tell(review: Review): void {
    const info = review.info();
    for (const listener of this.listeners) listener(info);
  }

  private live(): Review[] {
    return [...this.all.values()].filter((review) => review.live);
  }

  private own(owner: Owner): Review[] {
    return this.live().filter((review) => review.owner.id === owner.id);
  }
}
