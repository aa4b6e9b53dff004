// The expectation that a test compares undo, redo and rewind with, computed from snapshots
// of the files and without the agent's journal.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** Every path below a folder, with its type, its mode and its content or target. */
export function snapshot(folder) {
  const all = new Map();
  for (const name of fs.readdirSync(folder, { recursive: true }).sort()) {
    const file = path.join(folder, name);
    const stat = fs.lstatSync(file);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) all.set(name, `link ${fs.readlinkSync(file)}`);
    else all.set(name, stat.isDirectory() ? `folder ${mode}` : `file ${mode} ${fs.readFileSync(file, "utf8")}`);
  }
  return all;
}

const isFolder = (state) => state?.startsWith("folder ") ?? false;
const isFile = (state) => state?.startsWith("file ") ?? false;
const modeOf = (state) => state.split(" ", 2)[1];

/** The text of a file in a snapshot. */
export const textIn = (state) => state.replace(/^file \d+ /, "");

/** The state of a file with another text. */
export const withText = (state, text) => `file ${state === undefined ? "644" : modeOf(state)} ${text}`;

/**
 * The changes of a session, oldest first, one entry for each path. An entry is in effect
 * unless an entry in effect undoes it. Entries of one command, move or undo have the same
 * run, those of one turn of the model the same turn.
 */
export class Ledger {
  entries = [];

  /** The number of entries so far: a point to rewind to. */
  get now() {
    return this.entries.length;
  }

  /**
   * Records the difference between two snapshots as one change; by: command or edit, whose
   * new folders have no entries; turn: the model's, undefined for a change of the person.
   */
  record(before, after, by, turn) {
    const run = Symbol(by);
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const [from, to] = [before.get(name), after.get(name)];
      if (from === to) continue;
      if (by === "edit" && isFolder(to)) this.made.add(name);
      else this.entries.push({ path: name, before: from, after: to, run, turn, edited: by === "edit" });
    }
  }

  /** Folders that edits made; the undo of an edit removes them with the last file in them. */
  made = new Set();

  isUndone(entry) {
    return this.entries.some((by) => by.undoes?.includes(entry) && !this.isUndone(by));
  }

  /**
   * Plans /undo of the last change, given the files now and those that it must leave alone;
   * of: the last turn, or a file.
   */
  undo(disk, kept, of) {
    let left = this.entries.filter((entry) => !entry.undoes && !this.isUndone(entry) && [undefined, "turn", entry.path].includes(of));
    for (;;) {
      const last = left.at(-1);
      const wanted = (entry) => (of === "turn" && last.turn !== undefined ? entry.turn === last.turn : entry.run === last.run);
      const plan = this.plan(left.filter(wanted), disk, kept, "undo");
      if (!plan.empty || last === undefined) return plan;
      left = left.filter((entry) => !wanted(entry)); // it has left nothing
    }
  }

  /** Plans /redo. */
  redo(disk, kept) {
    const last = this.entries.findLast((entry) => entry.by !== "redo" && !this.isUndone(entry));
    if (!last?.undoes) return this.plan([], disk, kept, "redo");
    const wanted = (entry) => entry.run === last.run && !this.isUndone(entry);
    return this.plan(this.entries.filter(wanted), disk, kept, "redo");
  }

  /** Plans a rewind of files to a point. */
  rewind(point, disk, kept) {
    return this.plan(this.entries.slice(point), disk, kept, "rewind");
  }

  plan(entries, disk, kept, by) {
    const plan = { by, changes: [], refused: [], voids: [], merged: new Map(), empty: true };
    for (const chain of chains(entries)) {
      if (by === "rewind" && this.isNothing(chain)) continue;
      const name = chain[0].path;
      if (by !== "rewind" && leftNothing(chain)) {
        plan.voids.push(chain);
        continue;
      }
      plan.empty = false;
      const why = this.refusal(chain, disk, kept);
      const merged = why === "changed" && by !== "rewind" ? merge(chain, disk.get(name)) : undefined;
      if (merged !== undefined && !kept.has(name)) plan.merged.set(name, merged);
      if (why === undefined || plan.merged.has(name)) plan.changes.push(chain);
      else plan.refused.push({ path: name, why: merged === undefined ? why : "unsaved" });
    }
    return plan;
  }

  refusal(chain, disk, kept) {
    const now = disk.get(chain[0].path);
    if (!isWhole(chain) || !isLeftBy(chain.at(-1), now)) return isBack(chain, now) ? "back" : "changed";
    return kept.has(chain[0].path) ? "unsaved" : undefined;
  }

  /** Whether the file and the changes in effect would be the same without the chain. */
  isNothing(chain) {
    const [before, after] = [chain[0].before, chain.at(-1).after];
    if (before !== after) return false;
    if (before === undefined) return true;
    const gone = new Set(chain);
    for (const entry of this.entries.toReversed()) {
      if (entry.path !== chain[0].path) continue;
      if (!entry.undoes && gone.has(entry) !== this.isUndone(entry)) return false;
      if (!gone.has(entry)) entry.undoes?.forEach((each) => gone.add(each));
    }
    return true;
  }

  /** Adds the missing folders on the way to a file that is made again. */
  makeFolders(files, folder) {
    if (folder === "." || files.has(folder)) return;
    files.set(folder, "folder 755");
    this.made.add(folder);
    this.makeFolders(files, path.dirname(folder));
  }

  /** Carries out a plan: returns the files afterwards. */
  carryOut({ changes, voids, merged, by }, disk) {
    const after = new Map(disk);
    const run = Symbol(by);
    for (const chain of voids) this.entries.push({ path: chain[0].path, run, by, undoes: chain });
    for (const [{ path: name, before }] of changes.toSorted(([a], [b]) => a.path.length - b.path.length)) {
      if (isFolder(after.get(name)) && before === undefined) continue;
      put(after, name, merged.get(name) ?? before);
      if (before !== undefined) this.makeFolders(after, path.dirname(name));
    }
    const folders = changes.filter(([{ path: name, before }]) => isFolder(after.get(name)) && before === undefined);
    for (const chain of folders.sort(([a], [b]) => b.path.length - a.path.length)) removeEmpty(after, chain[0].path);
    for (const [{ path: name, before }] of changes) {
      if (before === undefined) for (let dir = path.dirname(name); this.made.has(dir); dir = path.dirname(dir)) removeEmpty(after, dir);
    }
    for (const chain of changes) {
      const { path: name, before } = chain[0];
      const restored = merged.get(name) ?? before;
      if (after.get(name) !== restored) continue; // a folder in use
      this.entries.push({ path: name, before: disk.get(name), after: restored, run, by, undoes: chain, edited: merged.has(name) || chain.every(({ edited }) => edited) });
    }
    return after;
  }
}

