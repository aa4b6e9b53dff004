import * as vscode from "vscode";

/** The encodings of bytes that nobody knows better: the second gives every byte its character. */
const guesses = ["windows1252", "iso88591"];
/** The agent's name of what withStrays reads, which no editor has. */
const strayUtf8 = "utf8withstraybytes";
const strayBase = 0x10fe00;
const byteOrderMark = "\ufeff";
/** The length of the beginning that is searched for control characters. */
const headMax = 8_192;

export interface Decoded {
  readonly text: string;
  readonly encoding: string;
  readonly bom: boolean;
  readonly unreadable?: "BINARY_FILE" | "ENCODING";
}

/**
 * Decodes a file such that encoding its text gives the same bytes: in the encoding of its mark,
 * else in the first that does of those given, UTF-8 and the guesses.
 */
export async function decodeFile(bytes: Uint8Array, wished: readonly string[]): Promise<Decoded> {
  const mark = markOf(bytes);
  const first = mark ?? wished[0] ?? "utf8";
  const none = { text: "", encoding: first, bom: mark !== undefined };
  if (!first.startsWith("utf16") && bytes.includes(0)) return { ...none, unreadable: "BINARY_FILE" };
  const plain = wished.map((name) => (name === "utf8bom" ? "utf8" : name));
  for (const encoding of mark === undefined ? new Set([...plain, "utf8", ...guesses]) : [mark]) {
    const text = await exactly(bytes, encoding);
    if (text === undefined) continue;
    if (guesses.includes(encoding) && !wished.includes(encoding) && isNoText(text)) return { ...none, unreadable: "BINARY_FILE" };
    return { ...none, text: text.startsWith(byteOrderMark) ? text.slice(1) : text, encoding };
  }
  return { ...none, unreadable: "ENCODING" };
}

/** The text of bytes in an encoding; undefined if it does not give the same bytes again. */
export async function exactly(bytes: Uint8Array, encoding: string): Promise<string | undefined> {
  if (encoding === strayUtf8) return withStrays(bytes);
  if (isUtf8(encoding)) {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return undefined;
    }
  }
  const text = await vscode.workspace.decode(bytes, { encoding });
  return Buffer.compare(await encode(text, encoding), bytes) === 0 ? text : undefined;
}

/** The text of bytes that are mostly UTF-8: each of the others becomes a character for private use, as with the agent. */
function withStrays(bytes: Uint8Array): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0;
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    try {
      text += decoder.decode(bytes.subarray(at, at + length));
      at += length;
    } catch {
      text += String.fromCodePoint(strayBase + first);
      at++;
    }
  }
  return text;
}

/** The bytes of a text, with a mark where the encoding has one; a character that it cannot store is another there. */
export async function encode(text: string, encoding: string): Promise<Uint8Array> {
  if (isUtf8(encoding)) return Buffer.from(encoding === "utf8bom" ? byteOrderMark + text : text, "utf8");
  return vscode.workspace.encode(text, { encoding });
}

/** The first character of a text that an encoding cannot store, and its line from 1. */
export async function unstorable(text: string, encoding: string): Promise<{ character: string; line: number } | undefined> {
  const bytes = await encode(text, encoding);
  const stored = isUtf8(encoding) ? Buffer.from(bytes).toString("utf8") : await vscode.workspace.decode(bytes, { encoding });
  const now = Array.from(stored.startsWith(byteOrderMark) && !text.startsWith(byteOrderMark) ? stored.slice(1) : stored);
  let line = 1;
  for (const [at, character] of Array.from(text).entries()) {
    if (character !== now[at]) return { character, line };
    if (character === "\n") line++;
  }
  return undefined;
}

/** UTF-8 can store every text, and bytes show themselves whether they are UTF-8. */
export function isUtf8(encoding: string): boolean {
  return encoding === "utf8" || encoding === "utf8bom";
}

/** Control characters, which a text in an 8-bit encoding has few of. */
function isNoText(text: string): boolean {
  const head = text.slice(0, headMax);
  const controls = head.match(/[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f\u007f]/g)?.length ?? 0;
  return controls * 20 > head.length;
}

/** The encoding that a byte order mark names, as the editor calls it. */
function markOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf8bom";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf16be";
  return undefined;
}
