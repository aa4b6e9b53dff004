import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import type { Buffer as OpenBuffer, Cancel, Documents, FileText, OpenFileRequest, Range } from "../core/ports";
import { ToolError } from "../core/errors";
import { readRegular } from "../core/regular";
import { eolOf, isUniform, sameText, toLf, withEol, withoutBom } from "../core/text";
import { decodeFile, encode, exactly, isUtf8, unstorable } from "./encodings";
import type { Places } from "./places";
import { caughtUp, tabsWith } from "./tabs";

export class EditorDocuments implements Documents {
  constructor(
    private readonly places: Places,
    /** Whether a file whose edit was accepted is shown. */
    private readonly showAccepted: () => boolean,
  ) {}

  async read(path: string, wished?: string): Promise<FileText> {
    const bytes = await readIfThere(path);
    const file = { exists: bytes !== undefined, sha256: sha256(bytes ?? new Uint8Array()), size: bytes?.length ?? 0 };
    const own = await this.own(path, bytes);
    if (bytes === undefined) return { ...file, text: "", encoding: own, bom: false };
    return { ...file, ...(await decodeFile(bytes, wished === undefined ? [own] : [toName(wished), own])) };
  }

  opened(): readonly string[] {
    const real = vscode.workspace.textDocuments.filter((document) => document.uri.scheme === "file" && !document.isClosed);
    return real.map((document) => document.uri.fsPath);
  }

  buffer(path: string): OpenBuffer | undefined {
    const document = this.places.document(path);
    if (document?.isDirty !== true && this.isChangedAsOther(path)) return { text: undefined, isDirty: true, isUntitled: false };
    if (document === undefined || document.isClosed) return undefined;
    const { isDirty, isUntitled, encoding } = document;
    return { text: document.getText(), isDirty, isUntitled, encoding };
  }

  /** The encoding of the file's document, else of the setting, or the editor's guess from the bytes if guesses are on. */
  private async own(path: string, bytes: Uint8Array | undefined): Promise<string> {
    const open = this.places.document(path);
    if (open !== undefined) return open.encoding;
    const uri = this.places.uri(path);
    const files = vscode.workspace.getConfiguration("files", uri);
    const guesses = bytes !== undefined && files.get("autoGuessEncoding", false) && !bytes.includes(0) && (await exactly(bytes, "utf8")) === undefined;
    return guesses ? (await vscode.workspace.openTextDocument(uri)).encoding : files.get("encoding", "utf8");
  }

  async chosen(path: string): Promise<string> {
    const bytes = await readIfThere(path);
    const own = await this.own(path, bytes);
    return isUtf8(own) || bytes === undefined || (await decodeFile(bytes, [own])).encoding === own ? own : "utf8";
  }

  unstorable(text: string, encoding: string): Promise<{ character: string; line: number } | undefined> {
    return unstorable(text, encoding);
  }

  /** Loads a document in an encoding, which one with unsaved changes keeps. */
  private load(path: string, encoding: string | undefined): Thenable<vscode.TextDocument> {
    const options = encoding === undefined || this.places.document(path)?.isDirty === true ? {} : { encoding };
    return vscode.workspace.openTextDocument(this.places.uri(path), options);
  }

  async save(path: string): Promise<boolean> {
    const document = this.places.document(path);
    if (document?.isDirty === true) {
      const bytes = await readIfThere(path);
      if (bytes !== undefined && (await exactly(bytes, document.encoding)) === undefined) {
        throw new ToolError("ENCODING", `the editor shows the file as ${document.encoding}, which it is not: to save it would change more than was typed`);
      }
      return document.save();
    }
    if (this.isChangedAsOther(path)) return (await vscode.workspace.save(this.places.uri(path))) !== undefined;
    return document !== undefined;
  }

  /** Whether the file has unsaved changes in a notebook or another editor of its own kind. */
  private isChangedAsOther(path: string): boolean {
    // The tabs learn of a change later than its notebook.
    const inNotebook = vscode.workspace.notebookDocuments.some(({ isDirty, uri }) => isDirty && this.places.isSame(uri, path));
    return inNotebook || this.places.tabs(path).some((tab) => tab.isDirty && !(tab.input instanceof vscode.TabInputText));
  }

