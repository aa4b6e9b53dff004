import { diffLines, splitLines } from "./linediff";
import type { Change } from "./linediff";

export interface Stats {
  readonly added: number;
  readonly removed: number;
}

/** How many lines were added to and removed from a to get b. */
export function countChanges(a: string, b: string): Stats {
  return count(diffLines(splitLines(a), splitLines(b)));
}

function count(changes: readonly Change[]): Stats {
  return {
    added: changes.reduce((n, c) => n + c.newTo - c.newFrom, 0),
    removed: changes.reduce((n, c) => n + c.oldTo - c.oldFrom, 0),
  };
}

const context = 3;

/**
 * A unified diff from a to b that `git apply` takes, with three lines of context; "" if they are
 * equal. The path is relative to the folder where the patch is applied, with "/" between its parts.
 */
export function unifiedDiff(path: string, a: string, b: string): string {
  const oldLines = splitLines(a);
  const newLines = splitLines(b);
  const changes = diffLines(oldLines, newLines);
  if (changes.length === 0) return "";
  const out = [`--- ${quoted("a/" + path)}\n`, `+++ ${quoted("b/" + path)}\n`];
  for (const hunk of group(changes)) writeHunk(out, hunk, oldLines, newLines);
  return out.join("");
}

/** Changes whose contexts touch belong into one hunk. */
function group(changes: readonly Change[]): Change[][] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const hunk = hunks.at(-1);
    const last = hunk?.at(-1);
    if (hunk !== undefined && last !== undefined && change.oldFrom - last.oldTo <= 2 * context) hunk.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function writeHunk(out: string[], hunk: readonly Change[], oldLines: readonly string[], newLines: readonly string[]): void {
  const first = hunk[0] as Change;
  const last = hunk.at(-1) as Change;
  const before = Math.min(context, first.oldFrom);
  const after = Math.min(context, oldLines.length - last.oldTo);
  const oldSpan = span(first.oldFrom - before, last.oldTo + after);
  const newSpan = span(first.newFrom - before, last.newTo + after);
  out.push(`@@ -${oldSpan} +${newSpan} @@\n`);
  let at = first.oldFrom - before;
  for (const change of hunk) {
    writeLines(out, " ", oldLines, at, change.oldFrom);
    writeLines(out, "-", oldLines, change.oldFrom, change.oldTo);
    writeLines(out, "+", newLines, change.newFrom, change.newTo);
    at = change.oldTo;
  }
  writeLines(out, " ", oldLines, at, last.oldTo + after);
}

/** Start and length as the header has them; an empty span names the line before it. */
function span(from: number, to: number): string {
  const length = to - from;
  const start = length === 0 ? from : from + 1;
  return length === 1 ? String(start) : `${start},${length}`;
}

function writeLines(out: string[], sign: string, lines: readonly string[], from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const line = lines[i] ?? "";
    out.push(line.endsWith("\n") ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`);
  }
}

// What git quotes in a header's file name.
const special = /["\\\u0000-\u001f\u007f]/g;

function quoted(name: string): string {
  if (name.search(special) < 0) return name.includes(" ") ? name + "\t" : name;
  return `"${name.replace(special, (c) => escapes[c] ?? "\\" + c.charCodeAt(0).toString(8).padStart(3, "0"))}"`;
}

const escapes: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r" };
