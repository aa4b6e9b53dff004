// Starts VS Code's own server with our extension in it, on folders of its own.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { KEY, leaks, traced, tracer, VARIABLE } from "./canary.mjs";
import { install } from "./install.mjs";
import { until } from "./wait.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
export const extensionRoot = path.resolve(here, "../../..");
export const projectRoot = path.resolve(extensionRoot, "../..");
const program = path.join(projectRoot, "bin/agent");
/** Our package; the program packs it before it is installed. */
export const vsix = path.join(extensionRoot, "agent.vsix");
/** The extension that lets a test look into the editor. */
export const probeExtension = path.join(here, "../probe");

/** Our settings that belong to a machine: a window on a server reads them from a file of the server's own. */
const { properties } = JSON.parse(fs.readFileSync(path.join(extensionRoot, "package.json"), "utf8")).contributes.configuration;
export const isOfMachine = (setting) => properties[setting]?.scope === "machine";

/** The longest wait for the extension host to have run a test's code, which a question may hold up for good. */
const ANSWERS = 120_000;

const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.colorTheme": "Default Dark Modern",
  "window.menuBarVisibility": "compact",
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "security.workspace.trust.enabled": false,
  "git.openRepositoryInParentFolders": "never",
  "files.autoSave": "off",
  "chat.disableAIFeatures": true,
  "terminal.integrated.gpuAcceleration": "off",
  "workbench.reduceMotion": "on",
  "editor.acceptSuggestionOnEnter": "off", // tests expect exactly the typed text
  "editor.cursorBlinking": "solid",
  // Nobody reports problems with most files here, which is waited for after each edit.
  "agent.diagnosticDelay": 200,
};

/**
 * Keeps the extension's default port from every window, for as long as this process runs. A window
 * that is loaded again lets go of its port for a moment; a window of another host could take that
 * one, and a port that nobody wishes for is not taken.
 */
let defaultPort;
function holdDefaultPort() {
  return (defaultPort ??= new Promise((done) => {
    const server = net.createServer((socket) => socket.destroy()).unref();
    server.once("error", done); // another process has it
    server.listen(properties["agent.port"].default, "127.0.0.1", done);
  }));
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function status(url) {
  return new Promise((resolve, reject) => {
    http
      .get(url, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode));
      })
      .on("error", reject);
  });
}

function goEnv(name) {
  return execFileSync("go", ["env", name], { encoding: "utf8" }).trim();
}

/** The environment of the host: nothing of an outer VS Code, a home of its own. */
function environment(root, installed, extra) {
  const home = path.join(root, "home");
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VSCODE_|XDG_|AGENT_|CI$)/.test(name)),
  );
  return {
    ...env,
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, ".config"),
    XDG_DATA_HOME: path.join(home, ".local/share"),
    XDG_CACHE_HOME: path.join(home, ".cache"),
    EXTENSIONS_GALLERY: "{}",
    VSCODE_CLI: "1", // else the PATH is taken from a login shell
    AGENT_HOME: path.join(root, "agent-home"),
    AGENT_TRIAL: "off", // tests of trials switch them on
    AGENT_LANGUAGE_SERVERS: "off", // whichever the machine has
    PATH: [...tracer(root, program), path.join(projectRoot, "bin"), path.dirname(installed.node), process.env.PATH].join(":"),
    [VARIABLE]: KEY,
    // Commands of the agent build Go programs: not from nothing, in a new home.
    GOCACHE: goEnv("GOCACHE"),
    GOPATH: goEnv("GOPATH"),
    PROBE_PORT_FILE: path.join(root, "probe.json"),
    ...extra,
  };
}

function unpack(folder, extensions) {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  const name = `${manifest.publisher}.${manifest.name}-${manifest.version}`;
  fs.cpSync(folder, path.join(extensions, name), { recursive: true });
}

/** A running host. */
export class Host {
  constructor(root, port, env) {
    this.root = root;
    this.port = port;
    this.env = env;
    this.agentHome = env.AGENT_HOME;
    /** The addresses of the servers that get the model's key as they should. */
    this.models = [];
    this.log = path.join(root, "host.log");
  }

  /** The page for a folder or a .code-workspace file; payload: see the mocha run. */
  url(folder, payload) {
    const kind = folder.endsWith(".code-workspace") ? "workspace" : "folder";
    const extra = payload ? `&payload=${encodeURIComponent(JSON.stringify(payload))}` : "";
    return `http://127.0.0.1:${this.port}/?${kind}=${encodeURIComponent(folder)}${extra}`;
  }

  /** The files with settings: the person's, and those of the machine. */
  settingsFiles() {
    return ["User", "Machine"].map((folder) => path.join(this.root, "data", folder, "settings.json"));
  }

