// Serves a release to the tests of its installation: dist as the releases of GitHub below
// /releases, the same with archives that somebody changed below /tampered, and its npm
// packages as a registry below /npm. Prints its address, and ends when its input does.
//
//   node scripts/release-server.mjs FOLDER
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const dist = process.argv[2];

const packages = new Map(); // by name, with one version each
for (const file of readdirSync(join(dist, "npm"))) {
  const path = join(dist, "npm", file);
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", path, "package/package.json"], { encoding: "utf8" }));
  packages.set(manifest.name, { file, manifest, integrity: `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}` });
}

/** The answer of a registry about a package. */
function metadata(name, address) {
  const { file, manifest, integrity } = packages.get(name);
  const { version } = manifest;
  return JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist: { tarball: `${address}/npm/-/${file}`, integrity } } } });
}

function answer(path, address) {
  const release = /^\/(releases|tampered)\/(latest\/download|download\/v[^/]+)\/([\w.+-]+)$/.exec(path);
  if (release !== null) {
    const data = readFileSync(join(dist, release[3]));
    if (release[1] === "tampered" && release[3].startsWith("agent_")) data[data.length - 1000] ^= 1;
    return data;
  }
  const name = decodeURIComponent(path.slice("/npm/".length));
  if (path.startsWith("/npm/") && packages.has(name)) return metadata(name, address);
  const tarball = /^\/npm\/-\/([\w.+-]+)$/.exec(path);
  return tarball === null ? undefined : readFileSync(join(dist, "npm", tarball[1]));
}

const server = createServer((request, response) => {
  let body;
  try {
    body = answer(request.url, `http://${request.headers.host}`);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  response.writeHead(body === undefined ? 404 : 200).end(body);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.on("end", () => process.exit()).resume();
