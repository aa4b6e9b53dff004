import type { Reason } from "./machine";
import type { Verdict } from "./outcome";
import type { Clock } from "./ports";
import { isSameQuestion } from "./review";
import type { Review, ReviewRequest } from "./review";

const keepMs = 60_000;
const keepAtMost = 32;

interface Kept {
  readonly owner: number;
  readonly diffId: string;
  readonly request: ReviewRequest;
  readonly verdict: Verdict;
  readonly until: number;
}

/**
 * Recent decisions of persons. A client whose connection broke during a decision asks again over a
 * new one and gets the same answer; so does a terminal that was a moment too late. A client that
 * has had the answer and asks again on the same connection means a new question.
 */
export class Verdicts {
  private kept: Kept[] = [];

  constructor(private readonly clock: Clock) {}

  /** Keeps a verdict if a person gave it. */
  remember(review: Review, reason: Reason, verdict: Verdict): void {
    if (!isVerdict(reason)) return;
    const { owner, diffId, request } = review;
    const until = this.clock.now() + keepMs;
    this.kept = [...this.fresh(), { owner: owner.id, diffId, request, verdict, until }].slice(-keepAtMost);
    // The texts are whole files, and in an idle window nobody asks. A timer may end a little early.
    this.clock.after(keepMs + 1_000, () => this.fresh());
  }

  /** The decision on the same question, if it was made over another connection. */
  elsewhere(owner: number, request: ReviewRequest): Verdict | undefined {
    return this.fresh().findLast((v) => v.owner !== owner && isSameQuestion(v.request, request))?.verdict;
  }

  /** The decision on a question of this connection. */
  last(owner: number, diffId: string): Verdict | undefined {
    return this.fresh().findLast((v) => v.owner === owner && v.diffId === diffId)?.verdict;
  }

  private fresh(): Kept[] {
    const now = this.clock.now();
    this.kept = this.kept.filter((v) => v.until > now);
    return this.kept;
  }
}

/** Whether a person gave the answer. */
export function isVerdict(reason: Reason): boolean {
  switch (reason) {
    case "button":
    case "command":
    case "save":
    case "tab_closed":
    case "terminal":
      return true;
    case "superseded":
    case "timeout":
    case "aborted":
    case "closed_by_client":
    case "cancelled":
    case "client_gone":
    case "refused":
      return false;
  }
}
