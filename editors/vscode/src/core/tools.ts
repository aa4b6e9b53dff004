import { ToolError } from "./errors";
import type { Range } from "./ports";
import { failure as plainFailure } from "./result";
import type { ToolResult } from "./result";
import type { Answer, Owner } from "./review";
import { problem } from "./schema";
import type { ObjectSchema } from "./schema";

/** A call of a tool. */
export interface ToolCall {
  readonly client: ToolClient;
  readonly args: Record<string, unknown>;
  readonly cancelled: AbortSignal;
}

/** The connection that calls, as tools see it. */
export interface ToolClient extends Owner {
  /** From its handshake, sanitized. */
  readonly name: string;
  setStatus(status: { state: string; text: string; tooltip: string }): void;
  /** Its session goes on at least until this is over, as for a call that waits. */
  keepFor?(work: Promise<unknown>): void;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** Hints for clients that do not know the tool. */
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean; readonly idempotentHint?: boolean };
  /** Rejects with a ToolError where the call as such is wrong or cannot be done. */
  call(call: ToolCall): Promise<Answer>;
}

export type Described = Pick<Tool, "name" | "description" | "inputSchema" | "annotations">;

/** A tool table: the tools that are listed, and other names under which they answer. */
export class ToolTable {
  private readonly byName = new Map<string, Tool>();

  constructor(
    readonly listed: readonly Tool[],
    aliases: Readonly<Record<string, string>>,
    /** How a failed call is answered. */
    readonly failure: (thrown: unknown) => ToolResult = plainFailure,
  ) {
    for (const tool of listed) this.byName.set(tool.name, tool);
    for (const [alias, name] of Object.entries(aliases)) {
      const tool = this.byName.get(name);
      if (tool !== undefined) this.byName.set(alias, tool);
    }
  }

  get(name: string): Tool | undefined {
    return this.byName.get(name);
  }

  /** As tools/list has them. */
  described(): Described[] {
    return this.listed.map(({ name, description, inputSchema, annotations }) => ({
      name,
      description,
      inputSchema,
      ...(annotations === undefined ? {} : { annotations }),
    }));
  }
}

/** Refuses arguments that do not fit the tool's schema. */
export function checkArgs(tool: Tool, args: Record<string, unknown>): void {
  const wrong = problem(tool.inputSchema, args, "arguments");
  if (wrong !== undefined) throw new ToolError("INVALID_PARAMS", wrong);
}

export function text(args: Record<string, unknown>, key: string): string | undefined {
  const value = args[key];
  return typeof value === "string" ? value : undefined;
}

export function flag(args: Record<string, unknown>, key: string, fallback: boolean): boolean {
  const value = args[key];
  return typeof value === "boolean" ? value : fallback;
}

export function integer(args: Record<string, unknown>, key: string): number | undefined {
  const value = args[key];
  return typeof value === "number" ? value : undefined;
}

/** A range as the protocol writes it. */
export function wireRange(range: Range): { start: object; end: object; isEmpty: boolean } {
  const isEmpty = range.start.line === range.end.line && range.start.character === range.end.character;
  return { start: { ...range.start }, end: { ...range.end }, isEmpty };
}

export type { ToolResult };
