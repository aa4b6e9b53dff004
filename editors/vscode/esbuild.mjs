// Bundles the extension into out/extension.js, or with --tests each test under test/core
// and test/adapter into its own file under out/test, or with --conformance the server for
// the official conformance suite.
import { build, context } from "esbuild";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// The extension has to load fast and stay readable as one file.
const maxBundleBytes = 600 * 1024;

const common = {
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode", "bufferutil", "utf-8-validate"],
  // The SDK would bring a validator of 150 KiB for answers of clients to forms, which we never send.
  alias: { "@modelcontextprotocol/server/_shims": "./src/core/mcp/shims.ts" },
  logLevel: "warning",
};

const extension = {
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "out/extension.js",
  minify: true,
  keepNames: false,
  legalComments: "eof",
  sourcemap: "external",
  metafile: true,
};

if (process.argv.includes("--tests")) {
  rmSync("out/test", { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: testFiles(["test/core", "test/adapter"]),
    outdir: "out/test",
    outbase: "test",
    sourcemap: "inline",
  });
} else if (process.argv.includes("--conformance")) {
  await build({ ...common, entryPoints: ["test/conformance/server.ts"], outfile: "out/conformance/server.js" });
} else if (process.argv.includes("--watch")) {
  const watcher = await context({ ...extension, minify: false, sourcemap: "linked" });
  await watcher.watch();
} else {
  const result = await build(extension);
  const size = result.metafile.outputs["out/extension.js"].bytes;
  console.log(`out/extension.js: ${(size / 1024).toFixed(0)} KiB`);
  if (size > maxBundleBytes) {
    console.error(`the bundle may have ${maxBundleBytes / 1024} KiB at most`);
    process.exit(1);
  }
  writeFileSync("out/NOTICES.txt", notices(Object.keys(result.metafile.inputs)));
}

/** The licences of the bundled packages, as they require. */
function notices(inputs) {
  const packages = new Set(inputs.map((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]).filter(Boolean));
  const texts = [...packages].sort().map((name) => {
    const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
    return `${name} ${version}\n\n${licence(name)}\n`;
  });
  return `This extension contains:\n\n${texts.join("\n---\n\n")}`;
}

function licence(name) {
  const file = readdirSync(`node_modules/${name}`).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence`);
  return readFileSync(`node_modules/${name}/${file}`, "utf8").trim();
}

function testFiles(folders) {
  return folders.flatMap((folder) => {
    try {
      return readdirSync(folder)
        .filter((name) => name.endsWith(".test.ts"))
        .map((name) => join(folder, name));
    } catch (err) {
      if (err.code === "ENOENT") return [];
      throw err;
    }
  });
}
