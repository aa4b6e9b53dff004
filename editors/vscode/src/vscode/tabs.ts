import * as vscode from "vscode";
import { systemClock } from "../core/clock";
import type { Cancel } from "../core/ports";
import { saveTyped } from "../core/saving";
import { waitUntil } from "../core/waiting";
import { inlineScheme, isProposalUri, isReviewUri, planScheme, proposedScheme, reviewId } from "./uri";

/** For how long a tab is waited for, in milliseconds; others that are to open the same review wait behind it. */
const tabMs = 5_000;

/** How often tabs are closed: others come, and the window no longer knows those that it has just replaced. */
const closesMost = 3;

/** The URIs that a tab shows; none for a tab that shows no text. */
export function tabUris(tab: vscode.Tab): vscode.Uri[] {
  const { input } = tab;
  if (input instanceof vscode.TabInputText) return [input.uri];
  if (input instanceof vscode.TabInputTextDiff) return [input.original, input.modified];
  if (input instanceof vscode.TabInputNotebookDiff) return [input.original, input.modified];
  return [];
}

/** The sides of the diffs that the tab shows one below the other. Its class and their property are there, and not declared. */
function sidesBelow({ input }: vscode.Tab): vscode.Uri[] {
  const diffs: unknown = typeof input === "object" && input !== null && "textDiffs" in input ? input.textDiffs : [];
  if (!Array.isArray(diffs)) return [];
  return diffs.filter((each) => each instanceof vscode.TabInputTextDiff).flatMap(({ original, modified }) => [original, modified]);
}

/** The reviews that the tab shows one below the other. */
export function reviewsBelow(tab: vscode.Tab): string[] {
  return [...new Set(sidesBelow(tab).map(reviewId))].filter((id) => id !== undefined);
}

export function tabShows(tab: vscode.Tab, uri: vscode.Uri): boolean {
  return tabUris(tab).some((each) => each.toString() === uri.toString());
}

/** The review whose diff, or plan, the tab shows. */
export function diffOf(tab: vscode.Tab | undefined): string | undefined {
  if (tab?.input instanceof vscode.TabInputText && tab.input.uri.scheme === planScheme) return reviewId(tab.input.uri);
  if (!(tab?.input instanceof vscode.TabInputTextDiff)) return undefined;
  const { modified } = tab.input;
  return modified.scheme === proposedScheme ? reviewId(modified) : undefined;
}

export function allTabs(): vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs);
}

export function tabsWith(uri: vscode.Uri): vscode.Tab[] {
  return allTabs().filter((tab) => tabShows(tab, uri));
}

/** The tabs that show a side of the review: its diff, or one side alone. */
export function tabsOf(id: string): vscode.Tab[] {
  return allTabs().filter((tab) => tabUris(tab).some((uri) => uri.scheme !== inlineScheme && reviewId(uri) === id));
}

/** What shows a review at the front of a group, whichever group has the focus. */
export function visibleReviews(): { id: string; uri: vscode.Uri }[] {
  const fronts = vscode.window.tabGroups.all.flatMap(({ activeTab }) => (activeTab === undefined ? [] : tabUris(activeTab)));
  return fronts.flatMap((uri) => {
    const id = reviewId(uri);
    return id === undefined ? [] : [{ id, uri }];
  });
}

/** Calls back after a tab was opened, closed or changed. */
export function onTabs(changed: () => void): Cancel {
  const listener = vscode.window.tabGroups.onDidChangeTabs(changed);
  return () => void listener.dispose();
}

/** Resolves when a tab is there, which may be after the end of the command that opens it. */
export function tabThere(isThere: () => boolean): Promise<void> {
  return waitUntil(isThere, onTabs, systemClock, tabMs);
}

/** Closes the tabs that find returns until it returns none; before that, save keeps VS Code from asking about their texts. */
export async function closeTabs(find: () => vscode.Tab[], save: () => Promise<void>): Promise<void> {
  let failed: unknown;
  for (let times = 0; times < closesMost; times++) {
    await save();
    const tabs = find();
    if (tabs.length === 0) return;
    await vscode.window.tabGroups.close(tabs, true).then(undefined, (error: unknown) => (failed = error));
    await caughtUp();
  }
  if (find().length > 0) throw failed instanceof Error ? failed : new Error("a tab of a review does not close");
}

/** The review whose diff is the active tab of the active group. */
export function activeReview(): string | undefined {
  return diffOf(vscode.window.tabGroups.activeTabGroup.activeTab);
}

/** The window tells in order what happens in it: a command that it runs, and that does nothing, comes back after all that was typed. */
export async function caughtUp(): Promise<void> {
  await vscode.commands.executeCommand("setContext", "agent.caughtUp", true);
}

/** The open document at uri. */
export function documentAt(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
}

/**
 * Closes the tabs that an earlier run of the extension has left: the editor
 * restores them with the window, but their contents are gone. Text typed in them is restored as
 * unsaved, and the editor would ask about it: typed gets it, and adopt makes a file for it to be saved in.
 */
export async function closeOrphans(isKnown: (id: string) => boolean, adopt: (uri: vscode.Uri) => vscode.Disposable, typed: (id: string, text: string) => void): Promise<number> {
  const orphans = allTabs().filter((tab) => isOrphan(tab, isKnown));
  const sides = orphans.flatMap((tab) => [...tabUris(tab), ...sidesBelow(tab)]).filter((uri) => isProposalUri(uri) || uri.scheme === inlineScheme);
  const saved = await Promise.allSettled(sides.map((uri) => saveOrphan(uri, adopt, typed)));
  if (orphans.length > 0) await vscode.window.tabGroups.close(orphans, true);
  for (const each of saved) if (each.status === "rejected") throw each.reason;
  return orphans.length;
}

/** Whether a tab shows a review that is not known, or several of which none is: an earlier run of the extension has left it. */
export function isOrphan(tab: vscode.Tab, isKnown: (id: string) => boolean): boolean {
  const below = reviewsBelow(tab);
  if (below.length > 0) return !below.some(isKnown);
  return tabUris(tab).some((uri) => isReviewUri(uri) && !isKnown(reviewId(uri) ?? ""));
}

/** Saves the text of an earlier window. The window may not have restored it yet: to open it does. */
async function saveOrphan(uri: vscode.Uri, adopt: (uri: vscode.Uri) => vscode.Disposable, typed: (id: string, text: string) => void): Promise<void> {
  const file = adopt(uri);
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    // The text of a review in one text has the file's lines, too.
    if (document.isDirty && isProposalUri(uri)) typed(reviewId(uri) ?? "", document.getText());
    await saveTyped(caughtUp, () => documentAt(uri));
  } finally {
    file.dispose();
  }
}
