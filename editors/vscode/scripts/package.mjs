// Builds the extension and puts the files of its package into dist/, from where the Go
// program embeds them and packs them when it installs them: the same bytes wherever and
// whenever they are built. With --check it builds and changes nothing, but fails if dist/
// holds something else. Refuses a file that the list below does not know.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import yauzl from "yauzl";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const vsce = join(root, "node_modules", "@vscode", "vsce", "vsce");
const dist = join(root, "dist");
const allowed = /^(out\/((extension|sdk)\.js|NOTICES\.txt)|package\.json|package\.nls(\.[a-z-]+)?\.json|l10n\/bundle\.l10n\.[a-z-]+\.json|README\.md|CHANGELOG\.md|LICENSE(\.txt)?|syntaxes\/[a-z]+\.json|media\/((icon|status)\.png|[\w.-]+\.(svg|md)))$/;

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

/** The files in a folder, by name. */
function filesIn(folder) {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
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
const work = mkdtempSync(join(tmpdir(), "agent-vsix-"));
run(vsce, "package", "--no-dependencies", "--skip-license", ...addresses, "--out", join(work, "agent.vsix"));
const files = await contents(join(work, "agent.vsix"));
rmSync(work, { recursive: true });

const stale = differences(files, filesIn(dist));
if (process.argv.includes("--check")) {
  if (stale.length > 0) {
    console.error(`editors/vscode/dist is not what the extension is now (${stale.join(", ")}): run make vsix and commit it`);
    process.exit(1);
  }
} else if (stale.length > 0) {
  for (const name of stale) {
    mkdirSync(dirname(join(dist, name)), { recursive: true });
    if (files.has(name)) writeFileSync(join(dist, name), files.get(name));
    else rmSync(join(dist, name));
  }
}
const size = [...files.values()].reduce((sum, { length }) => sum + length, 0);
console.log(`dist: ${(size / 1024).toFixed(0)} KiB, ${files.size} files`);

/** Refuses a README with a picture that is not in the folder of the extension. */
function checkPictures() {
  for (const [, file] of readFileSync(join(root, "README.md"), "utf8").matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)) {
    if (!file.includes(":") && existsSync(join(root, file))) continue;
    console.error(`the picture ${file} of the README would be broken`);
    process.exit(1);
  }
}
