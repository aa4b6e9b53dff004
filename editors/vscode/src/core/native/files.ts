import { readdir, stat } from "node:fs/promises";
import { needText } from "../base";
import { ToolError } from "../errors";
import type { Ports } from "../ports";
import { json, texts } from "../result";
import type { ToolResult } from "../result";
import { toLf } from "../text";
import { flag, integer, text } from "../tools";
import type { Tool } from "../tools";
import { placeOf } from "./access";
import type { Place } from "./access";
import { guarded } from "./guarded";
import { filesBelow, searchBelow } from "./ripgrep";

const maxReadLines = 2_000;
const maxReadBytes = 20 * 1024 * 1024;
const maxEntries = 500;
const maxMatches = 300;

/** The tools that look at files. */
export function fileTools(ports: Ports): readonly Tool[] {
  return [readTool(ports), listTool(ports), searchTool(ports)];
}

function readTool(ports: Ports): Tool {
  return {
    name: "read_file",
    description: `Reads a text file: "line | content" for each line, then total_lines. At most ${maxReadLines} lines at a time.`,
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string" },
        start_line: { type: "integer", description: "first line, from 1", minimum: 1 },
        end_line: { type: "integer", description: "last line, inclusive", minimum: 1 },
      },
      required: ["path"],
    },
    call: guarded("path", async ({ args }) => {
      const place = await placeOf(ports.workspace, text(args, "path") ?? "");
      if ((await stat(place.path)).isDirectory()) throw new ToolError("INVALID_PARAMS", "it is a folder: use list_files");
      if ((await stat(place.path)).size > maxReadBytes) throw new ToolError("FILE_TOO_LARGE", "the file is too large to be read as text");
      const file = await ports.documents.read(place.path);
      needText(file, place.relative);
      return page(file.text, integer(args, "start_line") ?? 1, integer(args, "end_line"));
    }),
  };
}

function page(body: string, from: number, to: number | undefined): ToolResult {
  const lines = toLf(body).split("\n");
  if (lines.at(-1) === "") lines.pop();
  const total = lines.length;
  if (from > Math.max(total, 1)) throw new ToolError("INVALID_PARAMS", `the file has no line ${from}; total_lines: ${total}`);
  if (to !== undefined && to < from) throw new ToolError("INVALID_PARAMS", "end_line is before start_line");
  const last = Math.min(to ?? total, total, from + maxReadLines - 1);
  const shown = lines.slice(from - 1, last).map((line, i) => `${from + i} | ${line}\n`);
  const more = last < total ? `; shown: ${from}-${last}` : "";
  return texts(`${shown.join("")}total_lines: ${total}${more}`);
}

function listTool(ports: Ports): Tool {
  return {
    name: "list_files",
    description: `Lists a folder, folders with "/" at their end; at most ${maxEntries} entries. recursive leaves out what .gitignore does.`,
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "the workspace folder if absent" },
        recursive: { type: "boolean", description: "with everything below" },
      },
    },
    call: guarded("path", async ({ args, cancelled }) => {
      const place = await placeOf(ports.workspace, text(args, "path") ?? ".");
      if (!(await stat(place.path)).isDirectory()) throw new ToolError("INVALID_PARAMS", "it is a file: use read_file");
      const all = flag(args, "recursive", false) ? await below(ports, place, cancelled) : await entries(place);
      return json({ path: place.relative === "" ? "." : place.relative, files: all.slice(0, maxEntries), truncated: all.length > maxEntries });
    }),
  };
}

async function entries({ path }: Place): Promise<string[]> {
  const found = await readdir(path, { withFileTypes: true });
  return found.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
}

/** The files below a folder and the folders that they are in. */
async function below(ports: Ports, { path }: Place, cancelled: AbortSignal): Promise<string[]> {
  const all = new Set<string>();
  for (const file of await filesBelow(ports.ripgrep, path, maxEntries + 1, cancelled)) {
    const parts = file.split("/");
    for (let i = 1; i < parts.length; i++) all.add(parts.slice(0, i).join("/") + "/");
    all.add(file);
  }
  return [...all].sort();
}

function searchTool(ports: Ports): Tool {
  return {
    name: "search_files",
    description: `Finds a regular expression (ripgrep's) in files, with a line of context; at most ${maxMatches} matches. Leaves out what .gitignore does.`,
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: "object",
      properties: {
        regex: { type: "string" },
        path: { type: "string", description: "folder or file; the workspace folder if absent" },
        file_pattern: { type: "string", description: "such as *.ts" },
      },
      required: ["regex"],
    },
    call: guarded("path", async ({ args, cancelled }) => {
      const place = await placeOf(ports.workspace, text(args, "path") ?? ".");
      await stat(place.path);
      const query = { regex: text(args, "regex") ?? "", filePattern: text(args, "file_pattern"), limit: maxMatches };
      const found = await searchBelow(ports.ripgrep, { base: place.folder, target: place.path }, query, cancelled);
      if (found.matches === 0) return texts("No matches.");
      const more = found.truncated ? `; the first ${maxMatches}, there are more` : "";
      return texts(`${found.text}\nmatches: ${found.matches}${more}`);
    }),
  };
}
