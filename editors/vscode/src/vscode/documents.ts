import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import type { Buffer as OpenBuffer, Cancel, Documents, FileText, OpenFileRequest, Range } from "../core/ports";
import type { Places } from "./places";

const absent = { exists: false, text: "", encoding: "utf8", bom: false, binary: false, size: 0 };
// As far as one looks for a NUL to tell binary files from text.
const binaryPrefix = 8 * 1024;

export class EditorDocuments implements Documents {
  constructor(private readonly places: Places) {}

  async read(path: string): Promise<FileText> {
    const bytes = await readIfThere(path);
    const sha256 = createHash("sha256").update(bytes ?? new Uint8Array()).digest("hex");
    if (bytes === undefined) return { ...absent, sha256 };
    const uri = this.places.uri(path);
    const marked = markOf(bytes);
    const encoding = marked ?? vscode.workspace.getConfiguration("files", uri).get("encoding", "utf8");
    const file = { exists: true, sha256, encoding, bom: marked !== undefined, size: bytes.length };
    if (!encoding.startsWith("utf16") && bytes.subarray(0, binaryPrefix).includes(0)) {
      return { ...file, text: "", binary: true };
    }
    const text = await vscode.workspace.decode(bytes, { uri });
    return { ...file, text: text.replace(/^\ufeff/, ""), binary: false };
  }

  opened(): readonly string[] {
    const real = vscode.workspace.textDocuments.filter((document) => document.uri.scheme === "file" && !document.isClosed);
    return real.map((document) => document.uri.fsPath);
  }

  buffer(path: string): OpenBuffer | undefined {
    const document = this.places.document(path);
    if (document === undefined || document.isClosed) return undefined;
    return { text: document.getText(), isDirty: document.isDirty, isUntitled: document.isUntitled };
  }

  async save(path: string): Promise<boolean> {
    const document = this.places.document(path);
    if (document === undefined) return false;
    return document.isDirty ? document.save() : true;
  }

  async open(request: OpenFileRequest): Promise<{ languageId: string; lineCount: number }> {
    const document = await vscode.workspace.openTextDocument(this.places.uri(request.path));
    await vscode.window.showTextDocument(document, {
      preview: request.preview,
      preserveFocus: !request.makeFrontmost,
      ...(request.selection === undefined ? {} : { selection: toRange(request.selection) }),
    });
    return { languageId: document.languageId, lineCount: document.lineCount };
  }

  watch(path: string, changed: () => void): Cancel {
    // The name may hold what a pattern takes for a wildcard, so it is compared here.
    const pattern = new vscode.RelativePattern(vscode.Uri.file(dirname(path)), "*");
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    const name = basename(path);
    const look = (uri: vscode.Uri): void => {
      if (basename(uri.fsPath) === name) changed();
    };
    watcher.onDidChange(look);
    watcher.onDidCreate(look);
    watcher.onDidDelete(look);
    return () => void watcher.dispose();
  }
}

export function toRange(range: Range): vscode.Range {
  return new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** The encoding that a byte order mark names, as the editor calls it. */
function markOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf8bom";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf16be";
  return undefined;
}
