import { isAbsolute, resolve } from "node:path";
import { ToolError } from "../errors";
import { canonical, isInside, relativeTo } from "../paths";
import type { Folder, Workspace } from "../ports";
import { protectedWhy } from "./protected";

/** A file or folder of the workspace, by its real path. */
export interface Place {
  readonly path: string;
  /** Relative to its workspace folder, with "/" between its parts; "" for the folder itself. */
  readonly relative: string;
  readonly folder: string;
}

/** Files that other programs execute or obey: never changed without a person's consent. */
export function isObeyed(place: Place): boolean {
  return protectedWhy(place.relative, place.path) !== undefined;
}

/**
 * Resolves a path as a client names it: absolute, or relative to the first workspace folder (with
 * several, to the one whose name begins the path). Refuses it if, with all links resolved, it is
 * outside every workspace folder; for a missing file, its folders are resolved.
 */
export async function placeOf(workspace: Workspace, given: string): Promise<Place> {
  const folders = workspace.folders();
  const first = folders[0];
  if (first === undefined) throw new ToolError("NO_WORKSPACE", "no folder is open in the editor");
  if (given.trim() === "") throw new ToolError("INVALID_PARAMS", "the path is empty");
  const path = await canonical(isAbsolute(given) ? given : fromFolder(folders, first, given)).catch((err: unknown) => {
    // These doors have one code for everything missing, a link's target too.
    throw err instanceof ToolError && err.code === "NOT_FOUND" ? new ToolError("FILE_NOT_FOUND", err.message) : err;
  });
  // A folder that leads nowhere holds nothing, and must not shut the others.
  const roots = await Promise.all(folders.map((root) => canonical(root.path).catch(() => undefined)));
  const folder = roots.filter((root) => root !== undefined).filter((root) => isInside(path, root)).sort((a, b) => b.length - a.length)[0];
  if (folder === undefined) throw new ToolError("OUTSIDE_WORKSPACE", `${given} is outside the folders that are open in the editor`);
  return { path, relative: relativeTo(path, [folder]) ?? "", folder };
}

function fromFolder(folders: readonly Folder[], first: Folder, given: string): string {
  const [head = "", ...rest] = given.split(/[\\/]/);
  const named = folders.length > 1 ? folders.find(({ name }) => name === head) : undefined;
  return named === undefined ? resolve(first.path, given) : resolve(named.path, ...rest);
}

/** Refuses what changes or runs something in a folder that the person does not trust. */
export function needTrust(workspace: Workspace): void {
  if (!workspace.isTrusted()) throw new ToolError("WORKSPACE_UNTRUSTED", "the person has not trusted this workspace, so nothing is changed or run in it");
}
