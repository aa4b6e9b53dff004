import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import * as vscode from "vscode";
import { guests } from "../core/guest/names";
import type { Guest } from "../core/guest/names";
import type { Folder, Settings, Workspace } from "../core/ports";

function get<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration("agent").get<T>(name, otherwise);
}

interface Own {
  autoStart(): boolean;
  /** agent.path; empty: it is looked for. */
  path(): string;
  terminal(): "auto" | "process";
  /** agent.diff.showAccepted */
  showAccepted(): boolean;
  /** agent.review; undefined: the person has chosen none. */
  review(): "diff" | "inline" | undefined;
}

export const settings: Settings & Own = {
  diffOpen: () => get("diff.open", "always"),
  onTabClose: () => get("diff.onTabClose", "auto"),
  diagnosticDelay: () => get("diagnosticDelay", 1500),
  reviewEditsOf: () => wantedGuests().filter(({ extension }) => vscode.extensions.getExtension(extension) === undefined).map(({ name }) => name),
  mcpEnabled: () => get("mcp.enabled", true),
  requireAuth: () => get("requireAuth", true),
  approvalMode: () => get("approvalMode", "always"),
  bridgeEnabled: () => get("bridge.enabled", false),
  bridgeRequireAuth: () => get("bridge.requireAuth", true),
  bridgeFile: () => absolute(get("bridge.file", "")),
  terminal: () => get("terminal", "auto"),
  path: () => get("path", "").trim().replace(/^~(?=\/)/, homedir()),
  autoStart: () => get("autoStart", true),
  showAccepted: () => get("diff.showAccepted", true),
  review: () => chosen("review"),
};

/** The programs of others whose edits the person wants to review. */
export function wantedGuests(): readonly Guest[] {
  const names = get<unknown>("reviewEditsOf", []);
  return Array.isArray(names) ? guests.filter(({ name }) => names.includes(name)) : [];
}

/** The value that the person has set, without the default. */
function chosen<T>(name: string): T | undefined {
  const found = vscode.workspace.getConfiguration("agent").inspect<T>(name);
  return found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
}

/** A path as a person writes it; undefined if it says no place. */
function absolute(path: string): string | undefined {
  const full = path.trim().replace(/^~(?=\/)/, homedir());
  return isAbsolute(full) ? full : undefined;
}

/**
 * The port to try first: the user's choice, else this workspace's last port, so that older
 * terminals find us again.
 */
export function preferredPort(last: number | undefined): number {
  const setting = vscode.workspace.getConfiguration("agent").inspect<number>("port");
  return setting?.globalValue ?? last ?? setting?.defaultValue ?? 0;
}

export const workspace: Workspace = {
  get name() {
    return vscode.env.appName;
  },
  folders: () => (vscode.workspace.workspaceFolders ?? []).filter((each) => each.uri.scheme === "file").map(toFolder),
  isTrusted: () => vscode.workspace.isTrusted,
};

function toFolder(folder: vscode.WorkspaceFolder): Folder {
  return { name: folder.name, uri: folder.uri.toString(), path: folder.uri.fsPath };
}
