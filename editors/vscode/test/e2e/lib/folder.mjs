// Workspaces of the tests.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** A folder with these files in it; its path is without symbolic links. */
export function makeFolder(files = {}) {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "agent-ws-"));
  fill(folder, files);
  return folder;
}

/** Puts just these files into a folder. */
export function fill(folder, files = {}) {
  for (const name of fs.readdirSync(folder)) remove(path.join(folder, name));
  for (const [name, contents] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), contents);
  }
}

/**
 * Removes a file or folder with all in it. A program that ends may still write there: a file
 * made after the folder was read makes a removal fail, so it is repeated.
 */
export function remove(name) {
  for (let left = 50; ; left--) {
    try {
      return fs.rmSync(name, { recursive: true, force: true, maxRetries: 1, retryDelay: 100 });
    } catch (error) {
      if (error.code !== "ENOTEMPTY" || left === 0) throw error;
    }
  }
}
