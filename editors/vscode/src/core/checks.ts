import type { Check, CheckProblem, Refused } from "./ports";
import { isObject } from "./schema";
import { cap, oneLine } from "./text";

const problemsMax = 500;
const outputMax = 100_000;
const lineMax = 300;
const commentsMax = 100;
const refusedMax = 4_000_000;

const states = ["running", "passed", "failed", "unknown"] as const;

/** Reads a client's report of the check of a proposal; malformed parts are dropped. */
export function parseCheck(args: Record<string, unknown>): Check {
  const { state, text, output, problems } = args;
  return {
    state: states.find((each) => each === state) ?? "unknown",
    text: typeof text === "string" ? oneLine(text, lineMax) : "",
    output: typeof output === "string" ? cap(output, outputMax) : "",
    problems: Array.isArray(problems) ? problems.slice(0, problemsMax).flatMap(problemOf) : [],
  };
}

function problemOf(value: unknown): CheckProblem[] {
  if (!isObject(value)) return [];
  const { line, column, warning, text } = value;
  if (!isLine(line) || typeof text !== "string") return [];
  return [{ line, column: isLine(column) ? column : 0, isWarning: warning === true, text: oneLine(text, lineMax) }];
}

/** Reads the proposal that the person refused before; undefined without one. */
export function parseRefused(value: unknown): Refused | undefined {
  if (!isObject(value) || typeof value["text"] !== "string" || value["text"].length > refusedMax) return undefined;
  const { text, feedback, comments } = value;
  const all = Array.isArray(comments) ? comments.slice(0, commentsMax) : [];
  return { text, feedback: typeof feedback === "string" ? feedback : "", comments: all.flatMap(commentOf) };
}

function commentOf(value: unknown): Refused["comments"][number][] {
  if (!isObject(value)) return [];
  const { line, text } = value;
  return isLine(line) && typeof text === "string" ? [{ line, text }] : [];
}

function isLine(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
}
