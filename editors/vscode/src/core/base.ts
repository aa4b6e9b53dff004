import { ToolError } from "./errors";
import type { Buffer, Documents, FileText } from "./ports";
import { sha256, textSha256, withoutBom } from "./text";

// VS Code does not hand larger documents to extensions.
const maxFileBytes = 50 * 1024 * 1024;

/** The text that a proposal is compared with. */
export interface Base {
  readonly file: FileText;
  /** The left side: the text on disk, or the unsaved buffer that the proposal was made from. */
  readonly original: string;
}

/** The base of a plan, which no file holds. */
export const nothing: Base = {
  file: { exists: false, text: "", sha256: sha256(""), encoding: "utf8", bom: false, size: 0 },
  original: "",
};

/**
 * Looks at the file that a proposal is for and refuses what cannot be reviewed:
 * STALE_BASE if the proposal was made from another text, DIRTY_DOCUMENT if the
 * editor has unsaved changes that the proposal does not know, BINARY_FILE,
 * FILE_TOO_LARGE. expected is the SHA-256 of the file's bytes or of its text, or
 * what checkDocumentDirty gave for a buffer; undefined if not known. A file that goes away
 * (removed) must be there, and may be binary: its text is then a line about its bytes.
 */
export async function lookAt(documents: Documents, path: string, expected?: string, { removed = false, encoding = "" } = {}): Promise<Base> {
  const file = await documents.read(path, encoding === "" ? undefined : encoding);
  if (removed && !file.exists) throw new ToolError("NOT_FOUND", `${path} does not exist`);
  if (file.size > maxFileBytes) throw new ToolError("FILE_TOO_LARGE", `${path} is too large to be shown as a diff`);
  if (!removed) needText(file, path);
  const buffer = documents.buffer(path);
  if (buffer?.isDirty === true) {
    needExact(file, buffer, path);
    if (buffer.text === undefined || !isHashOf(expected, buffer.text)) {
      throw new ToolError("DIRTY_DOCUMENT", `${path} has unsaved changes in the editor`);
    }
    return { file, original: buffer.text };
  }
  if (expected !== undefined && expected !== file.sha256 && !isHashOf(expected, file.text)) {
    throw new ToolError("STALE_BASE", `${path} is not what the proposal was made from: it has changed on disk`);
  }
  return { file, original: file.unreadable === undefined ? file.text : `binary, ${file.size} bytes, SHA-256 ${file.sha256}\n` };
}

/** Throws the reason why a file has no text. */
export function needText({ unreadable, encoding }: FileText, path: string): void {
  if (unreadable === "BINARY_FILE") throw new ToolError(unreadable, `${path} is a binary file`);
  if (unreadable === "ENCODING") throw new ToolError(unreadable, `${path} should be ${encoding}, but has bytes that are not: an edit would change more than it shows`);
}

/** Refuses unsaved changes in a document that could not read all of its file: other characters are in their place. */
export function needExact(file: FileText, { encoding }: Buffer, path: string): void {
  if (!file.exists || encoding === undefined || plain(encoding) === plain(file.encoding)) return;
  throw new ToolError("ENCODING", `${path} is stored as ${file.encoding}, but is open with unsaved changes as ${encoding}: undo them, or reopen it with its encoding`);
}

function plain(encoding: string): string {
  return encoding.replace("utf8bom", "utf8");
}

/** Refuses a proposal from a text in which characters that could not be read were replaced. */
export function needReadable({ file, original }: Base, proposal: string, path: string): void {
  if (plain(file.encoding) === "utf8" || original.includes(replaced) || !proposal.includes(replaced)) return;
  throw new ToolError("ENCODING", `${path} is stored as ${file.encoding}, and the proposal has \ufffd where it has characters: read it in that encoding`);
}

const replaced = "\ufffd";

/** Throws ENCODING for a text that the encoding of its file cannot store. */
export async function needStorable(documents: Documents, text: string, encoding: string): Promise<void> {
  const found = await documents.unstorable(withoutBom(text), encoding);
  if (found === undefined) return;
  throw new ToolError("ENCODING", `line ${found.line} has ${found.character} (${codeOf(found.character)}), which ${encoding}, the encoding of the file, cannot store`);
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * Whether a hash is one of the text: as it is, with a byte order mark before it,
 * or with the line endings that an editor makes uniform.
 */
function isHashOf(expected: string | undefined, text: string): boolean {
  return expected === sha256(text) || expected === textSha256(text) || expected === sha256("\ufeff" + text);
}
