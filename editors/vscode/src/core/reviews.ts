import type { Cancel } from "./ports";

export type ReviewState = "queued" | "preparing" | "shown" | "hidden" | "resolving" | "done";

/** A review as lists and tooltips show it; text is sanitised. */
export interface ReviewInfo {
  readonly id: string;
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly state: ReviewState;
  readonly edited: boolean;
  readonly stale: boolean;
  /** Being edited elsewhere: accept and reject are refused meanwhile. */
  readonly held: boolean;
  readonly isNew: boolean;
  readonly createdAt: number;
}

/** What the adapters may do with reviews; an unknown id is ignored everywhere. */
export interface Reviews {
  /** The reviews that still wait for an answer, oldest first. */
  list(): readonly ReviewInfo[];
  get(id: string): ReviewInfo | undefined;
  /** Called after each change of a review; the last call has state "done". */
  onChange(listener: (review: ReviewInfo) => void): Cancel;
  accept(id: string, by: "button" | "command"): void;
  reject(id: string, by: "button" | "command", feedback?: string): void;
  /** Shows the diff (again), whatever the setting says. */
  show(id: string): void;
  /** The right side's text changed. */
  edited(id: string, text: string): void;
  /** The right side was saved; active: its tab was the active one. */
  saved(id: string, save: { manual: boolean; active: boolean; text: string }): void;
  /** A tab of the review was opened or closed: the core looks at DiffView.tabs. */
  tabsChanged(id: string): void;
}
