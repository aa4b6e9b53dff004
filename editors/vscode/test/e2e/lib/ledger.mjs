// The expectation that a test compares undo, redo and rewind with, computed from snapshots
// of the files and without the agent's journal.
import fs from "node:fs";
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

/**
 * The changes of a session, oldest first, one entry for each path. An entry is in effect
 * unless an entry in effect undoes it. Entries of one command have the same run, those of
 * one undo the same undo.
 */
export class Ledger {
  entries = [];

  /** The number of entries so far: a point to rewind to. */
  get now() {
    return this.entries.length;
  }

  /** Records the difference between two snapshots as one change; by: command or edit, whose new folders have no entries. */
  record(before, after, by) {
    const run = Symbol(by);
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const [from, to] = [before.get(name), after.get(name)];
      if (from === to) continue;
      if (by === "edit" && isFolder(to)) this.made.add(name);
      else this.entries.push({ path: name, before: from, after: to, run });
    }
  }

  /** Folders that edits made; the undo of an edit removes them with the last file in them. */
  made = new Set();

  isUndone(entry) {
    return this.entries.some((by) => by.undoes?.includes(entry) && !this.isUndone(by));
  }

  /** Plans /undo, given the files now and those that it must leave alone. */
  undo(disk, kept) {
    const last = this.entries.findLast((entry) => !entry.undoes && !this.isUndone(entry));
    const wanted = (entry) => entry.run === last?.run && !this.isUndone(entry);
    return this.plan(this.entries.filter(wanted), disk, kept, "undo");
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
    return this.plan(this.entries.slice(point), disk, kept, "undo");
  }

  plan(entries, disk, kept, by) {
    const plan = { by, changes: [], refused: [], empty: true };
    for (const chain of chains(entries)) {
      if (by === "undo" && this.isNothing(chain)) continue;
      plan.empty = false;
      const why = this.refusal(chain, disk, kept);
      if (why === undefined) plan.changes.push(chain);
      else plan.refused.push({ path: chain[0].path, why });
    }
    return plan;
  }

  refusal(chain, disk, kept) {
    const moved = chain.some((entry, i) => i > 0 && chain[i - 1].after !== entry.before);
    if (moved || chain.at(-1).after !== disk.get(chain[0].path)) return "changed";
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
  carryOut({ changes, by }, disk) {
    const after = new Map(disk);
    const run = Symbol(by);
    for (const [{ path: name, before }] of changes.toSorted(([a], [b]) => a.path.length - b.path.length)) {
      if (isFolder(after.get(name)) && before === undefined) continue;
      put(after, name, before);
      if (before !== undefined) this.makeFolders(after, path.dirname(name));
    }
    const folders = changes.filter(([{ path: name, before }]) => isFolder(after.get(name)) && before === undefined);
    for (const chain of folders.sort(([a], [b]) => b.path.length - a.path.length)) removeEmpty(after, chain[0].path);
    for (const [{ path: name, before }] of changes) {
      if (before === undefined) for (let dir = path.dirname(name); this.made.has(dir); dir = path.dirname(dir)) removeEmpty(after, dir);
    }
    for (const chain of changes) {
      const { path: name, before } = chain[0];
      if (after.get(name) !== before) continue; // a folder in use
      this.entries.push({ path: name, before: chain.at(-1).after, after: before, run, by, undoes: chain });
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

function chains(entries) {
  const all = new Map();
  for (const entry of entries) all.set(entry.path, [...(all.get(entry.path) ?? []), entry]);
  return [...all.values()];
}
