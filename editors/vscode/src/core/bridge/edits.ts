import { ToolError } from "../errors";
import type { Position } from "../ports";
import { isObject } from "../schema";

/** A change of a range of the text; the range is 0-based, in UTF-16 units. */
export interface TextEdit {
  readonly start: Position;
  readonly end: Position;
  readonly newText: string;
  /** The expected text; not checked if absent. */
  readonly oldText: string | undefined;
}

/** The text with all edits made, each of the text as it was. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const starts = lineStarts(text);
  const places = edits
    .map((edit) => ({ ...edit, from: offset(text, starts, edit.start), to: offset(text, starts, edit.end) }))
    .sort((a, b) => a.from - b.from || a.to - b.to);
  let out = "";
  let at = 0;
  for (const { from, to, newText, oldText } of places) {
    if (to < from) throw new ToolError("INVALID_PARAMS", "a range ends before it begins");
    if (from < at) throw new ToolError("INVALID_PARAMS", "two ranges overlap");
    if (oldText !== undefined && oldText !== text.slice(from, to)) {
      throw new ToolError("HUNK_MISMATCH", `line ${lineOf(starts, from) + 1} is not what the edit was made from`);
    }
    out += text.slice(at, from) + newText;
    at = to;
  }
  return out + text.slice(at);
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return starts;
}

function lineOf(starts: readonly number[], at: number): number {
  return starts.findLastIndex((start) => start <= at);
}

function offset(text: string, starts: readonly number[], { line, character }: Position): number {
  const start = starts[line];
  if (start === undefined) throw new ToolError("HUNK_MISMATCH", `the file has no line ${line + 1}`);
  const next = starts[line + 1] ?? text.length;
  const length = text.slice(start, next).replace(/[\r\n]+$/, "").length;
  if (character > length) throw new ToolError("HUNK_MISMATCH", `line ${line + 1} has no character ${character}`);
  return start + character;
}

/** Reads the edits of a message. */
export function parseEdits(value: unknown): TextEdit[] {
  if (!Array.isArray(value) || value.length === 0) throw new ToolError("INVALID_PARAMS", "edits must be a list that is not empty");
  return value.map((each: unknown) => {
    const edit = isObject(each) ? each : {};
    const range = isObject(edit["range"]) ? edit["range"] : {};
    const { newText, oldText } = edit;
    if (typeof newText !== "string") throw new ToolError("INVALID_PARAMS", "newText must be a string");
    if (oldText !== undefined && typeof oldText !== "string") throw new ToolError("INVALID_PARAMS", "oldText must be a string");
    return { start: position(range["start"]), end: position(range["end"]), newText, oldText };
  });
}

function position(value: unknown): Position {
  const { line, character } = isObject(value) ? value : {};
  if (isCount(line) && isCount(character)) return { line, character };
  throw new ToolError("INVALID_PARAMS", "a range needs start and end, each with line and character from 0");
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
