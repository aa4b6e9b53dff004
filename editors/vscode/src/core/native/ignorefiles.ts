import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ToolError } from "../errors";

const maxBytes = 1024 * 1024;
/** Looking costs less than 0.1 s for so many folders; what lies below them is left to ripgrep's limits. */
const maxFolders = 500;
const inFolder = [".gitignore", ".ignore", ".rgignore", join(".git", "info", "exclude")];
const skipped = [".git", "node_modules"];

/**
 * Throws if ripgrep would read an ignore file in this folder, above it, or not far
 * below it that is no small regular file: it waits for a pipe, and reads a link to
 * an endless device until the memory is full.
 */
export async function checkIgnoreFiles(folder: string): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    await check(at);
    if (dirname(at) === at) break;
  }
  const folders = [folder];
  for (let i = 0; i < folders.length && i < maxFolders; i++) {
    const at = folders[i] ?? folder;
    if (i > 0) await check(at);
    if (folders.length >= maxFolders) continue;
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    folders.push(...entries.filter((entry) => entry.isDirectory() && !skipped.includes(entry.name)).map((entry) => join(at, entry.name)));
  }
}

async function check(folder: string): Promise<void> {
  for (const name of inFolder) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || (found.isFile() && found.size <= maxBytes) || found.isDirectory()) continue;
    throw new ToolError("SEARCH_UNAVAILABLE", `${path} is no regular file, or a very large one: search another folder, or remove it`);
  }
}
