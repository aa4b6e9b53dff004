// A window on a workspace, for the scenarios of a test file.
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach } from "node:test";

import { makeFolder, remove } from "./folder.mjs";
import { extensionRoot, isOfMachine, probeExtension, startHost, vsix } from "./host.mjs";
import { dropWindow, leave, putBack, sharedHost, sharedWindow } from "./rig.mjs";
import { until } from "./wait.mjs";
import { openWorkbench } from "./workbench.mjs";

/** An agent waits for 800 ms for the text that was typed in a diff; half of it is on the safe side. */
const PROMPT = 400;

/** VS Code starts another extension host within a second or two, or never. */
const STARTS = 30_000;

/** Runs in the extension host: the memory that it holds after a collection. */
const MEMORY = `const builtin = process.getBuiltinModule;
  builtin("node:v8").setFlagsFromString("--expose-gc");
  const gc = builtin("node:vm").runInNewContext("gc");
  for (let i = 0; i < 5; i++) {
    gc();
    await new Promise((done) => setImmediate(done));
  }
  return process.memoryUsage();`;

const failures = path.join(extensionRoot, "out/failures");

/**
 * A session in VS Code with our package, on a workspace with these files; the
 * extension listens. It gets the window that the process shares; with fresh, a
 * folder of its own or settings of a machine's scope, a new one in the host that
 * the process shares; with own or an option of startHost, a host of its own. bare:
 * our package is not installed there.
 */
export async function startSession(options = {}) {
  const session = await place(options);
  try {
    session.bench ??= await openWorkbench(session.host.url(options.open ?? session.folder));
    session.bench.caughtUp = () => session.probe(`await vscode.commands.executeCommand("setContext", "agent.test", true)`);
    if (!options.bare) await session.lock();
    await session.probe("return vscode.version");
    return session;
  } catch (error) {
    await session.stop("start");
    throw error;
  }
}

/** Finds the host, the folder and, if it is the shared one, the window of a session. */
async function place({ files, folder, open, fresh, own, bare, settings = {}, ...ofHost }) {
  if (own || bare || Object.keys(ofHost).length > 0) {
    const host = await startHost({ vsix: bare ? [] : [vsix], unpacked: [probeExtension], settings, ...ofHost });
    return new Session(host, folder ?? makeFolder(files), () => host.stop());
  }
  if (!fresh && folder === undefined && open === undefined && !Object.keys(settings).some(isOfMachine)) {
    const shared = await sharedWindow(files, settings);
    return Object.assign(new Session(shared.host, shared.folder), { bench: shared.bench });
  }
  await dropWindow(); // there would be two locks
  const host = await sharedHost(settings);
  return new Session(host, folder ?? makeFolder(files), () => leave(host));
}

/**
 * Has each test of this suite leave the settings as it found them, even one that fails
 * half-way. session() returns the window of the suite.
 */
export function keepSettings(session) {
  let before;
  beforeEach(async () => void (before = await session().host.settings()));
  afterEach(async () => {
    const { host } = session();
    const changed = await host.changesTo(before);
    if (changed.length > 0 && !host.hasEnded) await host.configureWindow(changed);
  });
}

export class Session {
  /** end: what ends the host when the window is closed; undefined: the window is the shared one. */
  constructor(host, folder, end) {
    this.host = host;
    this.folder = folder;
    this.end = end;
    this.earlier = new Map(this.logs().map((file) => [file, fs.statSync(file).size]));
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
    return until("the lock file", () => this.host.locks().at(-1), 120_000);
  }

  probe(code, ...args) {
    return this.host.probe(code, ...args);
  }

  /** The memory of the extension host after a collection. */
  memory() {
    return this.probe(MEMORY);
  }

  /** Changes settings of the person; those that are undefined or null are as by default again. */
  configure(values) {
    return this.host.configureWindow(Object.entries(values).map(([name, value]) => [name, value ?? null]));
  }

  /**
   * Shows a file and inserts text at the beginning of a line, without saving. An edit of
   * the document, not of its editor: that may go just now, for a file that was accepted.
   */
  typeInto(file, text, line = 0, options = { preview: false }) {
    return this.probe(
      `const document = await vscode.workspace.openTextDocument(args[0]);
       // Of two editors that are opened at once, VS Code shows one and fails for the other:
       // the extension shows a file that was accepted just now.
       const show = () => vscode.window.showTextDocument(document, args[3]);
       await show().catch(show);
       const edit = new vscode.WorkspaceEdit();
       edit.insert(document.uri, new vscode.Position(args[2], 0), args[1]);
       if (!(await vscode.workspace.applyEdit(edit))) throw new Error("the edit was not applied");`,
      file,
      text,
      line,
      options,
    );
  }

