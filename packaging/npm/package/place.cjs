// Puts the program itself in the place of the script that starts it, where the system allows
// that: Ctrl+Z then stops the program and not a process between it and the shell. Without it,
// as with --ignore-scripts, the script stays.
"use strict";

const { copyFileSync, linkSync, renameSync, rmSync } = require("node:fs");
const { join } = require("node:path");
const { program } = require("./find.cjs");

if (process.platform !== "win32") {
  const script = join(__dirname, "bin", "agent");
  const fresh = `${script}.new`;
  rmSync(fresh, { force: true });
  try {
    linkSync(program(), fresh);
  } catch (error) {
    if (error.code === undefined) {
      console.error(error.message);
      process.exit(1);
    }
    copyFileSync(program(), fresh); // another file system
  }
  renameSync(fresh, script);
}
