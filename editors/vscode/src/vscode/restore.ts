import * as vscode from "vscode";

/** Makes a tab the active one without taking the focus. */
const activate = { preserveFocus: true, activation: 1, pinned: true };

/**
 * Puts a document back as it is on disk, without unsaved changes; false if that
 * could not be done. The editor reverts nothing but its active tab, or what is
 * chosen in a list that has the focus: so the tab is made the active one and lists
 * lose their choice in one go, in which the person can do nothing, and the tab
 * that was active before is so again.
 */
export async function restore(document: vscode.TextDocument): Promise<boolean> {
  if (!document.isDirty) return true;
  const { activeTabGroup } = vscode.window.tabGroups;
  const { activeTab } = activeTabGroup;
  const before = activeTab?.input instanceof vscode.TabInputText ? activeTab.input.uri : undefined;
  const back = before === undefined || before.toString() === document.uri.toString() ? [] : [show(before, activeTabGroup.viewColumn, {})];
  const there = show(document.uri, groupOf(document)?.viewColumn, { override: "default" });
  await vscode.commands.executeCommand("runCommands", {
    commands: ["list.clear", "list.clear", there, "workbench.action.files.revert", ...back],
  });
  return !document.isDirty;
}

/** The group in which a document has a tab; the active one, if that has one. */
export function groupOf(document: vscode.TextDocument): vscode.TabGroup | undefined {
  const key = document.uri.toString();
  const has = ({ tabs }: vscode.TabGroup): boolean => tabs.some(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === key);
  return [vscode.window.tabGroups.activeTabGroup, ...vscode.window.tabGroups.all].find(has);
}

/**
 * What vscode.open and showTextDocument run in the window. Those come one by one from
 * here: where the person goes to another tab between two of them, that tab is
 * reverted. The window's own vscode.open is not waited for and knows no group. Groups
 * count from 0; -1 is the active one.
 */
function show(uri: vscode.Uri, column: vscode.ViewColumn | undefined, more: object): object {
  return { command: "_workbench.open", args: [uri, [column === undefined ? -1 : column - 1, { ...activate, ...more }]] };
}
