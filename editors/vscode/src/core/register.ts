import { copyFile, lstat, readFile, realpath, stat } from "node:fs/promises";
import { replace } from "./lockfile";
import { isInside } from "./paths";
import type { McpEntry } from "./published";
import { isObject } from "./schema";

const servers = "mcpServers";
/** The key of our entry in it. */
const ours = "agent";

export type Registration =
  | { readonly did: "wrote" | "removed" | "nothing" }
  /** Another window that is alive has put its own entry there. */
  | { readonly did: "left"; readonly port: number }
  /** The file is left as it is. */
  | { readonly did: "refused"; readonly why: string };

/**
 * Puts our entry into another client's configuration, or takes it away. Guarantees:
 * nothing else of the file changes, comments included; it is replaced whole or not
 * at all, and with the token in it nobody but its owner can read it; a copy of it as
 * it was before the first time stays beside it; a file that is malformed, or a link
 * that leads out of the home, is left alone.
 */
export async function register(file: string, home: string, entry: McpEntry | undefined): Promise<Registration> {
  const before = await readFile(file, "utf8").catch((err: NodeJS.ErrnoException) => {
    if (err.code === "ENOENT") return undefined;
    throw err;
  });
  if (before === undefined && entry === undefined) return { did: "nothing" };
  const target = before === undefined ? file : await realpath(file);
  if (before !== undefined && !isInside(target, await realpath(home))) return { did: "refused", why: "it is a link that leads out of your home" };
  const text = before ?? "{}\n";
  let changed: string;
  try {
    if (entry === undefined) changed = withoutEntry(text, await madeServers(target));
    else changed = withEntry(text, { type: "http", ...entry });
  } catch (err) {
    return { did: "refused", why: (err as Error).message };
  }
  if (changed === text && before !== undefined) return { did: "nothing" };
  const known = before === undefined ? 0o600 : (await stat(target)).mode & 0o777;
  const mode = entry === undefined ? known : known & 0o700;
  if (before !== undefined) await backUp(target);
  await replace(target, changed, { mode });
  return { did: entry === undefined ? "removed" : "wrote" };
}

/** The desired state of an entry. */
export interface Window {
  readonly port: number;
  /** Undefined while the door is shut. */
  readonly entry: McpEntry | undefined;
}

/** As register, but leaves the entry of another window of ours alone. That somebody listens on its port says nothing. */
export async function follow(file: string, home: string, window: Window, isWindow: (port: number) => Promise<boolean>): Promise<Registration> {
  const owner = await registeredPort(file);
  if (owner !== undefined && owner !== window.port && (await isWindow(owner))) return { did: "left", port: owner };
  return register(file, home, window.entry);
}

/** The port that our entry names; undefined without one. */
export async function registeredPort(file: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const root = new Reader(text).document();
    const list = root.value[servers];
    const entry = isObject(list) ? list[ours] : undefined;
    const url = isObject(entry) ? entry["url"] : undefined;
    return typeof url === "string" ? Number(/^http:\/\/127\.0\.0\.1:(\d+)\/mcp$/.exec(url)?.[1] ?? NaN) || undefined : undefined;
  } catch {
    return undefined;
  }
}

function backupOf(file: string): string {
  return `${file}.before-agent`;
}

async function backUp(file: string): Promise<void> {
  const copy = backupOf(file);
  const there = await lstat(copy).then(() => true, () => false);
  if (!there) await copyFile(file, copy);
}

/** Whether we added the list of servers too: it was missing at first, according to the copy made then. */
async function madeServers(file: string): Promise<boolean> {
  const before = await readFile(backupOf(file), "utf8").catch(() => "{}");
  try {
    return !new Reader(before).document().members.has(servers);
  } catch {
    return false;
  }
}

/** A text with our entry set; throws if it is no JSON (with comments) object. */
export function withEntry(text: string, entry: object): string {
  const { root, list, known } = find(text);
  if (known !== undefined) {
    if (same(known.value, entry)) return text;
    return text.slice(0, known.from) + JSON.stringify(entry) + text.slice(known.to);
  }
  if (list !== undefined) return insert(text, list, `"${ours}": ${JSON.stringify(entry)}`);
  return insert(text, root, `"${servers}": { "${ours}": ${JSON.stringify(entry)} }`);
}

/** A text without our entry and, if that is ours too, without the list that it leaves empty; throws as withEntry. */
export function withoutEntry(text: string, listToo: boolean): string {
  const { known } = find(text);
  if (known === undefined) return text;
  const rest = cut(text, known);
  const { list } = find(rest);
  const isEmpty = list !== undefined && rest.slice(list.from + 1, list.to - 1).trim() === "";
  return listToo && isEmpty ? cut(rest, list) : rest;
}

