import type { Note, Translate } from "./ports";
import { isObject } from "./schema";
import { oneLine } from "./text";

const notesMax = 20;
const textMax = 300;

/** The kinds of notes that need a second question. */
const cautious = ["protected", "name", "hidden", "look-alike", "loose-match", "far-right", "executable"];

/** The title of a kind of note; undefined if it has none. */
function titleOf(kind: string, t: Translate): string | undefined {
  switch (kind) {
    case "protected":
      return t("protected file");
    case "name":
      return t("misleading name");
    case "look-alike":
      return t("look-alike letters");
    case "odd-space":
      return t("unusual blanks");
    case "hidden":
      return t("hidden characters");
    case "loose-match":
      return t("matched loosely");
    case "far-right":
      return t("text far to the right");
    case "executable":
      return t("executable");
    case "whitespace":
      return t("only white space");
    case "line-endings":
      return t("line endings");
    case "empty":
      return t("empty");
    case "revised":
      return t("revised");
    default:
      return undefined;
  }
}

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
  return notes.filter(({ kind }) => cautious.includes(kind));
}

/** The remarks in the few words that fit a title. */
export function shortNotes(notes: readonly Note[], t: Translate): string[] {
  return [...new Set(notes.map(({ kind }) => titleOf(kind, t)).filter((title) => title !== undefined))].map((title) => (title === t("revised") ? title : `⚠ ${title}`));
}
