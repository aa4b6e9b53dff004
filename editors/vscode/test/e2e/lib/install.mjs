// Installs a real VS Code workbench for the tests: its server from npm, pinned,
// into a cache that later runs share. Chromium comes from the system.
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

export const cacheHome = process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");

/** The hosts: the newest one tested, and the oldest that the manifest allows. */
export const HOSTS = {
  current: { codeServer: "4.139.1", node: "24.21.0", natives: ["@vscode/spdlog", "@vscode/native-watchdog", "node-pty"] },
  oldest: { codeServer: "4.100.3", node: "", natives: ["@vscode/spdlog", "native-watchdog", "node-pty"] },
};

/** Without a screen of its own first, which needs less. */
const CHROMIUMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

function onPath(name) {
  return spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
}

/** The browser to use, or undefined. */
export function findChromium() {
  const named = process.env.CHROMIUM;
  return named || CHROMIUMS.find((file) => fs.existsSync(file)) || onPath("chromium") || undefined;
}

/** Runs one step; its output goes to the log, whose end is shown if it fails. */
function run(log, cwd, env, command, ...args) {
  const out = fs.openSync(log, "a");
  try {
    execFileSync(command, args, { cwd, env, stdio: ["ignore", out, out] });
  } catch (error) {
    const tail = fs.readFileSync(log, "utf8").split("\n").slice(-30).join("\n");
    throw new Error(`${command} ${args.join(" ")} failed (${error.status}); the end of ${log}:\n${tail}`);
  } finally {
    fs.closeSync(out);
  }
}

