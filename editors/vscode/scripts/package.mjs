// Builds agent.vsix and puts a copy into dist/, from where the Go program embeds
// it. Refuses to pack a file that the list below does not know.
import { copyFileSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const vsce = join(root, "node_modules", "@vscode", "vsce", "vsce");
const allowed = /^(out\/(extension\.js|NOTICES\.txt)|package\.json|README\.md|CHANGELOG\.md|LICENSE(\.txt)?|media\/[\w./-]+\.(png|svg|md))$/;

function run(...args) {
  return execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

process.stdout.write(run("esbuild.mjs"));
const files = run(vsce, "ls", "--no-dependencies").split("\n").filter((line) => line.trim() !== "");
const strangers = files.filter((file) => !allowed.test(file));
if (strangers.length > 0) {
  console.error(`these files do not belong into the package: ${strangers.join(", ")}`);
  process.exit(1);
}
run(vsce, "package", "--no-dependencies", "--skip-license", "--out", "agent.vsix");
copyFileSync(join(root, "agent.vsix"), join(root, "dist", "agent.vsix"));
console.log(`agent.vsix: ${(readFileSync(join(root, "agent.vsix")).length / 1024).toFixed(0)} KiB, ${files.length} files`);
