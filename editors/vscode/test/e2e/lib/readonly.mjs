// Files that cannot be written, not even by root.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

/** Makes a file that cannot be written or replaced; the returned function makes it writable again. */
export function readOnly(file) {
  if (process.getuid() !== 0) {
    const modes = [file, path.dirname(file)].map((each) => [each, fs.statSync(each).mode & 0o7777]);
    for (const [each, mode] of modes) fs.chmodSync(each, mode & 0o7555);
    return () => modes.forEach(([each, mode]) => fs.chmodSync(each, mode));
  }
  const attribute = (change) => execFileSync("chattr", [change, file], { stdio: "pipe" });
  attribute("+i");
  return () => attribute("-i");
}
