// Bundles the extension into out/extension.js and out/sdk.js, or with --tests each test under test/core
// and test/adapter into its own file under out/test, or with --conformance the server for
// the official conformance suite.
import { build, context } from "esbuild";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// The extension has to load fast: what each window loads, and all of it.
const maxBytes = { "out/extension.js": 320 * 1024, all: 600 * 1024 };

const common = {
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode", "bufferutil", "utf-8-validate"],
  // The SDK would bring a validator of 150 KiB for answers of clients to forms, which we never send.
  alias: { "@modelcontextprotocol/server/_shims": "./src/core/mcp/shims.ts" },
  charset: "utf8",
  logLevel: "warning",
};

/** Leaves the SDK to a file of its own, which is loaded with the first client that needs it. */
const apart = {
  name: "apart",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/sdk$/ }, ({ path, kind }) => (kind === "dynamic-import" ? { path, external: true } : undefined));
  },
};

/** Leaves out the compression of WebSocket messages: our server has it switched off. */
const uncompressed = {
  name: "uncompressed",
  setup({ onLoad }) {
    onLoad({ filter: /ws\/lib\/permessage-deflate\.js$/ }, () => ({ contents: 'exports.extensionName = "permessage-deflate";' }));
  },
};

const extension = {
  ...common,
  entryPoints: ["src/extension.ts", "src/core/mcp/sdk.ts"],
  outdir: "out",
  entryNames: "[name]",
  plugins: [apart, uncompressed],
  supported: { "dynamic-import": false },
  minify: true,
  keepNames: false,
  legalComments: "external",
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
  const sizes = Object.entries(result.metafile.outputs).filter(([name]) => name.endsWith(".js")).map(([name, { bytes }]) => [name, bytes]);
  sizes.push(["all", sizes.reduce((sum, [, bytes]) => sum + bytes, 0)]);
  for (const [name, bytes] of sizes) {
    console.log(`${name}: ${(bytes / 1024).toFixed(0)} KiB`);
    const most = maxBytes[name] ?? maxBytes.all;
    if (bytes <= most) continue;
    console.error(`${name} may have ${most / 1024} KiB at most`);
    process.exitCode = 1;
  }
  writeFileSync("out/NOTICES.txt", notices(Object.keys(result.metafile.inputs)) + legalComments());
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

/** The licences that a bundled package names in its own text, for code that it has bundled. */
function legalComments() {
  const files = readdirSync("out").filter((name) => name.endsWith(".LEGAL.txt")).map((name) => join("out", name));
  const texts = files.map((file) => `\n---\n\n${readFileSync(file, "utf8")}`);
  files.forEach((file) => rmSync(file));
  return texts.join("");
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
