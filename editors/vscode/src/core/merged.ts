import { diffLines } from "./linediff";
import { toLf } from "./text";

/** same: in both texts; added: of the proposal alone; removed: of the file alone. */
export type Kind = "same" | "added" | "removed";

/**
 * A proposal and the file that it is for, in one text: each change has the lines
 * that it removes above those that it adds. A person's edits of lines that are not
 * removed are part of the draft at once.
 */
export class Merged {
  constructor(
    readonly lines: readonly string[],
    readonly kinds: readonly Kind[],
  ) {}

  static of(original: string, proposed: string): Merged {
    const [old, now] = [linesOf(original), linesOf(proposed)];
    const [lines, kinds]: [string[], Kind[]] = [[], []];
    const add = (kind: Kind, more: readonly string[]): void => {
      lines.push(...more);
      kinds.push(...more.map(() => kind));
    };
    let at = 0;
    for (const { oldFrom, oldTo, newFrom, newTo } of diffLines(old, now)) {
      add("same", old.slice(at, oldFrom));
      add("removed", old.slice(oldFrom, oldTo));
      add("added", now.slice(newFrom, newTo));
      at = oldTo;
    }
    add("same", old.slice(at));
    return new Merged(lines, kinds);
  }

  /** All lines, as they are shown; line endings are "\n". */
  get text(): string {
    return this.lines.join("\n");
  }

  /** The text that would be written now. */
  get draft(): string {
    return this.without("removed");
  }

  /** The text without its undecided parts. */
  get decided(): string {
    return this.without("added");
  }

  /** The changes that are undecided, in order; lines from..to, to exclusive. */
  get hunks(): readonly Hunk[] {
    const hunks: { from: number; to: number }[] = [];
    for (const [line, kind] of this.kinds.entries()) {
      const last = hunks.at(-1);
      if (kind === "same") continue;
      if (last?.to === line) last.to = line + 1;
      else hunks.push({ from: line, to: line + 1 });
    }
    return hunks;
  }

  /** The shown line with a line of the draft; both from 1. */
  shownAt(line: number): number {
    let left = line;
    const at = this.kinds.findIndex((kind) => kind !== "removed" && --left === 0);
    return at === -1 ? this.lines.length : at + 1;
  }

  /** The text that has a shown line, and the line there; both from 0. */
  sideAt(line: number): { side: "original" | "modified"; line: number } {
    const [side, other] = this.kinds[line] === "removed" ? (["original", "added"] as const) : (["modified", "removed"] as const);
    return { side, line: line - this.kinds.slice(0, line).filter((kind) => kind === other).length };
  }

  /** The content of a hunk, which identifies it after others have been decided. */
  key({ from, to }: Hunk): string {
    return JSON.stringify([this.kinds.slice(from, to), this.lines.slice(from, to)]);
  }

  /** The hunk that a person saw as this one; undefined if it is gone, or not surely the same. */
  find(key: string, line: number): Hunk | undefined {
    const alike = this.hunks.filter((hunk) => this.key(hunk) === key);
    return alike.find(({ from }) => from === line) ?? (alike.length === 1 ? alike[0] : undefined);
  }

  /** The hunk at a line, else the next one below it, else the first. */
  near(line: number): Hunk | undefined {
    const { hunks } = this;
    return hunks.find(({ to }) => line < to) ?? hunks[0];
  }

  decide(hunk: Hunk, what: "accept" | "reject"): Merged {
    return this.resolve(what, (line) => line >= hunk.from && line < hunk.to);
  }

  decideAll(what: "accept" | "reject"): Merged {
    return this.resolve(what, () => true);
  }

  /**
   * After edits of the shown text, each of the text that the one before it left.
   * Undefined if one touches a removed line: such lines are only shown.
   */
  edited(edits: readonly LineEdit[]): Merged | undefined {
    let [lines, kinds]: [readonly string[], readonly Kind[]] = [this.lines, this.kinds];
    for (const edit of edits) {
      const touched = touchedBy(edit, lines);
      const { from, to, count } = touched;
      const was = kinds.slice(from, to);
      if (was.includes("removed")) return undefined;
      const around = from === to ? [kinds[from - 1], kinds[from]] : was;
      const kind: Kind = around.every((each) => each === undefined || each === "same") ? "same" : "added";
      kinds = [...kinds.slice(0, from), ...Array<Kind>(count).fill(kind), ...kinds.slice(to)];
      lines = afterEdit(edit, lines);
    }
    return new Merged(lines, kinds);
  }

  private resolve(what: "accept" | "reject", concerns: (line: number) => boolean): Merged {
    const dropped: Kind = what === "accept" ? "removed" : "added";
    const keep = [...this.lines.keys()].filter((line) => this.kinds[line] !== dropped || !concerns(line));
    // A text has one line at least.
    if (keep.length === 0) return new Merged([""], ["same"]);
    return new Merged(
      keep.map((line) => this.lines[line] ?? ""),
      keep.map((line) => (concerns(line) ? "same" : (this.kinds[line] ?? "same"))),
    );
  }

  private without(kind: Kind): string {
    return this.lines.filter((_, line) => this.kinds[line] !== kind).join("\n");
  }
}

/** How many earlier states of a text are kept, and of how many characters together. */
const statesMax = 500;
const charactersMax = 16_000_000;

/** Earlier states by their text, for undo. The newest is always kept, older ones as far as the limits allow. */
export class States {
  private readonly all = new Map<string, Merged>();
  private characters = 0;

  get(text: string): Merged | undefined {
    return this.all.get(text);
  }

  add(merged: Merged): void {
    const { text } = merged;
    if (this.all.delete(text)) this.characters -= text.length;
    this.all.set(text, merged);
    this.characters += text.length;
    for (const oldest of this.all.keys()) {
      const isFull = this.all.size > statesMax || this.characters > charactersMax;
      if (!isFull || oldest === text) return;
      this.all.delete(oldest);
      this.characters -= oldest.length;
    }
  }
}

/** Lines from..to (exclusive) of the shown text. */
export interface Hunk {
  readonly from: number;
  readonly to: number;
}

/** A range of a text and what takes its place; lines and characters count from 0. */
export interface LineEdit {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
  readonly text: string;
}

function linesOf(text: string): string[] {
  return toLf(text).split("\n");
}

/** The lines that an edit changes (to is exclusive) and how many take their place: whole lines leave those beside them alone. */
function touchedBy(edit: LineEdit, lines: readonly string[]): { from: number; to: number; count: number } {
  const { startLine: from, endLine, startCharacter, endCharacter } = edit;
  const text = toLf(edit.text);
  const breaks = text.split("\n").length - 1;
  const isAtStarts = startCharacter === 0 && endCharacter === 0;
  if (isAtStarts && (text === "" || text.endsWith("\n"))) return { from, to: endLine, count: breaks };
  const isAtEnds = startCharacter === lines[from]?.length && endCharacter === lines[endLine]?.length;
  if (isAtEnds && (text === "" || text.startsWith("\n"))) return { from: from + 1, to: endLine + 1, count: breaks };
  return { from, to: endLine + 1, count: breaks + 1 };
}

function afterEdit(edit: LineEdit, lines: readonly string[]): string[] {
  const head = (lines[edit.startLine] ?? "").slice(0, edit.startCharacter);
  const tail = (lines[edit.endLine] ?? "").slice(edit.endCharacter);
  const middle = `${head}${toLf(edit.text)}${tail}`.split("\n");
  return [...lines.slice(0, edit.startLine), ...middle, ...lines.slice(edit.endLine + 1)];
}
