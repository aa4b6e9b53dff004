import type { Cancel, Clock, DraftFiles, KeptDraft, Log } from "./ports";
import { messageOf } from "./errors";
import { sha256 } from "./text";

/** How often to look for drafts that nobody asks about any more, and for how long their client may come back. */
const lookMs = 1_000;
const backMs = 10_000;
const keepMs = 14 * 24 * 60 * 60 * 1_000;

export interface DraftHost {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: DraftFiles;
  /** This process, which is the window's. */
  readonly pid: number;
  readonly isAlive: (pid: number) => boolean;
  /** Whether a client's process has been linked for this long, in milliseconds. */
  readonly isLinked: (pid: number, ms: number) => boolean;
}

/**
 * The texts that a person typed in reviews. Each is on the disk until its review is decided, and
 * the same question begins with it again, after whatever has ended the window, its extensions or the
 * client. A text whose question nobody asks any more is offered to the person.
 */
export class Drafts {
  private readonly kept = new Map<string, KeptDraft>();
  /** The drafts whose review is open here. */
  private readonly open = new Set<string>();
  private stop: Cancel = () => undefined;
  /** When this window began to look, in milliseconds; undefined while it rests. */
  private since: number | undefined;
  private written: Promise<void> = Promise.resolve();

  constructor(private readonly host: DraftHost) {}

  /** Reads what earlier windows have left. */
  async load(): Promise<void> {
    const { clock, files, pid, isAlive, log } = this.host;
    this.since = clock.now();
    const found = await files.load().catch((err: unknown) => (log.warn(`drafts: ${messageOf(err)}`), []));
    for (const draft of found) {
      if (draft.at + keepMs < clock.now()) this.write(() => files.remove(draft.key));
      else if (!this.kept.has(draft.key) && (draft.window === pid || !isAlive(draft.window))) this.kept.set(draft.key, draft);
    }
    this.look();
  }

  /** The window is about to end, or listens to nobody: nothing is offered until load is called again. */
  rest(): Promise<void> {
    this.stop();
    this.since = undefined;
    return this.written;
  }

  /** Whether a client's process is known to have ended. */
  isGone(pid: number | undefined): boolean {
    return pid !== undefined && !this.host.isAlive(pid);
  }

  /**
   * The text that the same question begins with; undefined without one. That of another window is
   * taken if it is gone, or if its client asks here now.
   */
  async take(key: string, client: number | undefined, given: string | undefined): Promise<string | undefined> {
    this.open.add(key);
    const draft = this.kept.get(key) ?? (await this.host.files.read(key));
    const isAnothers = draft !== undefined && draft.window !== this.host.pid && this.host.isAlive(draft.window) && (client === undefined || draft.pid !== client);
    if (isAnothers) return given;
    // The client has changed the text since this window told it: in the terminal, for example.
    const isNewer = given !== undefined && draft?.told !== sha256(given);
    return draft === undefined || draft.untouched === true || isNewer ? given : draft.text;
  }

  keep(draft: Omit<KeptDraft, "window" | "at">): void {
    const now = { ...draft, window: this.host.pid, at: this.host.clock.now() };
    this.kept.set(now.key, now);
    this.write(() => this.host.files.save(now));
  }

  /**
   * The text of a tab that an earlier run has left, which the editor has kept itself. It is newer than ours
   * if the extensions died before it was typed, and older if the window did: the editor keeps it a second late.
   */
  left(id: string, text: string): void {
    const draft = [...this.kept.values()].find((each) => each.id === id);
    if (draft === undefined || draft.text === text || draft.earlier?.includes(sha256(text)) === true) return;
    this.keep({ ...draft, text, untouched: false });
  }

  /** The text is where it belongs, or is the proposal again. */
  drop(key: string): void {
    if (this.kept.delete(key)) this.write(() => this.host.files.remove(key));
  }

  /** The review is over. A text that is still kept goes on with the same question, or is offered. */
  leave(key: string): void {
    this.open.delete(key);
    this.look();
  }

  /** The texts that no review shows. */
  unclaimed(): readonly KeptDraft[] {
    return [...this.kept.values()].filter(({ key, untouched }) => untouched !== true && !this.open.has(key));
  }

  /** Calls back with each draft that nobody will ask about again. */
  onLost: (draft: KeptDraft) => void = () => undefined;

  private look(): void {
    this.stop();
    if (this.since === undefined) return;
    const waiting = this.unclaimed().filter(({ offered }) => offered !== true);
    for (const draft of waiting.filter((each) => this.isLost(each))) {
      this.keep({ ...draft, offered: true });
      this.onLost(draft);
    }
    if (waiting.some((each) => !this.isLost(each))) this.stop = this.host.clock.after(lookMs, () => this.look());
  }

  private isLost({ pid, at, accepted }: KeptDraft): boolean {
    const { clock, isAlive, isLinked } = this.host;
    if (accepted === true) return true; // its client had its time to come back
    if (pid === undefined) return clock.now() - Math.max(this.since ?? 0, at) >= lookMs;
    return !isAlive(pid) || isLinked(pid, backMs);
  }

  private write(act: () => Promise<void>): void {
    this.written = this.written.then(act).catch((err: unknown) => this.host.log.warn(`drafts: ${messageOf(err)}`));
  }
}

/** The parts of a question that tell it from others. */
interface Question {
  readonly path: string;
  readonly oldPath: string;
  readonly removal?: string | undefined;
  readonly proposal: string;
  readonly baseSha256: string | undefined;
  readonly isPlan?: boolean;
}

/** The identity of a question, the same for every client and window. */
export function draftKey({ path, oldPath, removal, proposal, baseSha256, isPlan }: Question): string {
  return sha256(JSON.stringify([path, oldPath, removal ?? "", isPlan === true, baseSha256 ?? "", sha256(proposal)]));
}
