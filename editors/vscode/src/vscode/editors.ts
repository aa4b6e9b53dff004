import * as vscode from "vscode";
import type { Editors, EditorTab, Selection } from "../core/ports";
import type { Places } from "./places";
import { caughtUp, tabShows } from "./tabs";

export class OpenEditors implements Editors {
  constructor(private readonly places: Places) {}

  tabs(): readonly EditorTab[] {
    const documents = new Map(vscode.workspace.textDocuments.map((each) => [each.uri.toString(), each]));
    return vscode.window.tabGroups.all.flatMap((group, index) =>
      group.tabs.flatMap((tab) => {
        const { input } = tab;
        if (!(input instanceof vscode.TabInputText) || !isReal(input.uri)) return [];
        return [toTab(tab, input.uri, index, documents.get(input.uri.toString()))];
      }),
    );
  }

  selection(): Selection | undefined {
    return selectionOf(vscode.window.activeTextEditor);
  }

  async removed(path: string, movedTo: string | undefined): Promise<number> {
    await caughtUp(); // else a tab that is just being typed in counts as saved
    const clean = (): vscode.Tab[] => this.places.tabs(path).filter((tab) => !tab.isDirty);
    if (movedTo !== undefined) for (const tab of clean()) await this.follow(tab, movedTo);
    // Not the tabs from before: one in preview has made room for the new place, another may have been typed in.
    const gone = clean();
    if (gone.length > 0) await vscode.window.tabGroups.close(gone, true);
    return this.places.tabs(path).filter((tab) => !gone.includes(tab)).length;
  }

  /** Opens a file beside a tab of its former place. */
  private async follow(tab: vscode.Tab, path: string): Promise<void> {
    const shown = vscode.window.visibleTextEditors.find(({ document, viewColumn }) => viewColumn === tab.group.viewColumn && tabShows(tab, document.uri));
    const options = {
      viewColumn: tab.group.viewColumn,
      preview: tab.isPreview,
      preserveFocus: true,
      background: !tab.isActive, // honored, not declared
      ...(shown === undefined ? {} : { selection: shown.selection }),
    };
    await vscode.commands.executeCommand("vscode.open", this.places.uri(path), options);
  }
}

/** The selection of an editor that shows a real file. */
export function selectionOf(editor: vscode.TextEditor | undefined): Selection | undefined {
  if (editor === undefined || editor.document.uri.scheme !== "file") return undefined;
  const { document, selection } = editor;
  return {
    path: document.uri.fsPath,
    uri: document.uri.toString(),
    text: document.getText(selection),
    start: { line: selection.start.line, character: selection.start.character },
    end: { line: selection.end.line, character: selection.end.character },
  };
}

function isReal(uri: vscode.Uri): boolean {
  return uri.scheme === "file" || uri.scheme === "untitled";
}

function toTab(
  tab: vscode.Tab,
  uri: vscode.Uri,
  groupIndex: number,
  document: vscode.TextDocument | undefined,
): EditorTab {
  return {
    uri: uri.toString(),
    path: uri.fsPath,
    label: tab.label,
    isActive: tab.isActive,
    isPinned: tab.isPinned,
    isPreview: tab.isPreview,
    isDirty: tab.isDirty,
    isUntitled: uri.scheme === "untitled",
    groupIndex,
    viewColumn: tab.group.viewColumn,
    isGroupActive: tab.group.isActive,
    // A tab that has not been looked at since the window opened has no document yet.
    languageId: document?.languageId ?? "",
    lineCount: document?.lineCount ?? 0,
  };
}
