import * as vscode from "vscode";

/** Makes a tab the active one without taking the focus. */
const activate = { preserveFocus: true, activation: 1, revealIfOpened: true, pinned: true };

/**
 * Puts a document back as it is on disk, without unsaved changes; false if that
 * could not be done. The editor reverts nothing but its active tab, or what is
 * chosen in a list that has the focus: so the tab is made the active one and lists
 * lose their choice in one go, in which the person can do nothing, and the tab
 * that was active before is so again.
 */
export async function restore(document: vscode.TextDocument): Promise<boolean> {
  if (!document.isDirty) return true;
  const { activeTab } = vscode.window.tabGroups.activeTabGroup;
  const before = activeTab?.input instanceof vscode.TabInputText ? activeTab.input.uri : undefined;
  const show = (uri: vscode.Uri, more: object): object => ({ command: "_workbench.open", args: [uri, [undefined, { ...activate, ...more }]] });
  const back = before === undefined || before.toString() === document.uri.toString() ? [] : [show(before, {})];
  await vscode.commands.executeCommand("runCommands", {
    commands: ["list.clear", "list.clear", show(document.uri, { override: "default" }), "workbench.action.files.revert", ...back],
  });
  return !document.isDirty;
}