function aptInstall(packages) {
  const log = path.join(os.tmpdir(), `agent-apt-${process.pid}.log`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = ["-o", "DPkg::Lock::Timeout=300", "-qq"];
  run(log, "/", env, "apt-get", ...options, "update");
  run(log, "/", env, "apt-get", ...options, "install", "-y", "--no-install-recommends", ...packages);
}

/** Requirements of the machine: a list of [name, test for it, Debian's package]. */
function requirements(host) {
  const list = [
    ["a Chromium browser (or its path in CHROMIUM)", findChromium, "chromium-headless-shell"],
    ["g++", () => onPath("g++"), "build-essential"],
    ["make", () => onPath("make"), "build-essential"],
    ["python3", () => onPath("python3"), "python3"],
  ];
  if (!host.node) list.push(["ripgrep (rg)", () => onPath("rg"), "ripgrep"]);
  return list;
}

/**
 * Ensures that the machine has everything that the host needs; installs it if this is
 * Debian and we are root. Throws with the exact list of missing things.
 */
export function ensureMachine(host) {
  const missing = () => requirements(host).filter(([, found]) => !found());
  let left = missing();
  if (left.length > 0 && process.getuid?.() === 0 && onPath("apt-get")) {
    aptInstall([...new Set(left.map(([, , pkg]) => pkg))]);
    left = missing();
  }
  if (left.length > 0) {
    const what = left.map(([name, , pkg]) => `  - ${name} (Debian: apt-get install ${pkg})`).join("\n");
    throw new Error(`The tests in VS Code need, and this machine lacks:\n${what}`);
  }
}

function npmEnv(prefix, host) {
  const env = {
    ...process.env,
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    npm_config_unsafe_perm: "true",
  };
  if (host.node) {
    env.PATH = `${path.join(prefix, "node/bin")}:${process.env.PATH}`;
    env.npm_config_nodedir = path.join(prefix, "node");
  }
  return env;
}

/** Node as an npm package: it holds the headers too, so nothing else is fetched. */
function installNode(prefix, log, version) {
  const arch = { x64: "x64", arm64: "arm64" }[process.arch];
  if (!arch) throw new Error(`There is no VS Code host for the processor ${process.arch}.`);
  run(log, prefix, process.env, "npm", "pack", `node-linux-${arch}@${version}`, "--silent");
  const archive = fs.readdirSync(prefix).find((name) => name.endsWith(".tgz"));
  fs.mkdirSync(path.join(prefix, "node"));
  run(log, prefix, process.env, "tar", "xzf", archive, "--strip-components=1", "-C", "node");
  fs.rmSync(path.join(prefix, archive));
  fs.chmodSync(path.join(prefix, "node/bin/node"), 0o755);
}

function link(target, at) {
  fs.rmSync(at, { force: true });
  fs.symlinkSync(target, at);
}

/** The links that the package's own install script would make. */
function linkTools(vscode, node) {
  link("code-linux.sh", path.join(vscode, "bin/remote-cli/code-server"));
  link("code-linux.sh", path.join(vscode, "bin/remote-cli/code"));
  link("browser-linux.sh", path.join(vscode, "bin/helpers/browser.sh"));
  link(node, path.join(vscode, "../node"));
  const rg = path.join(vscode, "node_modules/@vscode/ripgrep");
  if (fs.existsSync(rg)) {
    fs.mkdirSync(path.join(rg, "bin"), { recursive: true });
    link(onPath("rg"), path.join(rg, "bin/rg"));
  }
}

/** The parts of a workbench that this platform does not need: a third of the disk space. */
function prune(prefix, vscode) {
  const modules = path.join(vscode, "node_modules");
  for (const name of ["@github", "@microsoft/mxc-sdk", "@vscode/sqlite3"]) {
    fs.rmSync(path.join(modules, name), { recursive: true, force: true });
  }
  for (const folder of ["@vscode/ripgrep-universal/bin", "node-pty/prebuilds"]) {
    const at = path.join(modules, folder);
    if (!fs.existsSync(at)) continue;
    for (const name of fs.readdirSync(at).filter((entry) => /^(darwin|win32)/.test(entry))) {
      fs.rmSync(path.join(at, name), { recursive: true });
    }
  }
  fs.rmSync(path.join(prefix, "node/include"), { recursive: true, force: true });
}

function build(prefix, host) {
  const log = path.join(prefix, "install.log");
  if (host.node) installNode(prefix, log, host.node);
  const env = npmEnv(prefix, host);
  const manifest = { name: "vscode-host", private: true, dependencies: { "code-server": host.codeServer } };
  fs.writeFileSync(path.join(prefix, "package.json"), JSON.stringify(manifest));
  run(log, prefix, env, "npm", "install", "--ignore-scripts");
  const vscode = path.join(prefix, "node_modules/code-server/lib/vscode");
  run(log, vscode, env, "npm", "install", "--omit=dev", "--ignore-scripts");
  run(log, path.join(vscode, "extensions"), env, "npm", "install", "--omit=dev", "--ignore-scripts");
  rebuild(log, vscode, env, host.natives);
  linkTools(vscode, nodeOf(prefix, host));
  prune(prefix, vscode);
}

/** In the oldest host node-pty's last step fails after it has been built. */
function rebuild(log, vscode, env, natives) {
  for (const name of natives) {
    try {
      run(log, vscode, env, "npm", "rebuild", "--foreground-scripts", name);
    } catch (error) {
      const built = path.join(vscode, "node_modules", name, "build/Release/pty.node");
      if (name !== "node-pty" || !fs.existsSync(built)) throw error;
    }
  }
}

function nodeOf(prefix, host) {
  return host.node ? path.join(prefix, "node/bin/node") : process.execPath;
}

/**
 * Installs the host called name unless it is there; resolves to its folder and
 * the node that runs it. A broken install is never taken for a whole one: the
 * folder gets its name last.
 */
export function install(name) {
  const host = HOSTS[name];
  if (process.platform !== "linux") throw new Error("The tests in VS Code run on Linux only.");
  ensureMachine(host);
  const prefix = path.join(cacheHome, "agent-vscode-host", `${host.codeServer}-node${host.node || process.versions.node}`);
  const found = { prefix, node: nodeOf(prefix, host) };
  if (fs.existsSync(prefix)) return found;
  fs.mkdirSync(path.dirname(prefix), { recursive: true });
  const work = fs.mkdtempSync(path.join(path.dirname(prefix), "new-"));
  try {
    build(work, host);
    linkTools(path.join(work, "node_modules/code-server/lib/vscode"), found.node);
    fs.renameSync(work, prefix);
  } catch (error) {
    fs.rmSync(work, { recursive: true, force: true });
    throw error;
  }
  return found;
}

/** Installs the hosts of these names; what goes wrong is said without a trace of the stack. */
function main(names) {
  try {
    for (const name of names) process.stdout.write(`${name}: ${install(name).prefix}\n`);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) main(process.argv.slice(2));