  /** Waits until a formatter of the file's language has started, which would change it. */
  formats(file) {
    const code = `await vscode.workspace.openTextDocument(args[0]);
      const edits = await vscode.commands.executeCommand("vscode.executeFormatDocumentProvider", vscode.Uri.file(args[0]), { tabSize: 4, insertSpaces: true });
      return edits?.length > 0`;
    return until("the formatter", () => this.probe(code, file));
  }

  /** Waits until another extension host than that of pid serves the extension, and its probe. */
  async backAfter(pid) {
    const isNew = (lock) => lock.pid !== pid;
    await until("the extension to be back", async () => this.host.locks().some(isNew) && (await this.probe("return process.pid")) !== pid, 120_000);
  }

  /**
   * The same after the extension host was killed. Beside load VS Code sometimes starts no
   * other: then a person reloads the window.
   */
  async backAfterKill(pid) {
    // One that was started before may be another window's.
    const hasStarted = () => fs.readFileSync(this.host.log, "utf8").split(`<${pid}> Extension Host Process exited`)[1]?.includes("Launched Extension Host Process");
    await until("another extension host", hasStarted, STARTS).catch((error) => {
      console.log(`the window is reloaded: ${error.message}`);
      return this.bench.command("Developer: Reload Window");
    });
    await this.backAfter(pid);
  }

  /** Waits until the extensions answer at once, as somebody waits who sees that a window is busy. */
  async keepsUp() {
    await until("the window to keep up", async () => {
      const from = performance.now();
      await this.probe("await vscode.commands.executeCommand('setContext', 'probe.asked', true)");
      return performance.now() - from < PROMPT;
    });
  }

  /** The labels of all tabs. */
  tabs() {
    return this.probe("return vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label))");
  }

  /** The documents of the tabs that show a diff of ours. */
  diffs() {
    return this.probe(`return vscode.window.tabGroups.all.flatMap((group) => group.tabs).map(({ input }) => input?.modified ?? input?.uri)
      .filter((uri) => ["agent-proposed", "agent-inline", "agent-plan"].includes(uri?.scheme)).map(String)`);
  }

  /** Waits until no tab shows a diff of ours. */
  async noDiffs(ms) {
    await until("the diffs to close", async () => (await this.diffs()).length === 0, ms);
  }

  /** Closes all editors, without saving anything. */
  closeEditors() {
    return this.bench.dropping(this.probe(`await vscode.commands.executeCommand("workbench.action.closeAllEditors")`));
  }

  logs() {
    const names = fs.readdirSync(this.host.root, { recursive: true }).filter((name) => name.endsWith("/Agent.log"));
    return names.map((name) => path.join(this.host.root, name));
  }

  /** The extension's log, in all windows of this session so far. */
  agentLog() {
    return this.logs().map((file) => fs.readFileSync(file).subarray(this.earlier.get(file) ?? 0).toString("utf8")).join("");
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

  async terminalShows(text, ms = 60_000) {
    let seen = "";
    await until(
      `the terminal to show ${JSON.stringify(text)}`,
      async () => (seen = await this.bench.terminalText()).replaceAll(/\s+/g, " ").includes(text),
      ms,
    ).catch((error) => {
      throw new Error(`${error.message}; it shows:\n${seen}`);
    });
  }

  /** Waits until the window leaves the agent's keys to it, in the terminal at the front; the probe has a mark for that. */
  async agentHasKeys() {
    await this.probe(`await vscode.commands.executeCommand("setContext", "probe.marks", true)`);
    await this.page.locator(".part.panel .action-label[aria-label='the agent has its keys']:visible").first().waitFor();
  }

  /** Ends everything; after a failure of name, with a picture of the window and its logs kept. */
  async stop(name) {
    if (name !== undefined) await this.keep(name);
    try {
      this.host.searchKey(this.folder);
    } finally {
      await this.leave();
    }
  }

  async leave() {
    if (this.end === undefined) return putBack();
    // Terminals outlive their window, unless they are ended.
    await this.probe("for (const terminal of vscode.window.terminals) terminal.dispose()").catch(() => undefined);
    await this.bench?.close();
    await this.end();
    remove(this.folder);
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
