import lists from "./hidden.json";

// The lists are those of the program (internal/sanitize), which writes the file: the
// first and the last character of each range.
function within(ranges: readonly number[], code: number): boolean {
  let low = 0;
  let high = ranges.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < (ranges[2 * middle] ?? 0)) high = middle - 1;
    else if (code > (ranges[2 * middle + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

/** Whether a character is drawn as nothing at all, or changes how others are drawn. */
export function isHidden(code: number): boolean {
  return within(lists.hidden, code);
}

/** Whether a character looks like a blank but is not one. */
export function isOddBlank(code: number): boolean {
  return within(lists.blanks, code);
}

/** The text with what `as` makes of its hidden characters and odd blanks. */
export function replaceHidden(text: string, as: (code: number) => string): string {
  if (/^[\n\t\x20-\x7e]*$/.test(text)) return text;
  let out = "";
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    out += isHidden(code) || isOddBlank(code) ? as(code) : char;
  }
  return out;
}

/** A character as its code. */
export function escaped(code: number): string {
  return `\\u{${code.toString(16)}}`;
}
