import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

const name = process.platform === "win32" ? "agent.exe" : "agent";

export interface Places {
  /** The setting; empty if unset. */
  readonly setting: string;
  readonly path: string;
  readonly home: string;
}

/**
 * Finds the program: where the setting says, else on the PATH, else where Go and
 * package managers put programs. onPath: it can be called by its name.
 */
export async function findProgram({ setting, path, home }: Places): Promise<{ file: string; onPath: boolean } | undefined> {
  if (setting !== "") return (await runs(setting)) ? { file: setting, onPath: false } : undefined;
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    if (await runs(join(folder, name))) return { file: name, onPath: true };
  }
  for (const folder of [join(home, "go/bin"), join(home, ".local/bin"), join(home, "bin"), "/usr/local/bin", "/opt/homebrew/bin"]) {
    if (await runs(join(folder, name))) return { file: join(folder, name), onPath: false };
  }
  return undefined;
}

async function runs(file: string): Promise<boolean> {
  return isAbsolute(file) && access(file, constants.X_OK).then(() => true, () => false);
}

/** The program as a word of a command line. */
export function quoted(file: string): string {
  if (/^[\w./:\\-]+$/.test(file)) return file;
  return process.platform === "win32" ? `& "${file}"` : `'${file.replaceAll("'", "'\\''")}'`;
}
