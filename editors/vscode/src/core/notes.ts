import type { Note } from "./ports";
import { isObject } from "./schema";
import { oneLine } from "./text";

const notesMax = 20;
const textMax = 300;

/** The title of a kind of note; look marks kinds that need a second question. */
const kinds: ReadonlyMap<string, { readonly title: string; readonly look: boolean }> = new Map([
  ["protected", { title: "protected file", look: true }],
  ["hidden", { title: "hidden characters", look: true }],
  ["loose-match", { title: "matched loosely", look: true }],
  ["far-right", { title: "text far to the right", look: true }],
  ["executable", { title: "executable", look: true }],
  ["whitespace", { title: "only white space", look: false }],
  ["line-endings", { title: "line endings", look: false }],
  ["empty", { title: "empty", look: false }],
]);

/** Reads the remarks of a client; malformed ones are dropped. */
export function parseNotes(value: unknown): Note[] {
  if (!Array.isArray(value)) return [];
  const notes = value.slice(0, notesMax).map((each: unknown) => {
    const { kind, text } = isObject(each) ? each : {};
    return { kind: typeof kind === "string" ? oneLine(kind, 30) : "note", text: typeof text === "string" ? oneLine(text, textMax) : "" };
  });
  return notes.filter(({ text }) => text !== "");
}

/** The remarks that a person must have looked at before accepting. */
export function mustLook(notes: readonly Note[]): readonly Note[] {
  return notes.filter(({ kind }) => kinds.get(kind)?.look === true);
}

/** The remarks in the few words that fit a title. */
export function shortNotes(notes: readonly Note[]): string[] {
  return [...new Set(notes.map(({ kind }) => kinds.get(kind)?.title).filter((title) => title !== undefined))].map((title) => `⚠ ${title}`);
}
