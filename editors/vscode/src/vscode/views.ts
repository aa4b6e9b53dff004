import * as vscode from "vscode";
import type { Check, DiffView, Note, Refused, ReviewComment, ShownDiff } from "../core/ports";
import { buttonsMs, readyMs } from "../core/ready";
import type { Diffs } from "./diffs";
import type { Headers } from "./headers";
import type { InlineReviews } from "./inlinereviews";
import { confirmNotes, confirmStale } from "./questions";
import { activeReview } from "./tabs";
import { forgetUris, inlineScheme, proposedScheme, reviewUri } from "./uri";

type Mode = "diff" | "inline";

/** For how long the buttons wait for a review that is being opened. */
const openMs = 5_000;

/** For how long a review that the person asked for gets the focus: its file may still have to be read. */
const focusMs = 2_000;

/** Where reviews are shown: with two sides, or in one text. */
export class Views implements DiffView {
  /** How each review is shown; a person may switch. */
  private readonly modes = new Map<string, Mode>();
  private readonly shown = new Map<string, ShownDiff>();
  /** Whether nothing can be typed in a review just now: said before its text is there, or while it moves to the other view. */
  private readonly locked = new Map<string, boolean>();
  private readonly opening = new Map<string, Promise<void>>();
  /** The content of the next opening of each review, until that begins. */
  private readonly wanted = new Map<string, ShownDiff>();
  /** Until when each review gets the focus if it is opened, in milliseconds. */
  private readonly focusUntil = new Map<string, number>();
  /** Reviews that are just moving from one view to the other: their tabs go and come. */
  private readonly switching = new Set<string>();
  /** The URIs of the reviews that are at the front of a group. */
  private seen: readonly string[] = [];
  private freshTimer: NodeJS.Timeout | undefined;
  /** Called with the review that has the focus, if there is one. */
  onActive: (id: string | undefined) => void = () => undefined;
  /** How many reviews are being opened. */
  private opens = 0;
  /** The review that has the focus, and since when, in milliseconds. */
  private focused: { id: string | undefined; since: number } = { id: undefined, since: 0 };

  constructor(
    readonly diffs: Diffs,
    readonly inline: InlineReviews,
    readonly headers: Headers,
    /** The person's choice; undefined: the client's. */
    private readonly wish: () => Mode | undefined,
  ) {}

  /** A review has come to the front: its buttons are off until an answer counts. */
  appeared(): void {
    clearTimeout(this.freshTimer);
    void isFresh(true);
    // The window reports the tab before it shows the text, and then the buttons would go off again under a click.
    if (this.opens > 0) return;
    this.freshTimer = setTimeout(() => {
      void isFresh(false);
      this.inline.refresh();
      this.headers.refresh();
    }, buttonsMs);
  }

  /** One after the other: a review that is just being shown is not shown twice. */
  open(diff: ShownDiff): Promise<void> {
    const { id } = diff;
    this.locked.set(id, diff.held);
    const waits = this.wanted.has(id);
    this.wanted.set(id, diff);
    // A key that is held down asks many times: the buttons would be off until all are done.
    const last = this.opening.get(id);
    if (waits && last !== undefined) return last;
    return this.inTurn(id, () => {
      const wanted = this.wanted.get(id) ?? diff;
      this.wanted.delete(id);
      return this.openNow(wanted);
    });
  }

  /** Shows a review in the other view, with the draft as it is. */
  async toggle(id: string): Promise<void> {
    await this.inTurn(id, async () => {
      const diff = this.shown.get(id);
      if (diff?.canInline !== true) return;
      const mode = this.modes.get(id) === "inline" ? "diff" : "inline";
      this.switching.add(id);
      try {
        const proposed = (await (mode === "inline" ? this.diffs.leave(id) : this.inline.leave(id))) ?? diff.proposed;
        this.modes.set(id, mode);
        if (mode === "diff") await this.diffs.revise(id, proposed);
        this.takeFocus(id);
        await this.openNow({ ...diff, proposed, background: false });
      } finally {
        this.switching.delete(id);
      }
    });
  }

  /** The sides of a review, which is a diff from now on. */
  async sidesOf(diff: ShownDiff): Promise<{ left: vscode.Uri; right: vscode.Uri }> {
    const { id } = diff;
    let sides: { left: vscode.Uri; right: vscode.Uri } | undefined;
    await this.inTurn(id, async () => {
      this.switching.add(id);
      try {
        const typed = this.modes.get(id) === "inline" ? await this.inline.leave(id) : undefined;
        this.modes.set(id, "diff");
        this.shown.set(id, this.shown.get(id) ?? diff);
        sides = await this.diffs.contents(diff);
        if (typed !== undefined) await this.diffs.revise(id, typed);
      } finally {
        this.switching.delete(id);
      }
    });
    if (sides === undefined) throw new Error("the review was not made");
    return sides;
  }

  /** If this review is opened now, it gets the focus: the person asked for it. Later it would take the person's keys. */
  takeFocus(id: string): void {
    this.focusUntil.set(id, Date.now() + focusMs);
  }

  /** The review that the person looks at. */
  active(): string | undefined {
    return activeReview() ?? this.inline.active();
  }

  tabs(id: string): number {
    return this.switching.has(id) ? 1 : this.view(id).tabs(id);
  }

  text(id: string): string | undefined {
    return this.view(id).text(id);
  }

  caughtUp(): Promise<void> {
    return this.diffs.caughtUp();
  }

  comments(id: string): readonly ReviewComment[] {
    return this.diffs.comments(id);
  }

