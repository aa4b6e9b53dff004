// Runs the built test files, each in a process of its own, and names what hangs:
// a file gets a time limit, after which it is killed and fails.
import fs from "node:fs";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const folder = path.resolve(process.argv[2]);
const seconds = Number(process.env.AGENT_TEST_LIMIT ?? 300) * (process.env.AGENT_TEST_FULL === "1" ? 12 : 1);
const files = fs.readdirSync(folder).filter((name) => name.endsWith(".test.js")).sort();

/** Tests that have begun and not ended, by file. */
const open = new Map();

function begun({ file, name, nesting }) {
  const names = open.get(file) ?? [];
  open.set(file, names);
  names.push({ name, nesting });
}

function ended({ file, name, nesting }) {
  const names = open.get(file) ?? [];
  const at = names.findIndex((each) => each.name === name && each.nesting === nesting);
  if (at !== -1) names.splice(at, 1);
}

function failed(data) {
  ended(data);
  process.exitCode = 1;
  if (data.details?.error?.failureType !== "testTimeoutFailure") return;
  const names = (open.get(path.resolve(data.name)) ?? []).filter(({ name }) => name !== data.name).map(({ name }) => name);
  const what = names.length > 0 ? names.join(" > ") : "all its tests have ended, but something that one of them began goes on";
  hung.push(`${path.basename(data.name)} was killed after ${seconds} s: ${what}`);
}

const hung = [];
const stream = run({ files: files.map((name) => path.join(folder, name)), timeout: seconds * 1_000, concurrency: true });
stream.on("test:dequeue", begun).on("test:pass", ended).on("test:fail", failed);
stream.compose(spec).pipe(process.stdout);
process.on("exit", () => hung.forEach((line) => console.error(`HUNG: ${line}`)));
