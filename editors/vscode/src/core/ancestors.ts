import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";

/** Finds the parent of a process; undefined if it has none or the parent is unknown. */
export type ParentOf = (pid: number) => Promise<number | undefined>;

const most = 64;

/** The process itself and its ancestors, the nearest first. */
export async function lineage(pid: number, parentOf: ParentOf = systemParent): Promise<number[]> {
  const found: number[] = [];
  for (let at: number | undefined = pid; at !== undefined && at > 1 && found.length < most; at = await parentOf(at)) {
    if (found.includes(at)) break;
    found.push(at);
  }
  return found;
}

/** Asks the system: /proc if it exists, else ps. Windows keeps no reliable parents. */
async function systemParent(pid: number): Promise<number | undefined> {
  if (process.platform === "win32") return undefined;
  if (process.platform !== "linux") return wholeNumber(await ps(pid));
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name of the program, in parentheses, may hold anything.
  return wholeNumber(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? "");
}

function ps(pid: number): Promise<string> {
  return new Promise((done) => {
    execFile("/bin/ps", ["-o", "ppid=", "-p", String(pid)], { timeout: 2_000 }, (_err, stdout) => done(stdout));
  });
}

function wholeNumber(text: string): number | undefined {
  return /^\s*\d+\s*$/.test(text) ? Number(text) : undefined;
}
