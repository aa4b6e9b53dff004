import { lstatSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import groups from "../../../../../internal/permission/protected.json";
import { isHidden } from "../hidden";

/** A kind of protected files, as the program's list has them. */
interface Group {
  readonly why: string;
  /** Whether the folders count above the workspace, too: the workspace may be one of them. */
  readonly above?: boolean;
  readonly folders?: readonly string[];
  readonly files?: readonly string[];
  readonly prefixes?: readonly string[];
  readonly suffixes?: readonly string[];
  readonly paths?: readonly string[];
}

const list: readonly Group[] = groups;

/** Why a change of the file could run code or widen permissions; undefined if it could not. */
export function protectedWhy(relative: string, path: string): string | undefined {
  const parts = fold(relative).split("/");
  const above = fold(dirname(path).split(sep).join("/")).split("/");
  return list.find((group) => holds(group, parts) || (group.above === true && liesIn(group, above)))?.why ?? gitFolder(path);
}

function liesIn({ folders = [] }: Group, parts: readonly string[]): boolean {
  return parts.some((part) => folders.includes(part));
}

function holds(group: Group, parts: readonly string[]): boolean {
  const base = parts.at(-1) ?? "";
  const path = `/${parts.join("/")}`;
  return (
    group.files?.includes(base) === true ||
    group.prefixes?.some((prefix) => base.startsWith(prefix)) === true ||
    group.suffixes?.some((suffix) => base.endsWith(suffix)) === true ||
    liesIn(group, parts.slice(0, -1)) ||
    group.paths?.some((end) => (end.endsWith("/") ? path.includes(`/${end}`) : path.endsWith(`/${end}`))) === true
  );
}

/** Makes names equal that a file system may take for the same. */
function fold(name: string): string {
  const shown = Array.from(name.toUpperCase().toLowerCase()).filter((char) => !isHidden(char.codePointAt(0) ?? 0));
  return shown
    .join("")
    .split("/")
    .map((part) => {
      const stem = (part.split(":")[0] ?? "").replace(/[. ]+$/, "");
      return stem === "" ? part : stem === "git~1" ? ".git" : stem;
    })
    .join("/");
}

/** Git recognizes a repository by its content, whatever its name. */
function gitFolder(path: string): string | undefined {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    const folder = dirname(at);
    const part = fold(basename(at));
    const has = (name: string): boolean => part === name.toLowerCase() || exists(join(folder, name));
    if (has("HEAD") && (has("commondir") || (has("objects") && has("refs")))) return "git may run what is in its folder";
  }
  return undefined;
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
