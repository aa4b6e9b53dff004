import { lstat, mkdir, readdir, readFile, stat, unlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { messageOf } from "../errors";
import { exists, OwnFile, systemLiveness } from "../lockfile";
import type { Ports } from "../ports";
import { isObject } from "../schema";
import type { Guest } from "./names";

/** Where the programs of others look for an editor, by their names. */
export type Folders = Readonly<Record<string, string>>;

/** The places for a user's home, the folder for temporary files, and variables that move the former. */
export function foldersOf(home: string, temp: string, env: Readonly<Record<string, string | undefined>>): Folders {
  return {
    "Claude Code": join(env["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude"), "ide"),
    "Gemini CLI": join(temp, "gemini", "ide"),
    "Qwen Code": join(env["QWEN_HOME"] ?? join(home, ".qwen"), "ide"),
  };
}

/** The content of a file about this window, and the place of its lock. */
export interface Facts {
  readonly ports: Ports;
  readonly port: number;
  readonly pid: number;
  readonly parent: number;
  /** Our own lock; a file of ours whose lock is gone is swept away. */
  readonly lockPath: string;
}

/** The file by which the programs of one guest find this window, for its user alone to read. */
export class GuestFile {
  private readonly file: OwnFile;
  private readonly folder: string;

  constructor(
    private readonly guest: Guest,
    folder: string,
    private readonly facts: Facts,
    private readonly token: string,
  ) {
    this.folder = folder;
    this.file = new OwnFile(join(folder, this.fileName()), "if there is none");
  }

  /** Rejects if another program's file has the name: it stays as it is. */
  async write(): Promise<void> {
    await this.ownFolder();
    await sweep(this.folder);
    await this.file.write(this.content());
  }

  remove(): Promise<void> {
    return this.file.remove();
  }

  private fileName(): string {
    const { port, parent } = this.facts;
    return this.guest.name === "Gemini CLI" ? `gemini-ide-server-${parent}-${port}.json` : `${port}.lock`;
  }

  private content(): object {
    const { ports, port, pid, parent, lockPath } = this.facts;
    const { workspace } = ports;
    const paths = workspace.folders().map(({ path }) => path);
    const ours = { authToken: this.token, agentLock: lockPath, agentPid: pid };
    if (this.guest.dialect === "socket") return { pid, workspaceFolders: paths, ideName: workspace.name, transport: "ws", runningInWindows: process.platform === "win32", ...ours };
    const ideInfo = { name: "vscode", displayName: workspace.name };
    return { port, workspacePath: paths.join(delimiter), ideInfo, ideName: workspace.name, ppid: parent, ...ours };
  }

  /** Makes the folder, or refuses one in which others than this user could change files. */
  private async ownFolder(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    if (process.platform === "win32") return;
    // The parent may be in a folder for everybody's temporary files.
    for (const path of [dirname(this.folder), this.folder]) {
      const [link, { uid, mode }] = await Promise.all([lstat(path), stat(path)]);
      const me = process.getuid?.();
      if (link.uid !== me || uid !== me || (mode & 0o022) !== 0) throw new Error(`others than this user can change ${path}`);
    }
  }
}

/** Removes the files that ended windows of ours have left: their process and their lock are gone. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (await isLeft(path).catch(() => false)) await unlink(path).catch(() => undefined); // another window was quicker
  }
}

async function isLeft(path: string): Promise<boolean> {
  if (!/\.(lock|json)$/.test(path) || !(await lstat(path)).isFile()) return false;
  const content: unknown = JSON.parse(await readFile(path, "utf8"));
  const { agentLock, agentPid } = isObject(content) ? content : {};
  if (typeof agentLock !== "string" || typeof agentPid !== "number" || systemLiveness.isOurs(agentPid)) return false;
  return !(await exists(agentLock));
}

/** Why a file was not written, for the person. */
export function whyNot({ name }: Guest, { ports: { t } }: Facts, err: unknown): string {
  return t("The edits of {0} are not reviewed here: {1}", name, messageOf(err));
}