/** Where the list of servers is, and our entry in it. */
function find(text: string): { root: Value; list: Value | undefined; known: Value | undefined } {
  const root = new Reader(text).document();
  const list = root.members.get(servers);
  if (list !== undefined && list.members === undefined) throw new Error(`${servers} is no object`);
  return { root, list, known: list?.members?.get(ours) };
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Adds a member right behind the opening brace, where no comma before it is missing. */
function insert(text: string, into: Value, member: string): string {
  const at = into.from + 1;
  const indent = /\n([ \t]+)/.exec(text.slice(at))?.[1];
  const space = indent === undefined ? " " : `\n${indent}`;
  const isEmpty = into.members?.size === 0;
  return `${text.slice(0, at)}${space}${member}${isEmpty ? (indent === undefined ? " " : "\n") : ","}${text.slice(at)}`;
}

/** Takes a member out with the comma that goes with it. */
function cut(text: string, member: Value): string {
  const { nameFrom = member.from, commaBefore, commaAfter } = member;
  if (commaAfter !== undefined) return text.slice(0, nameFrom) + text.slice(commaAfter + 1).replace(/^[ \t]*\r?\n?[ \t]*/, "");
  // A comment between the comma and the member stays.
  if (commaBefore !== undefined) return text.slice(0, commaBefore) + text.slice(commaBefore + 1, nameFrom) + text.slice(member.to);
  return text.slice(0, nameFrom) + text.slice(member.to);
}

interface Value {
  readonly from: number;
  readonly to: number;
  readonly value: unknown;
  /** Of an object: its members' values by their names. */
  readonly members?: Map<string, Value>;
  /** Of a member: where its name begins, and the commas beside it. */
  nameFrom?: number;
  commaBefore?: number | undefined;
  commaAfter?: number | undefined;
}

/** Reads JSON with comments and trailing commas, and records positions. */
class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  document(): Value & { readonly value: Record<string, unknown>; readonly members: Map<string, Value> } {
    if (this.text.startsWith("\ufeff")) this.at = 1;
    this.space();
    const root = this.read();
    this.space();
    if (this.at < this.text.length) throw this.wrong();
    if (root.members === undefined || !isObject(root.value)) throw new Error("it is no JSON object");
    return { ...root, value: root.value, members: root.members };
  }

  private read(): Value {
    const c = this.text[this.at];
    if (c === "{") return this.object();
    if (c === "[") return this.list();
    const token = /"(?:[^"\\\u0000-\u001f]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;
    token.lastIndex = this.at;
    const found = token.exec(this.text)?.[0];
    if (found === undefined) throw this.wrong();
    const from = this.at;
    this.at += found.length;
    try {
      return { from, to: this.at, value: JSON.parse(found) as unknown };
    } catch {
      throw this.wrong();
    }
  }

  private object(): Value {
    const from = this.at++;
    const members = new Map<string, Value>();
    let comma: number | undefined;
    for (this.space(); this.text[this.at] !== "}"; this.space()) {
      const nameFrom = this.at;
      const name = this.read().value;
      if (typeof name !== "string" || members.has(name)) throw this.wrong();
      this.space();
      this.expect(":");
      this.space();
      const member = Object.assign(this.read(), { nameFrom, commaBefore: comma });
      members.set(name, member);
      comma = this.comma("}");
      member.commaAfter = comma;
    }
    this.at++;
    const value = Object.fromEntries([...members].map(([name, member]) => [name, member.value]));
    return { from, to: this.at, value, members };
  }

  private list(): Value {
    const from = this.at++;
    const value: unknown[] = [];
    for (this.space(); this.text[this.at] !== "]"; this.space()) {
      value.push(this.read().value);
      this.comma("]");
    }
    this.at++;
    return { from, to: this.at, value };
  }

  /** Takes a comma, which may be missing only before the end. */
  private comma(end: string): number | undefined {
    this.space();
    if (this.text[this.at] === ",") return this.at++;
    if (this.text[this.at] !== end) throw this.wrong();
    return undefined;
  }

  private space(): void {
    const skip = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    skip.lastIndex = this.at;
    this.at += skip.exec(this.text)?.[0].length ?? 0;
  }

  private expect(c: string): void {
    if (this.text[this.at] !== c) throw this.wrong();
    this.at++;
  }

  private wrong(): Error {
    return new Error(`it is malformed in line ${this.text.slice(0, this.at).split("\n").length}`);
  }
}
