import { spawn } from "node:child_process";
import { dirname, relative, sep } from "node:path";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import { ToolError } from "../errors";
import { cap } from "../text";
import { checkIgnoreFiles } from "./ignorefiles";

const maxLineUnits = 500;
const maxProblem = 4_096;
const maxTimeMs = 60_000;
/** Runs a program with at most 1 GiB of data and 60 s of a processor: an ignore file may be a link to an endless device. */
const limited = 'ulimit -d 1048576 2>/dev/null; ulimit -t 60 2>/dev/null; exec "$@"';
const cause = "search a smaller folder, and see whether an ignore file there is a pipe or a device";
/** The exit code of a program that a signal ended. */
const killed = -1;
/** No configuration of the person's own, hidden files too, and not what belongs to git. */
const common = ["--no-config", "--hidden", "--no-require-git", "--no-messages", "--glob", "!.git"];

export interface Query {
  readonly regex: string;
  readonly filePattern: string | undefined;
  readonly limit: number;
}

export interface Found {
  readonly text: string;
  readonly matches: number;
  readonly truncated: boolean;
}

/** The files below a folder, relative to it, in order; the first ones up to a limit. */
export async function filesBelow(rg: string | undefined, folder: string, limit: number, cancelled: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  await checkIgnoreFiles(folder);
  await lines(rg, [...common, "--files", "--sort", "path"], folder, cancelled, (line) => {
    found.push(line.split(sep).join("/"));
    return found.length < limit;
  });
  return found;
}

/** Searches a folder or a file, line by line; names are relative to base. */
export async function searchBelow(
  rg: string | undefined,
  where: { readonly base: string; readonly target: string },
  query: Query,
  cancelled: AbortSignal,
): Promise<Found> {
  const out: string[] = [];
  let matches = 0;
  let file = "";
  let last = 0;
  const args = [...common, "--json", "--context", "1", "--sort", "path", "--crlf"];
  if (query.filePattern !== undefined) args.push("--glob", query.filePattern);
  args.push("--regexp", query.regex, "--", where.target);
  await checkIgnoreFiles((await stat(where.target)).isDirectory() ? where.target : dirname(where.target));
  await lines(rg, args, where.base, cancelled, (line) => {
    const event = JSON.parse(line) as Event;
    if (event.type !== "match" && event.type !== "context") return true;
    if (event.type === "match" && matches === query.limit) return (matches++, false);
    const name = relative(where.base, decode(event.data.path)).split(sep).join("/");
    const number = event.data.line_number;
    if (name !== file) out.push(`${out.length > 0 ? "\n" : ""}${name}`);
    else if (number > last + 1) out.push("--");
    const sign = event.type === "match" ? ">" : " ";
    out.push(`${sign} ${number} | ${cap(decode(event.data.lines).replace(/\r?\n$/, ""), maxLineUnits)}`);
    [file, last] = [name, number];
    if (event.type === "match") matches++;
    return true;
  });
  return { text: out.join("\n"), matches: Math.min(matches, query.limit), truncated: matches > query.limit };
}

/** What ripgrep prints with --json; bytes that are no UTF-8 come as base64. */
type Bytes = { readonly text: string } | { readonly bytes: string };
interface Event {
  readonly type: "begin" | "match" | "context" | "end" | "summary";
  readonly data: { readonly path: Bytes; readonly lines: Bytes; readonly line_number: number };
}

function decode(value: Bytes): string {
  return "text" in value ? value.text : Buffer.from(value.bytes, "base64").toString("utf8");
}

/** Runs ripgrep; take gets each line and returns whether to go on. */
async function lines(
  rg: string | undefined,
  args: readonly string[],
  cwd: string,
  cancelled: AbortSignal,
  take: (line: string) => boolean,
): Promise<void> {
  if (rg === undefined) throw new ToolError("SEARCH_UNAVAILABLE", "this editor has no ripgrep, and there is none on the PATH");
  const late = AbortSignal.timeout(maxTimeMs);
  const [program, ...given] = process.platform === "win32" ? [rg, ...args] : ["/bin/sh", "-c", limited, "sh", rg, ...args];
  const child = spawn(program, given, { cwd, stdio: ["ignore", "pipe", "pipe"], signal: AbortSignal.any([cancelled, late]) });
  let problem = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (problem = cap(problem + text, maxProblem)));
  const ended = new Promise<number>((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) => done(code ?? killed));
  });
  // The reader of the lines below gets the failure there.
  ended.catch(() => undefined);
  let enough = false;
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
    if (enough || take(line)) continue;
    enough = true;
    child.kill();
  }
  const code = await ended.catch((err: unknown) => {
    if (late.aborted && !cancelled.aborted) throw new ToolError("SEARCH_UNAVAILABLE", `the search did not end: ${cause}`);
    throw err;
  });
  if (!enough && code > 2) throw new ToolError("SEARCH_UNAVAILABLE", `ripgrep did not run: ${problem.trim()}`);
  if (!enough && code === killed) throw new ToolError("SEARCH_UNAVAILABLE", `the search took too much memory or time: ${cause}`);
  // 1: nothing found; 2 with results: some files could not be read.
  if (!enough && code === 2 && problem !== "") throw new ToolError("INVALID_PARAMS", problem.trim());
}
