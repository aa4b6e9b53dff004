/**
 * The life of one review, as a pure function. It guarantees that a review ends
 * exactly once, that nothing but an explicit yes or no of a person, or the word
 * of the program that asked, ends it as accepted or rejected by a person, and
 * that the answer is given before the screen is touched.
 */

export type ReviewState = "queued" | "preparing" | "shown" | "hidden" | "resolving" | "done";

/** Why a review ended. Only the first four are a person's verdict in the editor. */
export type Reason =
  | "button"
  | "command"
  | "save"
  | "tab_closed"
  | "terminal"
  | "superseded"
  | "timeout"
  | "aborted"
  | "closed_by_client"
  | "cancelled"
  | "client_gone"
  | "refused";

export interface Outcome {
  /** silent: nobody waits for the answer. failed: the edit cannot be reviewed. */
  readonly kind: "accepted" | "rejected" | "closed" | "aborted" | "silent" | "failed";
  readonly reason: Reason;
}

export interface Machine {
  readonly state: ReviewState;
  /** The file changed on disk since the review began. */
  readonly stale: boolean;
  /** There are remarks that must be looked at: an acceptance in the editor asks once more. */
  readonly cautious?: boolean;
  /** The editor writes the accepted text: an acceptance here looks at the file once more. */
  readonly looks?: boolean;
  /** The acceptance that waits for that look, or for a second yes. */
  readonly asking: Reason | undefined;
  /** The program that asked edits the draft elsewhere; answers here are refused. */
  readonly held: boolean;
  /** The connection that asked is gone and has a moment to come back. */
  readonly orphaned: boolean;
  readonly outcome: Outcome | undefined;
}

export type Event =
  /** The file's lock was granted. */
  | { readonly type: "granted" }
  /** It cannot be reviewed: stale base, unsaved changes, binary, bad path. */
  | { readonly type: "refused" }
  /** Nothing is shown until the person asks for it, or the editor takes long to. */
  | { readonly type: "deferred" }
  | { readonly type: "tabOpened" }
  | { readonly type: "openFailed" }
  /** save: the key that saves, in the active review. */
  | { readonly type: "accept"; readonly by: "button" | "command" | "save" | "terminal" }
  /** The file was read once more; baseChanged was reported before if it differs from the review's. */
  | { readonly type: "looked" }
  | { readonly type: "staleAnswered"; readonly yes: boolean }
  | { readonly type: "reject"; readonly by: "button" | "command" | "terminal" }
  | { readonly type: "tabsClosed"; readonly policy: "reject" | "keep" }
  | { readonly type: "hold" }
  | { readonly type: "release" }
  | { readonly type: "closedByClient" }
  | { readonly type: "cancelled" }
  | { readonly type: "superseded" }
  | { readonly type: "baseChanged" }
  | { readonly type: "ownerGone" }
  | { readonly type: "adopted" }
  | { readonly type: "graceOver" }
  | { readonly type: "aborted" }
  | { readonly type: "timeout" }
  | { readonly type: "settled" };

/**
 * The actions to take, in this order. prepare: look at the file and open the diff; answer: send the
 * waiting caller its result; close: close the tabs, then report settled; release: let the next
 * review of the file begin, drop the contents later.
 */
export type Effect =
  | "prepare"
  | "answer"
  | "close"
  | "closeLate"
  | "release"
  | "lookAgain"
  | "askStale"
  | "warnHidden"
  | "update"
  | "startGrace"
  | "stopGrace";

export type Step = readonly [Machine, readonly Effect[]];

export const initial: Machine = {
  state: "queued",
  stale: false,
  asking: undefined,
  held: false,
  orphaned: false,
  outcome: undefined,
};

/** Whether the review still waits for its answer. */
export function isLive(m: Machine): boolean {
  return m.state !== "resolving" && m.state !== "done";
}

export function step(m: Machine, e: Event): Step {
  if (!isLive(m)) return afterEnd(m, e);
  return toEnd(m, e) ?? onScreen(m, e) ?? whileLive(m, e) ?? [m, []];
}

/** Once decided, only the end of the closing counts, and tabs that come late. */
function afterEnd(m: Machine, e: Event): Step {
  if (e.type === "settled" && m.state === "resolving") return [{ ...m, state: "done" }, ["release"]];
  if (e.type === "tabOpened") return [m, ["closeLate"]];
  return [m, []];
}

