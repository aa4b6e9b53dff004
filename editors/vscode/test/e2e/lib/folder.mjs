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
  for (const name of fs.readdirSync(folder)) fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  for (const [name, contents] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), contents);
  }
}
