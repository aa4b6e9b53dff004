// The scenarios of a process share a host and a window of it on a folder, which are reset
// for each session. Opening a window costs ten seconds of CPU time, and there are dozens of
// sessions.
import fs from "node:fs";
import path from "node:path";

import { atEnd } from "./ending.mjs";
import { fill, makeFolder, remove } from "./folder.mjs";
import { probeExtension, startHost, vsix } from "./host.mjs";
import { until } from "./wait.mjs";
import { openWorkbench } from "./workbench.mjs";

/** How long a window that was closed may take to let go of everything. */
const LEAVES = 5_000;

let host;
let window;

/** The host of this process, with our package in it; with settings for windows that are opened now, if there are any. */
export async function sharedHost(settings) {
  host ??= startHost({ vsix: [vsix], unpacked: [probeExtension] });
  const ready = await host;
  if (settings !== undefined) ready.configure(settings);
  return ready;
}

/**
 * The window of this process, in which nothing is open, on a folder with just
 * these files and with these settings. Those of a machine's scope it does not read
 * again: a session that sets some needs a window of its own.
 */
export async function sharedWindow(files, settings) {
  const ready = await sharedHost(window === undefined ? settings : undefined);
  if (window === undefined) {
    const folder = makeFolder(files);
    window = { folder, bench: await openWorkbench(ready.url(folder)) };
    return { host: ready, ...window };
  }
  fill(window.folder, files);
  await ready.configureWindow(await ready.changes(settings));
  await until("the files to be read", () => ready.probe(ARE_READ, texts(window.folder, files)));
  // The extension shows a file that was accepted, which may take until now.
  await until("nothing to be open", () => ready.probe(CLOSE));
  // VS Code learns late that a setting changed its shell; that of a scenario is gone with its home.
  await until("the shell to be there", async () => fs.existsSync(await ready.probe("return vscode.env.shell")));
  return { host: ready, ...window };
}

/** Whether the documents that the window still knows are as the files are now. */
const ARE_READ = `return vscode.workspace.textDocuments.every(({ uri, getText }) =>
  uri.scheme !== "file" || !(uri.fsPath in args[0]) || args[0][uri.fsPath] === getText().replaceAll("\\r\\n", "\\n"))`;

function texts(folder, files = {}) {
  const text = (contents) => contents.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const written = Object.entries(files).filter(([, contents]) => typeof contents === "string");
  return Object.fromEntries(written.map(([name, contents]) => [path.join(folder, name), text(contents)]));
}

/** Closes all editors, and reports whether none is open. */
const CLOSE = `await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  return vscode.window.tabGroups.all.every((group) => group.tabs.length === 0);`;

/** Ends everything that a session left in the shared window. */
const PUT_BACK = `
  for (const terminal of vscode.window.terminals) terminal.dispose();
  for (const document of vscode.workspace.textDocuments.filter((each) => each.isDirty)) {
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand("workbench.action.files.revert");
  }
  for (const command of ["workbench.action.closePanel", "workbench.view.explorer", "notifications.clearAll"]) {
    await vscode.commands.executeCommand(command);
  }
  ${CLOSE}`;

/** Resets the shared window; a window that cannot be reset is closed, and the next session gets a new one. */
export async function putBack() {
  const ready = await host;
  await Promise.all(window.bench.others.splice(0).map((other) => other.close()));
  const isOurs = ({ workspaceFolders }) => workspaceFolders[0] === window.folder;
  await endWindows(ready, (lock) => !isOurs(lock));
  const [ours] = ready.locks().filter(isOurs);
  if (ours === undefined || !(await window.bench.dropping(ready.probeIn(ours.pid, PUT_BACK)).catch(() => false))) return dropWindow();
  ready.makeNewest(ours.pid);
  clear(ready);
}

/** Closes the shared window. */
export async function dropWindow() {
  const old = window;
  window = undefined;
  if (old === undefined) return;
  await old.bench.close();
  await leave(await host);
  remove(old.folder);
}

/** Removes everything that the windows of a session left in the shared host, when they are closed. */
export async function leave(ready) {
  await endWindows(ready, () => true);
  clear(ready);
  for (const name of fs.readdirSync(ready.root).filter((each) => each.startsWith("probe.json"))) fs.rmSync(path.join(ready.root, name));
}

/** Waits for windows that are closed. One whose connection broke is waited for by its server, for hours. */
async function endWindows(ready, which) {
  const gone = () => ready.locks().filter(which).length === 0;
  await until("the windows to end", gone, LEAVES).catch(() => ready.locks().filter(which).forEach((lock) => ready.killWindow(lock)));
}

/** Empties the homes of a host, except for the files of a listening window. */
function clear(ready) {
  for (const folder of [ready.agentHome, ready.env.HOME].filter((each) => fs.existsSync(each))) {
    for (const name of fs.readdirSync(folder).filter((each) => folder !== ready.agentHome || each !== "ide")) {
      remove(path.join(folder, name));
    }
  }
}

atEnd(async () => {
  await (await host)?.stop();
  if (window !== undefined) remove(window.folder);
});
