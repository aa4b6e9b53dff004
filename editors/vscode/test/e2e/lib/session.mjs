// A host, a window and a workspace for one test file.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { extensionRoot, startHost } from "./host.mjs";
import { until } from "./wait.mjs";
import { openWorkbench } from "./workbench.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
export const vsix = path.join(extensionRoot, "agent.vsix");
const failures = path.join(extensionRoot, "out/failures");

/** A folder with these files in it; its path is without symbolic links. */
export function makeFolder(files = {}) {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "agent-ws-"));
  for (const [name, contents] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), contents);
  }
  return folder;
}

/**
 * Starts VS Code with our package (without it, if bare) on a workspace with these
 * files and waits until the extension listens. See startHost for the other options.
 */
export async function startSession({ files, folder, open, bare, ...options } = {}) {
  const workspace = folder ?? makeFolder(files);
  const host = await startHost({ vsix: bare ? [] : [vsix], unpacked: [path.join(here, "../probe")], ...options });
  const session = new Session(host, workspace);
  try {
    session.bench = await openWorkbench(host.url(open ?? workspace));
    if (!bare) await session.lock();
    await session.probe("return vscode.version");
    return session;
  } catch (error) {
    await session.stop("start");
    throw error;
  }
}

export class Session {
  constructor(host, folder) {
    this.host = host;
    this.folder = folder;
  }

  get page() {
    return this.bench.page;
  }

  file(name) {
    return path.join(this.folder, name);
  }

  read(name) {
    return fs.readFileSync(this.file(name));
  }

  /** The lock file of the window; waits until there is one. */
  lock() {
    return until("the lock file", () => this.host.locks().at(-1), 60_000);
  }

  probe(code, ...args) {
    return this.host.probe(code, ...args);
  }

  /** The labels of all tabs. */
  tabs() {
    return this.probe("return vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label))");
  }

  /** Waits until no tab shows a diff of ours. */
  async noDiffs(ms) {
    const code = `return vscode.window.tabGroups.all.flatMap((group) => group.tabs)
      .filter((tab) => tab.input instanceof vscode.TabInputTextDiff && tab.input.modified.scheme === "agent-proposed").length`;
    await until("the diffs to close", async () => (await this.probe(code)) === 0, ms);
  }

  /** What the extension has logged, in all windows so far. */
  agentLog() {
    const names = fs.readdirSync(this.host.root, { recursive: true }).filter((name) => name.endsWith("/Agent.log"));
    return names.map((name) => fs.readFileSync(path.join(this.host.root, name), "utf8")).join("");
  }

  /** Writes a script for the model; turns are objects, written as JSON, which YAML takes. */
  script(turns) {
    const file = path.join(this.host.root, `script-${fs.readdirSync(this.host.root).length}.yaml`);
    fs.writeFileSync(file, JSON.stringify({ turns }));
    return file;
  }

  /** Starts the real agent in a new integrated terminal. */
  async startAgent(turns, prompt, ...flags) {
    const script = this.script(turns);
    const quoted = ["--model", `script:${script}`, ...flags, prompt].map((word) => `'${word}'`).join(" ");
    await this.probe(
      `const terminal = vscode.window.createTerminal({ name: "agent-test", cwd: args[0] });
       terminal.show(); terminal.sendText(args[1]);`,
      this.folder,
      `agent ${quoted}`,
    );
  }

  async terminalShows(text, ms = 30_000) {
    let seen = "";
    await until(
      `the terminal to show ${JSON.stringify(text)}`,
      async () => (seen = await this.bench.terminalText()).replaceAll(/\s+/g, " ").includes(text),
      ms,
    ).catch((error) => {
      throw new Error(`${error.message}; it shows:\n${seen}`);
    });
  }

  /** Ends everything; after a failure of name, with a picture of the window and its logs kept. */
  async stop(name) {
    if (name !== undefined) await this.keep(name);
    await this.bench?.close();
    await this.host.stop();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  async keep(name) {
    const at = path.join(failures, name.replaceAll(/[^\w-]+/g, "-"));
    fs.mkdirSync(at, { recursive: true });
    await this.bench?.screenshot(path.join(at, "window.png")).catch(() => undefined);
    fs.copyFileSync(this.host.log, path.join(at, "host.log"));
    const logs = path.join(this.host.root, "server/data/logs");
    for (const folder of [logs, path.join(this.host.root, "data/logs")]) {
      if (fs.existsSync(folder)) fs.cpSync(folder, path.join(at, "logs"), { recursive: true });
    }
  }
}
