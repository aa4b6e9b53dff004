import { realpathSync } from "node:fs";
import { basename, join, relative } from "node:path";
import * as vscode from "vscode";
import { isInside, pathKey } from "../core/paths";
import { allTabs } from "./tabs";

/**
 * Where a file of the core is in the editor. The core names files by their real
 * paths, the editor by the paths through which the user opened their folders.
 */
export class Places {
  /** The URI under which the editor knows the file of a path or URI. */
  uri(file: string): vscode.Uri {
    if (/^[a-z][a-z0-9+.-]+:/i.test(file) && !/^[a-z]:[\\/]/i.test(file)) return this.uri(vscode.Uri.parse(file).fsPath);
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
      const real = realPath(folder.uri.fsPath);
      if (folder.uri.scheme === "file" && real !== folder.uri.fsPath && isInside(file, real)) {
        return vscode.Uri.file(join(folder.uri.fsPath, relative(real, file)));
      }
    }
    return vscode.Uri.file(file);
  }

  /** Whether the editor's URI is the file of this real path. */
  isSame(uri: vscode.Uri, path: string): boolean {
    if (uri.scheme !== "file") return false;
    if (pathKey(uri.fsPath) === pathKey(path)) return true;
    if (pathKey(basename(uri.fsPath)) !== pathKey(basename(path))) return false;
    return pathKey(realPath(uri.fsPath)) === pathKey(path);
  }

  /** The tabs that show the file by itself, as a text or in an editor of another kind. */
  tabs(path: string): vscode.Tab[] {
    return allTabs().filter(({ input }) => {
      const known = input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputNotebook;
      return known && this.isSame(input.uri, path);
    });
  }

  /** The open document of the file. */
  document(path: string): vscode.TextDocument | undefined {
    return vscode.workspace.textDocuments.find((document) => this.isSame(document.uri, path));
  }
}

/** The path without symbolic links, or as it is where it cannot be resolved. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // A missing file keeps the path that it was given.
    return path;
  }
}
