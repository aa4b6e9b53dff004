import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { ToolError } from "./errors";

/** An editor holds no larger text. */
const maxBytes = 256 * 1024 * 1024;

/**
 * Reads a regular file. A pipe would be waited for in one of the few threads that
 * the whole extension host reads with, and a device may have no end.
 */
export async function readRegular(path: string, limit = maxBytes): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await file.stat();
    if (!found.isFile() && !found.isDirectory()) throw new ToolError("INVALID_PARAMS", "it is no regular file");
    if (found.size > limit) throw new ToolError("FILE_TOO_LARGE", "the file is too large to be read as text");
    return await file.readFile(); // of a folder: EISDIR
  } finally {
    await file.close();
  }
}
