import * as vscode from "vscode";
import type { Core } from "../core/core";
import { selectionOf } from "./editors";
import { tabUris, visibleReviews } from "./tabs";
import { isProposalUri, reviewId } from "./uri";
import type { Views } from "./views";

/** Reports the person's actions in the editor to the core. */
export function watchEditor(core: Core, views: Views): vscode.Disposable {
  return vscode.Disposable.from(watchTabs(core), watchActive(core, views), watchText(core, views), watchWindow(core));
}

// Closed documents are reported minutes late; closed tabs at once.
function watchTabs(core: Core): vscode.Disposable {
  return vscode.window.tabGroups.onDidChangeTabs(({ opened, closed, changed }) => {
    const uris = [...opened, ...closed, ...changed].flatMap(tabUris);
    const ids = new Set(uris.map(reviewId).filter((id) => id !== undefined));
    for (const id of ids) core.reviews.tabsChanged(id);
  });
}

/** A review that comes to the front of its group is seen from then on. */
function watchActive(core: Core, views: Views): vscode.Disposable {
  let visible: readonly string[] = [];
  const look = (): void => {
    const shown = visibleReviews();
    const now = shown.map(({ id }) => id);
    const appeared = now.filter((id) => !visible.includes(id));
    for (const id of visible) if (!now.includes(id) && core.reviews.isReady(id)) views.fold(id);
    for (const id of appeared) core.reviews.seen(id);
    // A click on a review that was visible all the time gives it the focus, and counts.
    if (appeared.length > 0) views.appeared();
    views.noteSeen(shown.map(({ uri }) => uri));
    visible = now;
    views.noteActive();
  };
  return vscode.Disposable.from(vscode.window.tabGroups.onDidChangeTabs(look), vscode.window.tabGroups.onDidChangeTabGroups(look), vscode.window.onDidChangeActiveTextEditor(look));
}

function watchText(core: Core, views: Views): vscode.Disposable {
  return vscode.workspace.onDidChangeTextDocument((event) => {
    const { document, contentChanges } = event;
    const id = isProposalUri(document.uri) ? reviewId(document.uri) : undefined;
    if (id === undefined || contentChanges.length === 0 || views.diffs.saves.isSaves(event)) return;
    core.reviews.edited(id, document.getText());
    views.diffs.edited(id, document.getText());
  });
}

function watchWindow(core: Core): vscode.Disposable {
  const tellSelection = (editor: vscode.TextEditor | undefined): void => {
    // The diff, an output or a terminal has the focus: the last file stays selected.
    const selection = selectionOf(editor);
    if (editor === undefined || selection !== undefined) core.selectionChanged(selection);
  };
  return vscode.Disposable.from(
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
      if (textEditor === vscode.window.activeTextEditor) tellSelection(textEditor);
    }),
    vscode.window.onDidChangeActiveTextEditor(tellSelection),
    vscode.window.onDidChangeWindowState(({ focused }) => core.windowChanged({ focused })),
    vscode.workspace.onDidChangeWorkspaceFolders(() => core.windowChanged({})),
    vscode.workspace.onDidGrantWorkspaceTrust(() => core.windowChanged({})),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("agent") && core.windowChanged({})),
  );
}
