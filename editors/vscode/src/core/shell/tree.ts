import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Clock } from "../ports";

const run = promisify(execFile);
const graceMs = 2_000;

/** The processes that a process has started, and they, and so on; not itself. */
async function descendants(pid: number): Promise<number[]> {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid="], { maxBuffer: 16 * 1024 * 1024 });
  const children = new Map<number, number[]>();
  for (const line of stdout.trim().split("\n")) {
    const [child = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
    children.set(parent, [...(children.get(parent) ?? []), child]);
  }
  const found: number[] = [];
  const open = [pid];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const next = children.get(at) ?? [];
    found.push(...next);
    open.push(...next);
  }
  return found;
}

/**
 * Ends the descendants of a process, and with self the process too: politely first, by force after
 * two seconds. Resolves after the first step.
 */
export async function endTree(pid: number, self: boolean, clock: Clock): Promise<void> {
  if (process.platform === "win32") {
    await run("taskkill", ["/T", "/F", "/PID", String(pid)]).catch(() => undefined);
    return;
  }
  // The parent first: a shell that outlives its child has something to say about that.
  const all = [...(self ? [pid] : []), ...(await descendants(pid).catch(() => []))];
  for (const each of all) signal(each, "SIGTERM");
  clock.after(graceMs, () => {
    for (const each of all) signal(each, "SIGKILL");
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}
