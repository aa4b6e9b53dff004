import { diffLines, splitLines } from "./linediff";
import type { Change } from "./linediff";

/**
 * What is left to be decided of a proposal that stands in a document: the
 * differences between the text without the undecided changes and the document as
 * it is. What a person types meanwhile is part of them.
 */
export function hunksOf(baseline: string, current: string): Change[] {
  return diffLines(splitLines(baseline), splitLines(current));
}

/** What a hunk says, to know it again: its place among the hunks is another as soon as one is decided or typed. */
export function hunkKey(baseline: string, current: string, hunk: Change): string {
  const [old, now] = [splitLines(baseline).slice(hunk.oldFrom, hunk.oldTo), splitLines(current).slice(hunk.newFrom, hunk.newTo)];
  return JSON.stringify([old, now]);
}

/** The index of the hunk that a person saw as this one; undefined if it is not there, or not surely the same. */
export function findHunk(baseline: string, current: string, key: string, index: number): number | undefined {
  const keys = hunksOf(baseline, current).map((hunk) => hunkKey(baseline, current, hunk));
  if (keys[index] === key) return index;
  const first = keys.indexOf(key);
  return first >= 0 && first === keys.lastIndexOf(key) ? first : undefined;
}

/** The baseline when one hunk has been accepted. */
export function acceptHunk(baseline: string, current: string, index: number): string {
  return replaceLines(baseline, current, hunksOf(baseline, current)[index], "old");
}

/** The document when one hunk has been rejected. */
export function rejectHunk(baseline: string, current: string, index: number): string {
  return replaceLines(current, baseline, hunksOf(baseline, current)[index], "new");
}

/** Puts the other text's lines of a hunk in place of a text's own. */
function replaceLines(text: string, other: string, hunk: Change | undefined, own: "old" | "new"): string {
  if (hunk === undefined) return text;
  const [lines, others] = [splitLines(text), splitLines(other)];
  const mine = { from: hunk[`${own}From`], to: hunk[`${own}To`] };
  const theirs = own === "old" ? others.slice(hunk.newFrom, hunk.newTo) : others.slice(hunk.oldFrom, hunk.oldTo);
  return [...lines.slice(0, mine.from), ...theirs, ...lines.slice(mine.to)].join("");
}
