import * as vscode from "vscode";

interface File {
  bytes: Uint8Array;
  readonly created: number;
  changed: number;
  locked: boolean;
}

const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf);
// Text that every encoding but UTF-8 reads as something else.
const sample = "\u00e9\u6f22\u{1f600}";

/**
 * The files of one side of the diffs, in memory. Nothing here touches a disk: a text saved in a
 * diff stays a draft until the review ends.
 */
export class SideFiles implements vscode.FileSystemProvider {
  private readonly files = new Map<string, File>();
  private readonly changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changes.event;

  has(uri: vscode.Uri): boolean {
    return this.files.has(uri.toString());
  }

  /** Whether a file has this text. */
  holds(uri: vscode.Uri, text: string): boolean {
    const file = this.files.get(uri.toString());
    return file !== undefined && new TextDecoder().decode(file.bytes) === text; // which drops a byte order mark
  }

  /** Adds a file; its bytes are such that the editor reads exactly this text. */
  async add(uri: vscode.Uri, text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    const plain = await readsAsUtf8(uri);
    const now = Date.now();
    this.files.set(uri.toString(), {
      bytes: plain ? bytes : Buffer.concat([byteOrderMark, bytes]),
      created: now,
      changed: now,
      locked: false,
    });
  }

  /** The same; an open document that has no unsaved changes follows. */
  async set(uri: vscode.Uri, text: string): Promise<void> {
    const known = this.files.get(uri.toString());
    await this.add(uri, text);
    const file = this.files.get(uri.toString());
    if (known === undefined || file === undefined) return;
    file.changed = Math.max(file.changed, known.changed + 1);
    file.locked = known.locked;
    this.changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  /** Makes a file old, so that the editor saves over it although it has not read its last change. */
  age(uri: vscode.Uri): void {
    const file = this.files.get(uri.toString());
    if (file !== undefined) file.changed = 0;
  }

  /** Returns a document of a file. If it has unsaved text, the next save does not fail because the file has changed: only we change it, and the document counts. */
  unsaved(document: vscode.TextDocument | undefined): vscode.TextDocument | undefined {
    if (document?.isDirty === true) this.age(document.uri);
    return document;
  }

  /** Makes a file read-only, or not; an open document follows. */
  lock(uri: vscode.Uri, locked: boolean): void {
    const file = this.files.get(uri.toString());
    if (file === undefined || file.locked === locked) return;
    file.locked = locked;
    this.changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  /** Takes the text of an earlier window that is saved at uri, until the result is disposed. The file is old: the editor saves over it. */
  adopt(uri: vscode.Uri): vscode.Disposable {
    this.files.set(uri.toString(), { bytes: new Uint8Array(), created: 0, changed: 0, locked: false });
    return new vscode.Disposable(() => this.remove(uri));
  }

  remove(uri: vscode.Uri): void {
    this.files.delete(uri.toString());
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const file = this.find(uri);
    const stat = { type: vscode.FileType.File, ctime: file.created, mtime: file.changed, size: file.bytes.length };
    return file.locked ? { ...stat, permissions: vscode.FilePermission.Readonly } : stat;
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.find(uri).bytes;
  }

  writeFile(uri: vscode.Uri, bytes: Uint8Array): void {
    const file = this.find(uri);
    if (file.locked) throw vscode.FileSystemError.NoPermissions(uri);
    file.bytes = bytes;
    file.changed = Math.max(Date.now(), file.changed + 1);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  private find(uri: vscode.Uri): File {
    const file = this.files.get(uri.toString());
    if (file === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return file;
  }
}

/**
 * Whether the editor reads plain UTF-8 at uri as such. If the settings say
 * another encoding, a byte order mark makes it UTF-8 again, which can hold every
 * character that the person may type.
 */
async function readsAsUtf8(uri: vscode.Uri): Promise<boolean> {
  if (vscode.workspace.getConfiguration("files", uri).get<boolean>("autoGuessEncoding") === true) return false;
  return (await vscode.workspace.decode(new TextEncoder().encode(sample), { uri })) === sample;
}
