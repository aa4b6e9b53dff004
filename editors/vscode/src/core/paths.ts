import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { ToolError } from "./errors";

const controls = /[\u0000-\u001f\u007f]/;
const windowsDevice = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/**
 * Refuses a path that is not plainly a file's: relative, with control characters,
 * or (on Windows) a device, a network share or a stream.
 */
export function checkPath(path: string, platform: NodeJS.Platform = process.platform): void {
  if (controls.test(path)) throw new ToolError("INVALID_PARAMS", "the path contains control characters");
  const windows = platform === "win32";
  if (!(windows ? /^[a-z]:[\\/]/i.test(path) : path.startsWith("/"))) {
    throw new ToolError("INVALID_PARAMS", `the path must be absolute and local: ${path}`);
  }
  if (!windows) return;
  const parts = path.slice(3).split(/[\\/]/);
  if (parts.some((part) => part.includes(":") || windowsDevice.test(part))) {
    throw new ToolError("INVALID_PARAMS", `the path names a device or a stream: ${path}`);
  }
}

/**
 * The path with every symbolic link resolved. For a missing file, resolves the deepest existing
 * folder and appends the rest. Refuses a dangling link: a write to it would end up elsewhere.
 */
export async function canonical(path: string): Promise<string> {
  checkPath(path);
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...rest);
    } catch (err) {
      const code = (err as NodeJS.ErrnoException).code;
      if ((code !== "ENOENT" && code !== "ENOTDIR") || dirname(at) === at) throw err;
      if (await isThere(at)) throw new ToolError("NOT_FOUND", `${at} is a symbolic link to nothing`);
      rest.unshift(basename(at));
    }
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Two canonical paths with the same key are the same file. */
export function pathKey(path: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "darwin" || platform === "win32" ? path.normalize("NFC").toLowerCase() : path;
}

/** Whether a canonical path is a folder or lies below it, by whole components. */
export function isInside(path: string, folder: string): boolean {
  const rel = relative(folder, path);
  return rel === "" || (rel !== ".." && !rel.startsWith(".." + sep) && !isAbsolute(rel));
}

/** The path relative to the deepest folder that holds it, or undefined. With "/" between its parts. */
export function relativeTo(path: string, folders: readonly string[]): string | undefined {
  const deepest = folders.filter((folder) => isInside(path, folder)).sort((a, b) => b.length - a.length)[0];
  return deepest === undefined ? undefined : relative(deepest, path).split(sep).join("/");
}

/** The name of the deepest folder that holds a path, among several; else "". */
export function folderName(path: string, folders: readonly { readonly name: string; readonly path: string }[]): string {
  const own = folders.filter((folder) => isInside(path, folder.path)).sort((a, b) => b.path.length - a.path.length)[0];
  return folders.length > 1 ? (own?.name ?? "") : "";
}