function put(files, name, state) {
  if (state === undefined) files.delete(name);
  else files.set(name, state);
}

function removeEmpty(files, folder) {
  if (![...files.keys()].some((name) => name.startsWith(`${folder}/`))) files.delete(folder);
}

/** Whether a path is as an entry left it; an edit keeps the mode. */
const isLeftBy = ({ after, edited }, now) => after === now || (edited && isFile(after) && isFile(now) && textIn(after) === textIn(now));

/** Whether somebody put a path back to how it was before the entries. */
const isBack = (chain, now) => isLeftBy({ after: chain[0].before, edited: chain.every(({ edited }) => edited) }, now);

/** Whether nobody else changed the path between the entries. */
const isWhole = (chain) => chain.every((entry, i) => i === 0 || chain[i - 1].after === entry.before);

/** Whether the entries made a file and removed it again. */
const leftNothing = (chain) => chain[0].before === undefined && chain.at(-1).after === undefined && isWhole(chain);

/** The file now without the entries, as git merges it; undefined if it is in conflict. */
function merge(chain, now) {
  const [before, after] = [chain[0].before, chain.at(-1).after];
  if (!isWhole(chain) || ![before, after, now].every((state) => isFile(state) && !state.includes("\0"))) return undefined;
  if (!chain.at(-1).edited && modeOf(before) !== modeOf(after)) return undefined;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "agent-merge-"));
  try {
    const files = Object.entries({ now, after, before }).map(([name, state]) => {
      fs.writeFileSync(path.join(folder, name), textIn(state));
      return path.join(folder, name);
    });
    const { status, stdout } = spawnSync("git", ["merge-file", "-p", ...files], { encoding: "utf8" });
    return status === 0 && stdout !== textIn(now) ? withText(now, stdout) : undefined;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function chains(entries) {
  const all = new Map();
  for (const entry of entries) all.set(entry.path, [...(all.get(entry.path) ?? []), entry]);
  return [...all.values()];
}
