import { ToolError } from "./errors";
import type { Documents, FileText } from "./ports";
import { sha256, textSha256 } from "./text";

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
  file: { exists: false, text: "", sha256: sha256(""), encoding: "utf8", bom: false, binary: false, size: 0 },
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
export async function lookAt(documents: Documents, path: string, expected: string | undefined, removed = false): Promise<Base> {
  const file = await documents.read(path);
  if (removed && !file.exists) throw new ToolError("NOT_FOUND", `${path} does not exist`);
  if (file.size > maxFileBytes) throw new ToolError("FILE_TOO_LARGE", `${path} is too large to be shown as a diff`);
  if (file.binary && !removed) throw new ToolError("BINARY_FILE", `${path} is a binary file`);
  const buffer = documents.buffer(path);
  if (buffer?.isDirty === true) {
    if (buffer.text === undefined || !isHashOf(expected, buffer.text)) {
      throw new ToolError("DIRTY_DOCUMENT", `${path} has unsaved changes in the editor`);
    }
    return { file, original: buffer.text };
  }
  if (expected !== undefined && expected !== file.sha256 && !isHashOf(expected, file.text)) {
    throw new ToolError("STALE_BASE", `${path} is not what the proposal was made from: it has changed on disk`);
  }
  return { file, original: file.binary ? `binary, ${file.size} bytes, SHA-256 ${file.sha256}\n` : file.text };
}

/**
 * Whether a hash is one of the text: as it is, with a byte order mark before it,
 * or with the line endings that an editor makes uniform.
 */
function isHashOf(expected: string | undefined, text: string): boolean {
  return expected === sha256(text) || expected === textSha256(text) || expected === sha256("\ufeff" + text);
}