  async write(path: string, text: string, encoding: string): Promise<void> {
    await tryToWrite(path);
    const uri = this.places.uri(path);
    const wanted = await encode(withoutBom(text), encoding);
    const found = await readIfThere(path);
    const before = found ?? (await create(uri, text));
    // An editor makes line endings uniform.
    if (!isUniform(text)) return vscode.workspace.fs.writeFile(uri, wanted);
    const document = await this.load(path, before.length > 0 && found === undefined ? "utf8bom" : encoding);
    const wasShown = tabsWith(document.uri).length > 0;
    const isUnwritten = (): Promise<boolean> => holds(path, before);
    const isSaved = async (): Promise<boolean> => (await document.save()) && (sameText(document.getText(), text) || !(await isUnwritten()));
    const put = async (): Promise<boolean> => (await replaceAll(document, text)) && (await isSaved());
    const saved = await again(document, put, isUnwritten).catch((error: unknown) => error);
    if (saved !== true) {
      const now = await this.read(path, encoding);
      const isAsBefore = await isUnwritten();
      const isBack = (isAsBefore || !isBeginning(now.text, text)) && (await takeBack(document, text, wasShown));
      if (found === undefined && isAsBefore && isBack) await vscode.workspace.fs.delete(uri);
      if (saved instanceof Error && isBack) throw saved;
      const outcome = isAsBefore ? "it is as before" : "another program has written it";
      throw new ToolError("PERMISSION_DENIED", `the editor did not save the file; ${isBack ? outcome : "its document has unsaved changes now"}`);
    }
    await this.closeUnasked(document, wasShown);
    const bytes = await readRegular(path);
    const texts = await Promise.all([encoding, document.encoding, "utf8"].map((name) => exactly(bytes, name)));
    const isOther = Buffer.compare(bytes, wanted) !== 0 && texts.some((each) => each !== undefined && withoutBom(each) === withoutBom(text));
    // Its mark was added or left out, or somebody has just shown the file in another encoding.
    if (found !== undefined && isOther) await vscode.workspace.fs.writeFile(uri, wanted);
  }

  /**
   * Closes the tab that the editor opens by itself for a document that stays unsaved for a moment,
   * as on a busy machine. One in preview is the person's, and the one at the front may be.
   */
  private async closeUnasked(document: vscode.TextDocument, wasShown: boolean): Promise<void> {
    if (wasShown) return;
    await caughtUp();
    const unasked = tabsWith(document.uri).filter((tab) => !tab.isPreview && !tab.isDirty && !(tab.isActive && this.showAccepted()));
    if (unasked.length > 0) await vscode.window.tabGroups.close(unasked, true);
  }

  async edit(path: string, text: string, encoding: string): Promise<void> {
    const before = await readIfThere(path);
    const document = await this.load(path, encoding);
    const isPut = await again(document, () => replaceAll(document, text), () => holds(path, before));
    if (!isPut) throw new ToolError("PERMISSION_DENIED", "the editor did not change the document");
  }

  async open(request: OpenFileRequest): Promise<{ languageId: string; lineCount: number }> {
    const document = await this.load(request.path, request.encoding);
    await vscode.window.showTextDocument(document, {
      preview: request.preview,
      preserveFocus: !request.makeFrontmost,
      ...(request.selection === undefined ? {} : { selection: toRange(request.selection) }),
    });
    return { languageId: document.languageId, lineCount: document.lineCount };
  }

