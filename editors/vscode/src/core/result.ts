import { messageOf, ToolError } from "./errors";

/** A tool's answer: items of text and, for programs, an object. */
export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly structuredContent?: object;
  readonly isError?: true;
}

/** Half characters, which an editor's text may hold, are replaced: strict readers refuse them. */
export function texts(...items: readonly string[]): ToolResult {
  return { content: items.map((text) => ({ type: "text" as const, text: text.toWellFormed() })) };
}

/** A single item with the object as JSON. */
export function json(value: unknown): ToolResult {
  return texts(JSON.stringify(value));
}

/** "CODE: message" for people and models, code and message apart for programs. */
export function failure(thrown: unknown): ToolResult {
  const code = thrown instanceof ToolError ? thrown.code : "INTERNAL";
  const message = messageOf(thrown);
  return { ...texts(`${code}: ${message}`), structuredContent: { code, message }, isError: true };
}
