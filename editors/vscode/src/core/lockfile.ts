import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, lstat, mkdir, open, readdir, readFile, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "./errors";
import { provesItself } from "./proof";
import type { protocolVersion } from "./proof";
import { isObject } from "./schema";
import { isAnswered, isSocketName, secretOf } from "./secretsocket";
import type { Known } from "./secretsocket";

/** The content of the lock file, part of the protocol. Times are milliseconds since the epoch. */
export type LockContent = Known & {
  readonly v: typeof protocolVersion;
  readonly pid: number;
  readonly workspaceFolders: readonly string[];
  readonly realFolders: readonly string[];
  readonly ideName: string;
  readonly transport: "ws";
  /** Opens /bridge. */
  readonly authToken: string;
  readonly trusted: boolean;
  readonly startedAt: number;
  readonly focusedAt: number;
  readonly extVersion: string;
  /** The other ways in, by their addresses. */
  readonly doors: readonly { readonly kind: "mcp" | "bridge"; readonly url: string }[];
};

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

  constructor(
    readonly path: string,
    /** In a folder of others, a file that is not ours stays as it is. */
    private readonly replaces: "any file" | "if there is none" = "any file",
  ) {}

  /** Writes are done in the order of the calls; undefined: there is to be no file. None comes after remove. */
  write(content: object | undefined): Promise<void> {
    if (this.over) return this.work;
    if (content === undefined) return this.next(() => this.unlink());
    const text = JSON.stringify(content);
    return this.next(async () => {
      if (this.replaces === "any file") await replace(this.path, text);
      else await this.writeOwn(text);
      this.written = text;
    });
  }

  /** Removes the file, unless it has become somebody else's. */
  remove(): Promise<void> {
    this.over = true;
    return this.next(() => this.unlink());
  }

  private async writeOwn(text: string): Promise<void> {
    const found = await readFile(this.path, "utf8").catch(() => undefined);
    if (found !== undefined && found === this.written) return found === text ? undefined : replace(this.path, text);
    await replace(this.path, text, { add: link }).catch((err: unknown) => {
      throw isTaken(err) ? new Error(`${this.path} is the file of another program`) : err;
    });
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

function isTaken(err: unknown): boolean {
  return (err as NodeJS.ErrnoException).code === "EEXIST";
}

/** Puts a file in place of another, or of none, whole; as its owner's alone, if no mode is given. add: fails if there is one. */
export async function replace(path: string, text: string, { mode = 0o600, add }: { mode?: number; add?: typeof link } = {}): Promise<void> {
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
    if (add === undefined) return await rename(temp, path);
    await add(temp, path);
    await unlink(temp);
  } catch (err) {
    await file.close().catch(() => undefined);
    await unlink(temp).catch(() => undefined);
    throw err;
  }
}

/** How to find out whether the owner of a lock is still there. */
export interface Liveness {
  /** Whether there is such a process, and it is not another user's. */
  isOurs(pid: number): boolean;
  /** Whether what listens on the port of the loopback address knows the secret. */
  proves(port: number, secret: string): Promise<boolean>;
}

/**
 * Removes the locks of closed windows: the process has ended, and the program on the port, if any,
 * does not know the secret. The process alone proves too little: a window in a container that
 * shares the folder has other process ids. Returns the removed locks and those that could not be
 * removed.
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

/** Whether a port is that of a window of ours: its lock names a process of ours that lives, and what listens knows its secret. */
export async function isWindow(folder: string, port: number, alive: Liveness): Promise<boolean> {
  const lock = await readLock(join(folder, `${port}.lock`)).catch(() => undefined);
  if (lock?.pid === undefined || !alive.isOurs(lock.pid)) return false;
  const secret = await secretOf(lock.content);
  return secret !== undefined && alive.proves(port, secret);
}

/** The ports of the other windows with these folders, but for those of this process. */
export async function portsOf(folder: string, { workspaceFolders, pid }: Pick<LockContent, "workspaceFolders" | "pid">, alive: Pick<Liveness, "isOurs">): Promise<number[]> {
  const ports = (await readdir(folder)).map(portOf).filter((port) => port !== undefined);
  const found = await Promise.all(ports.map(async (port) => ({ port, lock: await readLock(join(folder, `${port}.lock`)).catch(() => undefined) })));
  const isSame = (folders: unknown): boolean => JSON.stringify(folders) === JSON.stringify(workspaceFolders);
  return found.filter(({ lock }) => lock?.pid !== undefined && lock.pid !== pid && alive.isOurs(lock.pid) && isSame(lock.content["workspaceFolders"])).map(({ port }) => port);
}

/** The port of a lock's name. */
function portOf(name: string): number | undefined {
  const port = /^(\d{1,5})\.lock$/.exec(name)?.[1];
  return port === undefined ? undefined : Number(port);
}

async function isDead(folder: string, name: string, alive: Liveness): Promise<boolean> {
  const left = /^\.(\d+)-[0-9a-f]+\.tmp$/.exec(name);
  if (left !== null) return !alive.isOurs(Number(left[1]));
  if (isSocketName(name) && (await isAnswered(join(folder, name)))) return false; // its lock is written after it
  if (isEntry(name)) return !(await exists(join(folder, `${parseInt(name, 10)}.lock`)));
  const port = portOf(name);
  if (port === undefined) return false;
  const lock = await readLock(join(folder, name));
  if (lock?.pid === undefined || alive.isOurs(lock.pid)) return false;
  const secret = await secretOf(lock.content);
  if (secret !== undefined && (await alive.proves(port, secret))) return false;
  // A window that started at the same time may have taken the port, and written its own lock.
  return (await readLock(join(folder, name)))?.text === lock.text;
}

/** Reads a lock of a window; undefined if it is malformed or no file of its own. */
async function readLock(path: string): Promise<{ text: string; pid: number | undefined; content: Record<string, unknown> } | undefined> {
  if (!(await lstat(path)).isFile()) return undefined;
  const text = await readFile(path, "utf8");
  const content = parse(text);
  if (content === undefined) return undefined;
  const { pid } = content;
  return { text, pid: typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 ? pid : undefined, content };
}

/** Whether a file belongs to a lock: the entry for clients of /mcp, a request for the port, or the socket. */
function isEntry(name: string): boolean {
  return isSocketName(name) || /^\d{1,5}\.(mcp\.json|next)$/.test(name);
}

/** Whether something is there, or it cannot be told. */
export async function exists(path: string): Promise<boolean> {
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

/** Asks the operating system, and who listens. */
export const systemLiveness: Liveness = {
  isOurs(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false; // missing, or another user's
    }
  },
  proves: provesItself,
};