  /** Writes the settings, for windows that are opened later. */
  configure(settings = {}) {
    const all = Object.entries({ ...SETTINGS, ...settings });
    for (const [i, file] of this.settingsFiles().entries()) {
      const part = Object.fromEntries(all.filter(([name]) => isOfMachine(name) === (i === 1)));
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, JSON.stringify(part));
    }
  }

  /** All settings as the files have them; VS Code writes a file in two steps. */
  settings() {
    return until("the settings to be written", () => Object.assign({}, ...this.settingsFiles().map((file) => JSON.parse(fs.readFileSync(file, "utf8")))));
  }

  /** The changes that lead to these settings: pairs of a name and a value, or null. */
  changes(settings = {}) {
    return this.changesTo({ ...SETTINGS, ...settings });
  }

  /** The same, with nothing added to wanted. */
  async changesTo(wanted) {
    const now = await this.settings();
    const names = [...new Set([...Object.keys(now), ...Object.keys(wanted)])];
    return names.filter((name) => JSON.stringify(now[name]) !== JSON.stringify(wanted[name])).map((name) => [name, wanted[name] ?? null]);
  }

  /**
   * Changes settings in the window: those that are written from outside are not always noticed.
   * VS Code refuses while it still reads the file of an earlier change.
   */
  configureWindow(changes) {
    return until("the settings", () => this.probe(
      `for (const [name, value] of args[0])
         await vscode.workspace.getConfiguration().update(name, value ?? undefined, vscode.ConfigurationTarget.Global);
       return true;`, changes));
  }

  /** Kills the extension host of a window, and takes away its lock. */
  killWindow({ pid, port }) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error; // it has ended, and left its lock
    }
    fs.rmSync(path.join(this.agentHome, `ide/${port}.lock`), { force: true });
  }

  /** Has the window with this process answer as the newest one. */
  makeNewest(pid) {
    fs.copyFileSync(`${this.env.PROBE_PORT_FILE}.${pid}`, this.env.PROBE_PORT_FILE);
  }

  /** Runs code in the extension host; its last window answers. */
  probe(code, ...args) {
    return this.ask(this.env.PROBE_PORT_FILE, code, args);
  }

  /** Runs code in the extension host with this process id, as its lock file names it. */
  probeIn(pid, code, ...args) {
    return this.ask(`${this.env.PROBE_PORT_FILE}.${pid}`, code, args);
  }

  async ask(file, code, args) {
    const { port } = await until("the probe", () => JSON.parse(fs.readFileSync(file, "utf8")), 120_000);
    const answer = await post(port, { code, args });
    if (!answer.ok) throw new Error(answer.error);
    return answer.value;
  }

  /** The lock files of the extension, parsed; port from the name. */
  locks() {
    const folder = path.join(this.agentHome, "ide");
    if (!fs.existsSync(folder)) return [];
    return fs
      .readdirSync(folder)
      .filter((name) => /^\d+\.lock$/.test(name))
      .map((name) => ({ port: parseInt(name, 10), ...JSON.parse(fs.readFileSync(path.join(folder, name), "utf8")) }));
  }

  /** Fails if the model's key is in a file of the host or of folder, or was sent to another than the models. */
  searchKey(folder) {
    const found = [...leaks(this.root, folder), ...traced(this.root, this.models)];
    if (found.length > 0) throw new Error(`the model's key got out:\n${found.map((each) => each.slice(0, 300)).join("\n")}`);
  }

  get hasEnded() {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async stop() {
    this.child.kill("SIGTERM");
    await until("the end of the host", () => this.hasEnded, 8_000).catch(() => this.child.kill("SIGKILL"));
    // An agent that was killed in its terminal may write for a moment.
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

function post(port, body) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: "127.0.0.1", port, method: "POST", timeout: ANSWERS }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
    });
    request.on("timeout", () => request.destroy(new Error(`the window has not answered within ${ANSWERS} ms: ${body.code}`)));
    request.on("error", reject);
    request.end(JSON.stringify(body));
  });
}

/**
 * Starts a host. options: host ("current" or "oldest"), settings, env, vsix (the
 * packages to install), unpacked (folders of extensions to copy), home (files in the
 * person's home), smoke (allow
 * tests to run inside the extension host; turns notifications off).
 */
export async function startHost(options = {}) {
  const installed = install(options.host ?? "current");
  await holdDefaultPort();
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "agent-vscode-"));
  const data = path.join(root, "data");
  const extensions = path.join(root, "extensions");
  const home = path.join(root, "home");
  for (const folder of [extensions, home]) fs.mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(options.home ?? {})) fs.writeFileSync(path.join(home, name), text);
  const env = environment(root, installed, options.env);
  const main = path.join(installed.prefix, "node_modules/code-server/lib/vscode/out/server-main.js");
  const common = [main, "--accept-server-license-terms", "--server-data-dir", path.join(root, "server")];
  common.push("--user-data-dir", data, "--extensions-dir", extensions);
  // In this order: the first package installed takes stock of the folder.
  for (const folder of options.unpacked ?? []) unpack(folder, extensions);
  for (const file of options.vsix ?? []) {
    if (file === vsix) execFileSync(program, ["ide", "install", "--to", vsix], { env, stdio: "pipe" });
    execFileSync(installed.node, [...common, "--install-extension", file], { env, stdio: "pipe" });
  }
  const port = await freePort();
  const args = [...common, "--host", "127.0.0.1", "--port", String(port), "--without-connection-token"];
  args.push("--telemetry-level", "off", "--disable-telemetry");
  if (options.smoke) args.push("--enable-smoke-test-driver");
  const log = fs.openSync(path.join(root, "host.log"), "w");
  const host = new Host(root, port, env);
  host.configure(options.settings);
  host.child = spawn(installed.node, args, { env, stdio: ["ignore", log, log] });
  fs.closeSync(log);
  await until("the host to listen", () => listening(host), 30_000);
  return host;
}

async function listening(host) {
  if (host.child.exitCode !== null) throw new Error(`the host ended: ${fs.readFileSync(host.log, "utf8")}`);
  return (await status(`http://127.0.0.1:${host.port}/version`)) === 200;
}
