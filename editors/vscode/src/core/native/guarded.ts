import { messageOf, ToolError } from "../errors";
import { json } from "../result";
import type { ToolResult } from "../result";
import type { Answer } from "../review";
import { text } from "../tools";
import type { ToolCall } from "../tools";

/** Wraps a tool so that failures are answered as {"error", code, and the argument of that name}. */
export function guarded(about: string, call: (call: ToolCall) => Promise<Answer>): (call: ToolCall) => Promise<Answer> {
  return async (given) => {
    try {
      return await call(given);
    } catch (err) {
      const known = knownError(err);
      if (known === undefined) throw err;
      return errorOf(known, about, text(given.args, about));
    }
  };
}

/** more: parts of the answer beside the error. */
export function errorOf({ code, message }: ToolError, about: string, value: string | undefined, more: object = {}): ToolResult {
  const said = { error: message, ...(value === undefined ? {} : { [about]: value }), code, ...more };
  return { ...json(said), structuredContent: { code, message, ...more }, isError: true };
}

/** The error as a client may be told it; undefined for a fault of ours. */
export function knownError(err: unknown): ToolError | undefined {
  return err instanceof ToolError ? err : fromSystem(err);
}

/** The same, where a client must be told in any case: a fault of ours is INTERNAL. */
export function toolError(err: unknown): ToolError {
  return knownError(err) ?? new ToolError("INTERNAL", messageOf(err));
}

/** The result for a call that did not begin, because its arguments are wrong for example. */
export function jsonFailure(thrown: unknown): ToolResult {
  return errorOf(toolError(thrown), "", undefined);
}

/** The operating system's error, for whoever has to act on it. */
function fromSystem(err: unknown): ToolError | undefined {
  switch ((err as NodeJS.ErrnoException | undefined)?.code) {
    case "ENOENT":
    case "ENOTDIR":
      return new ToolError("FILE_NOT_FOUND", "there is no such file or folder");
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new ToolError("PERMISSION_DENIED", `permission denied: ${messageOf(err)}`);
    case "EISDIR":
      return new ToolError("INVALID_PARAMS", "it is a folder");
    case "ELOOP":
      return new ToolError("INVALID_PARAMS", "the symbolic links lead in a circle");
    default:
      return undefined;
  }
}
