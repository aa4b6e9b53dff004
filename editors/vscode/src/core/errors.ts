/** The codes that a client may branch on; they are part of the protocol. */
export type ErrorCode =
  | "INVALID_PARAMS"
  | "NOT_FOUND"
  | "FILE_NOT_FOUND"
  | "NO_WORKSPACE"
  | "OUTSIDE_WORKSPACE"
  | "WORKSPACE_UNTRUSTED"
  | "PERMISSION_DENIED"
  | "HUNK_MISMATCH"
  | "SEARCH_UNAVAILABLE"
  | "TIMEOUT"
  | "DIRTY_DOCUMENT"
  | "STALE_BASE"
  | "BINARY_FILE"
  | "ENCODING"
  | "FILE_TOO_LARGE"
  | "DIFF_NOT_FOUND"
  | "BUSY"
  | "ABORTED"
  | "INTERNAL";

/** A failure whose message is for the person or the model at the other end. */
export class ToolError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
    this.name = "ToolError";
  }
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
