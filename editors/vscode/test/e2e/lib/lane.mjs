// Runs the test files one after the other in one process, so that they share a
// host and a window. Several lanes take their files from one list; what runs
// longest comes first, and those that reload their window or need one of their own come last.
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { endAll } from "./ending.mjs";
import { Watchdog } from "./watchdog.mjs";

const FIRST = ["encodings", "doors", "files", "clients", "race", "typed", "terminal", "knows", "sequences"];
const LAST = ["inline", "window", "loss", "drafts", "reload", "windows", "first", "rows", "registering", "inside", "asking", "guests", "oldest"];

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

function files() {
  const all = fs.readdirSync(folder).filter((file) => file.endsWith(".test.mjs"));
  const place = (file) => {
    const name = path.basename(file, ".test.mjs");
    return FIRST.includes(name) ? FIRST.indexOf(name) - FIRST.length : LAST.indexOf(name) + 1;
  };
  return all.sort((a, b) => place(a) - place(b));
}

/** Whether a file is ours; the folder that the lanes share holds a mark for each that is taken. */
function take(file) {
  try {
    fs.writeFileSync(path.join(process.env.AGENT_TEST_LANES, file), "", { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

const watchdog = new Watchdog(process.env.AGENT_TEST_FULL === "1" ? 60 : 7);
beforeEach((t) => watchdog.saw(`in "${t.name}"`));
afterEach((t) => watchdog.saw(`after "${t.name}"`));

for (const file of files()) {
  if (!take(file)) continue;
  watchdog.entered(file);
  const from = performance.now();
  await import(pathToFileURL(path.join(folder, file)));
  // This runs after everything that the file has registered.
  await it(file, (t) => t.diagnostic(`${Math.round((performance.now() - from) / 1_000)} s`));
}
await it("the end", endAll);