  watch(path: string, changed: () => void): Cancel {
    // The name may contain wildcard characters, so compare it here.
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

/**
 * Throws the system's error for an existing file that may not be written, before it is edited: a
 * document that could not be saved stays changed.
 */
async function tryToWrite(path: string): Promise<void> {
  const file = await open(path, "r+").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  await file?.close();
}

/**
 * Edits a document, and reports whether that succeeded. VS Code refuses or drops an edit of a document that it reads
 * again at that moment, as in another encoding: the edit is made anew, unless somebody has typed or written.
 */
async function again(document: vscode.TextDocument, edit: () => Promise<boolean>, isAsBefore: () => Promise<boolean>): Promise<boolean> {
  for (let left = triesOfAnEdit; !(await edit()); left--) {
    await caughtUp();
    if (left === 1 || document.isDirty || !(await isAsBefore())) return false;
  }
  return true;
}

const triesOfAnEdit = 100;

/**
 * Reverts a document whose text could not be saved, so that the text does not stay behind as a
 * person's change. Reports false if the person typed in it: then it stays unsaved. The document
 * comes to the front, because the editor reverts no other.
 */
async function takeBack(document: vscode.TextDocument, text: string, wasShown: boolean): Promise<boolean> {
  const isTyped = async (): Promise<boolean> => {
    await caughtUp();
    return document.isDirty && !sameText(document.getText(), text);
  };
  if (await isTyped()) return false;
  if (!document.isDirty) return true;
  const tab = tabsWith(document.uri).find(({ input }) => input instanceof vscode.TabInputText);
  await vscode.window.showTextDocument(document, { preview: false, ...(tab === undefined ? {} : { viewColumn: tab.group.viewColumn }) });
  if ((await isTyped()) || vscode.window.activeTextEditor?.document !== document) return false;
  const stays = tab !== undefined && wasShown; // else the editor has shown it by itself
  await vscode.commands.executeCommand(stays ? "workbench.action.files.revert" : "workbench.action.revertAndCloseActiveEditor");
  return !document.isDirty;
}

/** Whether a file holds only the beginning of text, as after a save on a full disk: the document alone has the rest. */
function isBeginning(now: string, text: string): boolean {
  return !sameText(now, text) && toLf(withoutBom(text)).startsWith(toLf(now).replace(/\ufffd$/, ""));
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Makes an empty file and its folders; resolves to its bytes. */
async function create(uri: vscode.Uri, text: string): Promise<Uint8Array> {
  const edit = new vscode.WorkspaceEdit();
  const contents = text.startsWith(byteOrderMark) ? Buffer.from(byteOrderMark) : new Uint8Array();
  edit.createFile(uri, { overwrite: false, contents });
  if (await vscode.workspace.applyEdit(edit)) return contents;
  throw new ToolError("PERMISSION_DENIED", "the editor could not make the file");
}

/** Changes only the differing part, so that cursors and folded lines elsewhere stay in place. */
export async function replaceAll(document: vscode.TextDocument, text: string): Promise<boolean> {
  const eol = eolFor(document, text);
  const plain = toLf(withoutBom(text));
  const [from, to] = [document.getText(), eol === vscode.EndOfLine.CRLF ? withEol(plain, "crlf") : plain];
  if (from === to) return true;
  const [head, tail] = sameEnds(from, to);
  const edit = new vscode.WorkspaceEdit();
  const range = new vscode.Range(document.positionAt(head), document.positionAt(from.length - tail));
  const edits = [vscode.TextEdit.replace(range, to.slice(head, to.length - tail))];
  // It comes first: VS Code joins edits that touch in the active editor, and keeps the first one's line ending.
  if (eol !== document.eol) edits.unshift(vscode.TextEdit.setEndOfLine(eol));
  edit.set(document.uri, edits);
  return vscode.workspace.applyEdit(edit);
}

/** The line endings that a document has with this text; one without any has the editor's default until then. */
function eolFor(document: vscode.TextDocument, text: string): vscode.EndOfLine {
  const wanted = document.lineCount === 1 ? eolOf(text) : undefined;
  if (wanted !== "lf" && wanted !== "crlf") return document.eol;
  return wanted === "crlf" ? vscode.EndOfLine.CRLF : vscode.EndOfLine.LF;
}

/** How many units two texts have in common at both ends, none within a character or a line ending. */
function sameEnds(a: string, b: string): [number, number] {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a.charCodeAt(head) === b.charCodeAt(head)) head++;
  if (head > 0 && splits.test(a.charAt(head - 1))) head--;
  let tail = 0;
  while (tail < most - head && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail++;
  if (tail > 0 && /[\n\udc00-\udfff]/.test(a.charAt(a.length - tail))) tail--;
  return [head, tail];
}

// What belongs together with the unit after it.
const splits = /[\r\ud800-\udbff]/;
const byteOrderMark = "\ufeff";

export function toRange(range: Range): vscode.Range {
  return new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readRegular(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whether a file has these bytes; undefined means a missing file. */
async function holds(path: string, bytes: Uint8Array | undefined): Promise<boolean> {
  const now = await readIfThere(path);
  return now === undefined || bytes === undefined ? now === bytes : Buffer.compare(now, bytes) === 0;
}

/** The editor's name of an encoding that is registered under a name such as shift_jis. */
function toName(registered: string): string {
  return registered.toLowerCase().replace(/[^a-z0-9]/g, "");
}
