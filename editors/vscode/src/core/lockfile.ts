import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, rename, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { messageOf } from "./errors";
import { isObject } from "./schema";

/** What is in the lock file; part of the protocol. Times are milliseconds since the epoch. */
export interface LockContent {
  readonly v: 1;
  readonly pid: number;
  readonly workspaceFolders: readonly string[];
  readonly realFolders: readonly string[];
  readonly ideName: string;
  readonly transport: "ws";
  readonly authToken: string;
  readonly trusted: boolean;
  readonly startedAt: number;
  readonly focusedAt: number;
  readonly extVersion: string;
  /** The other ways in, by their addresses. */
  readonly doors: readonly { readonly kind: "mcp" | "bridge"; readonly url: string }[];
}

/**
 * The folder of lock files below the home of agent. Made if missing; refused if
 * others than this user could put or read files there.
 */
export async function lockFolder(home: string): Promise<string> {
  const folder = join(home, "ide");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const stat = await lstat(folder);
  if (!stat.isDirectory()) throw new Error(`${folder} is not a folder`);
  if (process.platform === "win32") return folder;
  if (stat.uid !== process.getuid?.()) throw new Error(`${folder} belongs to somebody else`);
  if ((stat.mode & 0o077) !== 0) throw new Error(`${folder} is open to other users; run: chmod 700 ${folder}`);
  return folder;
}

/**
 * A file of ours in the folder. Readers find it whole or not at all, and readable
 * by its owner alone at every instant.
 */
export class OwnFile {
  private written: string | undefined;
  private work: Promise<void> = Promise.resolve();
  private over = false;

  constructor(readonly path: string) {}

  /** Writes are done in the order of the calls; undefined: there is to be no file. None comes after remove. */
  write(content: object | undefined): Promise<void> {
    if (this.over) return this.work;
    if (content === undefined) return this.next(() => this.unlink());
    const text = JSON.stringify(content);
    return this.next(async () => {
      await replace(this.path, text);
      this.written = text;
    });
  }

  /** Removes the file, unless it has become somebody else's. */
  remove(): Promise<void> {
    this.over = true;
    return this.next(() => this.unlink());
  }

  private async unlink(): Promise<void> {
    if (this.written === undefined) return;
    const found = await readFile(this.path, "utf8").catch(() => undefined);
    if (found === this.written) await unlink(this.path);
    this.written = undefined;
  }

  private next(task: () => Promise<void>): Promise<void> {
    this.work = this.work.then(task, task);
    return this.work;
  }
}

/** Puts a file in place of another, or of none, whole; as its owner's alone, if no mode is given. */
export async function replace(path: string, text: string, mode = 0o600): Promise<void> {
  const temp = join(dirname(path), `.${process.pid}-${randomBytes(8).toString("hex")}.tmp`);
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  // Undefined on Windows.
  const noFollow = (constants.O_NOFOLLOW as number | undefined) ?? 0;
  const file = await open(temp, O_CREAT | O_EXCL | O_WRONLY | noFollow, 0o600);
  try {
    await file.writeFile(text);
    if (mode !== 0o600) await file.chmod(mode);
    await file.sync();
    await file.close();
    await rename(temp, path);
  } catch (err) {
    await file.close().catch(() => undefined);
    await unlink(temp).catch(() => undefined);
    throw err;
  }
}

/** How to find out whether the owner of a lock is still there. */
export interface Liveness {
  pidAlive(pid: number): boolean;
  /** Whether something takes connections on the port of the loopback address. */
  listens(port: number): Promise<boolean>;
}

/**
 * Removes the locks of windows that are gone: nobody listens on the port and the
 * process is dead. Either alone says too little (a container, another host's
 * process numbers, a port in use by something else). Returns what was removed
 * and what could not be.
 */
export async function sweep(folder: string, alive: Liveness): Promise<{ removed: string[]; problems: string[] }> {
  const removed: string[] = [];
  const problems: string[] = [];
  // A file without process beside the lock that tells about it: the locks come first.
  const names = (await readdir(folder)).sort((a, b) => Number(isEntry(a)) - Number(isEntry(b)));
  for (const name of names) {
    try {
      if (!(await isDead(folder, name, alive))) continue;
      await unlink(join(folder, name));
      removed.push(name);
    } catch (err) {
      problems.push(messageOf(err));
    }
  }
  return { removed, problems };
}

async function isDead(folder: string, name: string, alive: Liveness): Promise<boolean> {
  const left = /^\.(\d+)-[0-9a-f]+\.tmp$/.exec(name);
  if (left !== null) return !alive.pidAlive(Number(left[1]));
  if (isEntry(name)) {
    const port = parseInt(name, 10);
    return !(await exists(join(folder, `${port}.lock`))) && !(await alive.listens(port));
  }
  const lock = /^(\d{1,5})\.lock$/.exec(name);
  const path = join(folder, name);
  if (lock === null || !(await lstat(path)).isFile()) return false;
  const pid = parse(await readFile(path, "utf8"))?.["pid"];
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return false;
  return !alive.pidAlive(pid) && !(await alive.listens(Number(lock[1])));
}

/** Whether it is the entry for clients of /mcp that a window writes beside its lock. */
function isEntry(name: string): boolean {
  return /^\d{1,5}\.mcp\.json$/.test(name);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (err: NodeJS.ErrnoException) => err.code !== "ENOENT",
  );
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const connectMs = 300;

/** Asks the operating system. */
export const systemLiveness: Liveness = {
  pidAlive(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return true;
    } catch (err) {
      return (err as NodeJS.ErrnoException).code !== "ESRCH";
    }
  },
  listens(port: number): Promise<boolean> {
    return new Promise((done) => {
      const socket = connect({ host: "127.0.0.1", port, timeout: connectMs });
      const end = (listens: boolean): void => {
        socket.destroy();
        done(listens);
      };
      socket.on("connect", () => end(true));
      // Slow is not dead.
      socket.on("timeout", () => end(true));
      socket.on("error", (err: NodeJS.ErrnoException) => end(err.code !== "ECONNREFUSED"));
    });
  },
};
