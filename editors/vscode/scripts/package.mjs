// Builds agent.vsix, the same bytes wherever and whenever it is built, and puts a
// copy into dist/, from where the Go program embeds it. With --check it builds and
// changes nothing, but fails if dist/agent.vsix holds something else. Refuses to pack
// a file that the list below does not know.
import { execFileSync } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, copyFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import yauzl from "yauzl";
import yazl from "yazl";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const vsce = join(root, "node_modules", "@vscode", "vsce", "vsce");
const built = join(root, "agent.vsix");
const embedded = join(root, "dist", "agent.vsix");
const allowed = /^(out\/(extension\.js|NOTICES\.txt)|package\.json|package\.nls(\.[a-z-]+)?\.json|l10n\/bundle\.l10n\.[a-z-]+\.json|README\.md|CHANGELOG\.md|LICENSE(\.txt)?|media\/[\w./-]+\.(png|svg|md))$/;
// A zip file has local times, of which these are the first.
const begin = new Date(1980, 0, 1);

function run(...args) {
  return execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** The files in a zip file, by name. */
async function contents(path) {
  const zip = await promisify(yauzl.open)(path, { lazyEntries: true, autoClose: false });
  const open = promisify(zip.openReadStream.bind(zip));
  const found = new Map();
  await new Promise((done, fail) => {
    zip.on("error", fail).on("end", done).on("entry", (entry) => {
      open(entry).then(buffer).then((data) => {
        found.set(entry.fileName, data);
        zip.readEntry();
      }, fail);
    });
    zip.readEntry();
  });
  zip.close();
  return found;
}

/** Writes files in the order of their names, without the times and modes of this machine. */
async function write(path, files) {
  const zip = new yazl.ZipFile();
  for (const [name, data] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    zip.addBuffer(data, name, { mtime: begin, mode: 0o100644, forceDosTimestamp: true });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(`${path}.part`));
  renameSync(`${path}.part`, path);
}

/** The names of what differs between two maps of files. */
function differences(a, b) {
  return [...new Set([...a.keys(), ...b.keys()])].filter((name) => !a.has(name) || !b.has(name) || !a.get(name).equals(b.get(name)));
}

process.stdout.write(run("esbuild.mjs"));
const names = run(vsce, "ls", "--no-dependencies").split("\n").filter((line) => line.trim() !== "");
const strangers = names.filter((file) => !allowed.test(file));
if (strangers.length > 0) {
  console.error(`these files do not belong into the package: ${strangers.join(", ")}`);
  process.exit(1);
}
checkPictures();
// Without these the addresses in the README lack the folder of the extension.
const repository = "https://github.com/bb2d0cf4/agent";
const folder = "editors/vscode";
const addresses = ["--baseImagesUrl", `${repository}/raw/HEAD/${folder}`, "--baseContentUrl", `${repository}/blob/HEAD/${folder}`];
run(vsce, "package", "--no-dependencies", "--skip-license", ...addresses, "--out", built);
const files = await contents(built);
await write(built, files);

// Another version of Node.js may pack the same files into other bytes: then the old ones stay.
const stale = differences(files, existsSync(embedded) ? await contents(embedded) : new Map());
if (process.argv.includes("--check")) {
  if (stale.length > 0) {
    console.error(`editors/vscode/dist/agent.vsix is not what the extension is now (${stale.join(", ")}): run make vsix and commit it`);
    process.exit(1);
  }
} else if (stale.length > 0) {
  mkdirSync(dirname(embedded), { recursive: true });
  copyFileSync(built, embedded);
}
console.log(`agent.vsix: ${(readFileSync(built).length / 1024).toFixed(0)} KiB, ${names.length} files`);

/** Refuses a README with a picture that is not in the folder of the extension. */
function checkPictures() {
  for (const [, file] of readFileSync(join(root, "README.md"), "utf8").matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)) {
    if (!file.includes(":") && existsSync(join(root, file))) continue;
    console.error(`the picture ${file} of the README would be broken`);
    process.exit(1);
  }
}
