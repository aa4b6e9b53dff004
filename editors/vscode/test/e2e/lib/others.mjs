// Programs of others that use the door for MCP clients: pinned, and installed
// into the cache of the hosts when they are first needed.
import { execFile, execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { projectRoot } from "./host.mjs";
import { cacheHome, install } from "./install.mjs";

const PINNED = {
  "@modelcontextprotocol/inspector": { version: "2.12.0", bin: "mcp-inspector" },
  "@modelcontextprotocol/conformance": { version: "0.1.16", bin: "conformance" },
  "@anthropic-ai/claude-code": { version: "2.1.332", bin: `../@anthropic-ai/claude-code-linux-${process.arch}/claude` },
  "@google/gemini-cli": { version: "0.61.0", bin: "gemini" },
};

function folderOf(name) {
  return path.join(cacheHome, "agent-vscode-host", `${path.basename(name)}-${PINNED[name].version}`);
}

/** Why a pinned program is not used here, or false: it is large, so only a full run does, and npm may have it no longer. */
export function lacks(name, size) {
  if (process.env.AGENT_TEST_FULL !== "1") return `${name} has ${size}: a run with AGENT_TEST_FULL=1 installs it`;
  if (fs.existsSync(folderOf(name))) return false;
  const { status, stderr } = spawnSync("npm", ["view", `${name}@${PINNED[name].version}`, "version"], { encoding: "utf8" });
  return status !== 0 && stderr.includes("E404") ? `npm has no ${name} ${PINNED[name].version}` : false;
}

/** The program of a pinned package; the folder gets its name last, so that half an install is never used. */
export function programOf(name) {
  const { version, bin } = PINNED[name];
  const at = folderOf(name);
  if (!fs.existsSync(at)) {
    fs.mkdirSync(path.dirname(at), { recursive: true });
    const work = fs.mkdtempSync(path.join(path.dirname(at), "new-"));
    try {
      fs.writeFileSync(path.join(work, "package.json"), JSON.stringify({ private: true, dependencies: { [name]: version } }));
      execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], { cwd: work, stdio: "pipe" });
      fs.renameSync(work, at);
    } catch (error) {
      fs.rmSync(work, { recursive: true, force: true });
      throw error;
    }
  }
  return path.join(at, "node_modules/.bin", bin);
}

/**
 * Runs a pinned program with the host's node, which is new enough for all of them. Resolves
 * to its status and output.
 */
export function runOther(name, args, { home }) {
  const { node } = install("current");
  const env = { ...process.env, HOME: home, NO_COLOR: "1" };
  return new Promise((resolve) => {
    execFile(node, [programOf(name), ...args], { env, cwd: home, timeout: 240_000, maxBuffer: 1 << 24 }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : (error.code ?? error.signal), stdout, stderr }),
    );
  });
}

/** Runs the official client for Go, built from testdata/gosdk; see there for what goes in and comes out. */
export async function runGo(request) {
  const running = promisify(execFile)("go", ["run", "./editors/vscode/test/e2e/testdata/gosdk"], { cwd: projectRoot, timeout: 240_000 });
  running.child.stdin.end(JSON.stringify(request));
  return JSON.parse((await running).stdout);
}
