import { createHash } from "node:crypto";
import { diffLines, splitLines } from "./linediff";
import { escaped, isOddBlank, replaceHidden } from "./hidden";

export type Eol = "lf" | "crlf";

/** The line ending that a text uses, or "mixed", or undefined without any. */
export function eolOf(text: string): Eol | "mixed" | undefined {
  let crlf = 0;
  let lf = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (at > 0 && text.charCodeAt(at - 1) === 13) crlf++;
    else lf++;
  }
  if (crlf === 0 && lf === 0) return undefined;
  if (lf === 0) return "crlf";
  return crlf === 0 ? "lf" : "mixed";
}

/** Whether all line endings of a text are "\n", or all are "\r\n". */
export function isUniform(text: string): boolean {
  return !/\r(?!\n)/.test(text) && eolOf(text) !== "mixed";
}

/** Every line ending as "\n"; a lone carriage return is one too, as in an editor. */
export function toLf(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

export function withEol(text: string, eol: Eol): string {
  const lf = toLf(text);
  return eol === "crlf" ? lf.replaceAll("\n", "\r\n") : lf;
}

/**
 * The proposal as the right side shows it: with the line endings of the base,
 * where those are of one kind, and without a byte order mark. A difference in
 * line endings alone would turn the whole file red or be invisible.
 */
export function forDisplay(proposal: string, base: string): string {
  const text = withoutBom(proposal);
  const eol = eolOf(base);
  return eol === "lf" || eol === "crlf" ? withEol(text, eol) : text;
}

/**
 * The text that an acceptance returns. Untouched it is the proposal as it came,
 * byte for byte. Edited it has the base's line endings (the proposal's, where the
 * base has none of one kind; line by line, where both are mixed) and the
 * proposal's byte order mark.
 */
export function finalText(draft: string, proposal: string, base: string): { text: string; edited: boolean } {
  if (sameText(draft, proposal)) return { text: proposal, edited: false };
  const bom = proposal.startsWith(byteOrderMark) ? byteOrderMark : "";
  const eol = [eolOf(base), eolOf(proposal)].find((e) => e === "lf" || e === "crlf");
  const text = withoutBom(draft);
  return { text: bom + (eol === undefined ? keepEols(text, withoutBom(proposal)) : withEol(text, eol)), edited: true };
}

/** A proposal with the line endings of its base: of one kind, or line by line. Without any in the base it has its own. */
export function withEolsOf(proposal: string, base: string): string {
  const eol = eolOf(base);
  if (!isUniform(base)) return keepEols(proposal, base);
  return eol === "lf" || eol === "crlf" ? withEol(proposal, eol) : proposal;
}

/** An editor makes the line endings of a text uniform: each line gets its own back, a changed one that of the line in whose place it is. */
function keepEols(draft: string, proposal: string): string {
  const raw = proposal.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
  const lines = splitLines(toLf(draft));
  const out: string[] = [];
  let from = 0;
  const changes = diffLines(raw.map(toLf), lines);
  for (const change of changes) {
    const { oldFrom, oldTo, newFrom } = change;
    const eolAt = (n: number): string => /\r?\n$|\r$/.exec(raw[Math.max(0, Math.min(oldFrom + n, oldTo - 1))] ?? "")?.[0] ?? "\n";
    const changed = lines.slice(newFrom, change.newTo).map((line, n) => line.replace(/\n$/, () => eolAt(n)));
    out.push(...raw.slice(from, oldFrom), ...changed);
    from = oldTo;
  }
  const merged = [...out, ...raw.slice(from)].join("");
  // A lone carriage return before a new empty line would become one line ending.
  return sameText(merged, draft) ? merged : draft;
}

/** Whether two texts are the same but for line endings and byte order mark. */
export function sameText(a: string, b: string): boolean {
  return toLf(withoutBom(a)) === toLf(withoutBom(b));
}

export const byteOrderMark = "\ufeff";

export function withoutBom(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
}

/** Lower-case hex SHA-256 of the text as UTF-8. */
export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/**
 * The identity of a buffer's text: without byte order mark and with "\n" as line
 * ending, because an editor normalizes both when it loads a file.
 */
export function textSha256(text: string): string {
  return sha256(toLf(withoutBom(text)));
}

/** Makes foreign text fit for one line of a title or a message: at most max characters. */
export function oneLine(text: string, max: number): string {
  const line = text.slice(0, max * 4).replace(/[\r\n\t]+/g, " ");
  const clean = replaceHidden(line, (code) => (isOddBlank(code) ? " " : "")).trim();
  const chars = Array.from(clean);
  return chars.length <= max ? clean : chars.slice(0, max - 1).join("") + "…";
}

/** The same for a file's name, where every stranger stays visible as its code. */
export function visibleName(name: string): string {
  const line = name.replace(/[\n\t]|^ +| +$/g, (part) => Array.from(part, (char) => escaped(char.codePointAt(0) ?? 0)).join(""));
  return replaceHidden(line, escaped);
}

/** The text for a label, where the editor draws an icon for $(name): it is shown as written. */
export function withoutIcons(text: string): string {
  return text.replace(/\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/g, "\\$&");
}

/** Cuts a text to max UTF-16 units, never in the middle of a character. */
export function cap(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}
