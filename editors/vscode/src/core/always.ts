import { isObject } from "./schema";
import { oneLine } from "./text";

const ruleMax = 500;

/** The permission rule that a person may change, and make with an acceptance. */
export interface Offer {
  readonly rule: string;
  /** Why the rule of the answer before was not made; empty without one. */
  readonly problem: string;
}

/** The permission that a person gives with an acceptance, beyond it: all edits of the session, or a rule, which counts for the session if nothing else is given. */
export type Always =
  | { readonly session: true }
  | { readonly rule: string; readonly project?: true; readonly uses?: number; readonly hours?: number };

/** Reads an offer; undefined without one, or if its rule cannot be shown as it is. */
export function parseOffer(value: unknown): Offer | undefined {
  if (!isObject(value)) return undefined;
  const { rule, problem } = value;
  if (typeof rule !== "string" || rule === "" || oneLine(rule, ruleMax) !== rule) return undefined;
  return { rule, problem: typeof problem === "string" ? oneLine(problem, ruleMax) : "" };
}