/** The events that end any live review, whether it is on the screen or not. */
function toEnd(m: Machine, e: Event): Step | undefined {
  switch (e.type) {
    case "refused":
      return resolve(m, "failed", "refused");
    case "closedByClient":
      return resolve(m, "closed", "closed_by_client");
    case "cancelled":
      return resolve(m, "silent", "cancelled");
    case "superseded":
      return resolve(m, "rejected", "superseded");
    case "timeout":
      return resolve(m, "rejected", "timeout");
    case "aborted":
      return resolve(m, "aborted", "aborted");
    case "graceOver":
      return m.orphaned ? resolve(m, "silent", "client_gone") : undefined;
    case "accept":
      return e.by === "terminal" ? resolve(m, "accepted", "terminal") : undefined;
    case "reject":
      return e.by === "terminal" ? resolve(m, "rejected", "terminal") : undefined;
    default:
      return undefined;
  }
}

/** The events of a review that a person can see or reach. */
function onScreen(m: Machine, e: Event): Step | undefined {
  if (m.state !== "shown" && m.state !== "hidden") return undefined;
  switch (e.type) {
    case "accept":
      return accept(m, e.by);
    case "looked":
      return m.asking === undefined ? undefined : confirm(m, m.asking);
    case "staleAnswered":
      return staleAnswered(m, e.yes);
    case "reject":
      return m.held ? undefined : resolve(m, "rejected", e.by);
    case "tabsClosed":
      if (m.state !== "shown") return undefined;
      return e.policy === "reject" && !m.held ? resolve(m, "rejected", "tab_closed") : [{ ...m, state: "hidden" }, []];
    case "tabOpened":
      return m.state === "hidden" ? [{ ...m, state: "shown" }, []] : undefined;
    default:
      return undefined;
  }
}

/** The events that change a live review without ending it. */
function whileLive(m: Machine, e: Event): Step | undefined {
  switch (e.type) {
    case "granted":
      return m.state === "queued" ? [{ ...m, state: "preparing" }, ["prepare"]] : undefined;
    case "tabOpened":
      return m.state === "preparing" ? [{ ...m, state: "shown" }, []] : undefined;
    case "deferred":
      return m.state === "preparing" ? [{ ...m, state: "hidden" }, []] : undefined;
    case "openFailed":
      return m.state === "preparing" || m.state === "hidden" ? [{ ...m, state: "hidden" }, ["warnHidden"]] : undefined;
    case "baseChanged":
      return m.stale ? undefined : [{ ...m, stale: true }, ["update"]];
    case "hold":
      return m.held ? undefined : [{ ...m, held: true, asking: undefined }, ["update"]];
    case "release":
      return m.held ? [{ ...m, held: false }, ["update"]] : undefined;
    case "ownerGone":
      return m.orphaned ? undefined : [{ ...m, orphaned: true }, ["startGrace"]];
    case "adopted":
      return m.orphaned ? [{ ...m, orphaned: false, held: false }, ["stopGrace", "update"]] : undefined;
    default:
      return undefined;
  }
}

function accept(m: Machine, by: Reason): Step | undefined {
  if (m.held || m.asking !== undefined) return undefined;
  return m.looks === true ? [{ ...m, asking: by }, ["lookAgain"]] : confirm(m, by);
}

/** An acceptance in the editor: asks once more if the file has changed below it, or there are remarks. */
function confirm(m: Machine, by: Reason): Step {
  if (m.stale || m.cautious === true) return [{ ...m, asking: by }, ["askStale"]];
  return resolve(m, "accepted", by);
}

function staleAnswered(m: Machine, yes: boolean): Step | undefined {
  if (m.asking === undefined) return undefined;
  return yes ? resolve(m, "accepted", m.asking) : [{ ...m, asking: undefined }, []];
}

function resolve(m: Machine, kind: Outcome["kind"], reason: Reason): Step {
  const effects: Effect[] = m.orphaned ? ["stopGrace", "answer", "close"] : ["answer", "close"];
  return [{ ...m, state: "resolving", asking: undefined, outcome: { kind, reason } }, effects];
}
