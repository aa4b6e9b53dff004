// Makes the packages of npm from the programs in a folder of GoReleaser's: one for each
// system, and one that depends on all of them, of which npm installs the one that fits.
// Puts them into FOLDER/npm, those of the systems first, as they have to be published.
//
//   node packaging/npm/pack.mjs FOLDER
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const dist = process.argv[2];
const identity = JSON.parse(readFileSync(join(root, "identity.json"), "utf8"));
const { version } = JSON.parse(readFileSync(join(dist, "metadata.json"), "utf8"));
const programs = JSON.parse(readFileSync(join(dist, "artifacts.json"), "utf8")).filter(({ type }) => type === "Binary");
if (programs.length !== 6) throw new Error(`${dist} has ${programs.length} programs, not 6`);

const work = mkdtempSync(join(tmpdir(), "agent-npm-"));
const target = join(dist, "npm");
rmSync(target, { recursive: true, force: true });
mkdirSync(target);

const shared = {
  version,
  license: "MIT",
  homepage: `${identity.repository}#readme`,
  bugs: `${identity.repository}/issues`,
  repository: { type: "git", url: `git+${identity.repository}.git` },
};

/** Packs a folder with this manifest. */
function pack(folder, manifest) {
  for (const file of [join(root, "LICENSE"), join(root, ".cache", "release", "NOTICES.txt")]) copyFileSync(file, join(folder, file.slice(dirname(file).length + 1)));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ ...manifest, ...shared }, undefined, 2)}\n`);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", join(process.cwd(), target), folder], { stdio: ["ignore", "ignore", "inherit"] });
}

const systems = {};
for (const { path, goos, goarch } of programs) {
  const os = goos === "windows" ? "win32" : goos;
  const cpu = goarch === "amd64" ? "x64" : goarch;
  const name = `${identity.npm}-${os}-${cpu}`;
  const folder = join(work, `${os}-${cpu}`);
  const program = join(folder, "bin", os === "win32" ? "agent.exe" : "agent");
  mkdirSync(dirname(program), { recursive: true });
  copyFileSync(path, program);
  chmodSync(program, 0o755);
  writeFileSync(join(folder, "README.md"), `# ${name}\n\nThe program of [${identity.npm}](${identity.repository}) for ${os} on ${cpu}. Install \`${identity.npm}\` instead.\n`);
  pack(folder, { name, description: `agent for ${os} on ${cpu}`, os: [os], cpu: [cpu], preferUnplugged: true });
  systems[name] = version;
}

const folder = join(work, "agent");
cpSync(join(here, "package"), folder, { recursive: true });
chmodSync(join(folder, "bin", "agent"), 0o755);
pack(folder, {
  name: identity.npm,
  description: "A coding agent for the terminal that shows every edit before it is saved",
  keywords: ["agent", "ai", "coding agent", "cli", "terminal"],
  bin: { agent: "bin/agent" },
  scripts: { postinstall: "node place.cjs" },
  engines: { node: ">=18" },
  optionalDependencies: systems,
});
rmSync(work, { recursive: true });