  update(id: string, state: { title: string; held: boolean }): void {
    this.locked.set(id, state.held);
    this.inline.lock(id, state.held);
    this.diffs.update(id, state);
  }

  checked(id: string, check: Check): void {
    const diff = this.shown.get(id);
    if (diff !== undefined) this.shown.set(id, { ...diff, check });
    this.noteButtons();
    this.inline.checked(id, check);
    this.diffs.checked(id, check);
  }

  /** The proposal that the person refused before this one, the text now, and the file. */
  revision(id: string): { refused: Refused; text: string; path: string } | undefined {
    const diff = this.shown.get(id);
    if (diff?.refused === undefined) return undefined;
    return { refused: diff.refused, text: this.text(id) ?? diff.proposed, path: diff.path };
  }

  confirmStale(_id: string, path: string): Promise<"anyway" | "redo" | "no"> {
    return confirmStale(path);
  }

  confirmNotes(_id: string, path: string, notes: readonly Note[]): Promise<boolean> {
    return confirmNotes(path, notes);
  }

  async close(id: string): Promise<void> {
    await Promise.all([this.inline.close(id), this.diffs.close(id)]);
  }

  forget(id: string): void {
    this.inline.forget(this.shown.get(id)?.path ?? "", id);
    this.modes.delete(id);
    this.shown.delete(id);
    this.locked.delete(id);
    this.noteButtons();
    this.opening.delete(id);
    this.wanted.delete(id);
    this.focusUntil.delete(id);
    this.diffs.forget(id);
    forgetUris(id);
  }

  private view(id: string): { tabs(id: string): number; text(id: string): string | undefined } {
    return this.modes.get(id) === "inline" ? this.inline : this.diffs;
  }

  private inTurn(id: string, act: () => Promise<void>): Promise<void> {
    const done = (this.opening.get(id) ?? Promise.resolve()).catch(() => undefined).then(act);
    this.opening.set(id, done);
    return done;
  }

  private async openNow(wanted: ShownDiff): Promise<void> {
    const { id, title } = wanted;
    const diff = { ...wanted, held: this.locked.get(id) ?? wanted.held };
    const focus = Date.now() < (this.focusUntil.get(id) ?? 0);
    this.focusUntil.delete(id);
    const wish = this.wish() ?? (diff.inline ? "inline" : "diff");
    const mode = this.modes.get(id) ?? (diff.oneSided ? "inline" : diff.canInline ? wish : "diff");
    this.modes.set(id, mode);
    this.shown.set(id, diff);
    this.noteButtons();
    if (focus && mode === "diff") this.diffs.takeFocus(id);
    // The buttons must not be there for a moment before they are off.
    clearTimeout(this.freshTimer);
    const opened = this.beginOpening();
    await isFresh(true);
    try {
      await (mode === "inline" ? this.inline.show(diff, focus) : this.diffs.open(diff));
      const check = this.shown.get(id)?.check;
      if (check !== undefined && check !== diff.check) this.checked(id, check); // it came meanwhile
      const locked = this.locked.get(id) ?? diff.held;
      if (locked !== diff.held) this.update(id, { title, held: locked }); // likewise
    } finally {
      opened();
    }
  }

  /** Keeps the buttons off until the returned function is called. */
  private beginOpening(): () => void {
    this.opens++;
    let open = true;
    const end = (): void => {
      clearTimeout(late);
      if (!open) return;
      open = false;
      this.opens--;
      this.appeared();
    };
    const late = setTimeout(end, openMs);
    return end;
  }

  /** Notes what the person sees: a click on a tab is reported late, and until then the buttons there are off. */
  noteSeen(uris: readonly vscode.Uri[]): void {
    const seen = uris.map(String);
    if (seen.join("\n") === this.seen.join("\n")) return;
    this.seen = seen;
    void vscode.commands.executeCommand("setContext", "agent.seenReviews", seen);
  }

  /** Notes the reviews to which a button applies. */
  private noteButtons(): void {
    const note = (key: string, has: (diff: ShownDiff) => boolean): void => {
      const uris = [...this.shown.values()].filter(has).flatMap(({ id, path }) => [inlineScheme, proposedScheme].map((scheme) => reviewUri(scheme, path, id).toString()));
      void vscode.commands.executeCommand("setContext", key, uris);
    };
    note("agent.revisedReviews", ({ refused }) => refused !== undefined);
    note("agent.offeredReviews", ({ offer }) => offer !== undefined);
    note("agent.checkedReviews", ({ check }) => check !== undefined);
    note("agent.inlineReviews", ({ canInline }) => canInline);
  }

  /** The person has looked at a review: its box is folded when it is shown again. */
  fold(id: string): void {
    const path = this.shown.get(id)?.path ?? "";
    for (const scheme of [inlineScheme, proposedScheme]) this.headers.fold(reviewUri(scheme, path, id));
  }

  /** Notes which review has the focus, for keys and buttons. */
  noteActive(): void {
    const id = this.active();
    if (id !== this.focused.id) this.focused = { id, since: Date.now() };
    void vscode.commands.executeCommand("setContext", "agent.activeReview", id !== undefined);
    this.onActive(id);
  }

  /** Whether the active review has had the focus for long enough for a key to be meant for it. */
  hasKeys(): boolean {
    return this.active() === this.focused.id && Date.now() - this.focused.since >= readyMs;
  }
}

async function isFresh(is: boolean): Promise<void> {
  await vscode.commands.executeCommand("setContext", "agent.freshReview", is);
}
