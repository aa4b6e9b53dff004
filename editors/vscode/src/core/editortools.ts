import { fileURLToPath } from "node:url";
import { settle } from "./diagnostics";
import { ToolError } from "./errors";
import { canonical, checkPath } from "./paths";
import { isObject } from "./schema";
import { lookUps } from "./ports";
import type { Cancel, Ports, Range } from "./ports";
import { json, texts } from "./result";
import type { ToolResult } from "./result";
import { toWire } from "./selection";
import type { SelectionTracker } from "./selection";
import { oneLine, textSha256, visibleName } from "./text";
import { flag, integer, text, wireRange } from "./tools";
import type { Tool } from "./tools";

const none = { type: "object", properties: {} } as const;
const onePath = { type: "object", properties: { filePath: { type: "string" } }, required: ["filePath"] } as const;

/** The tools that read the editor's state, show files and save them. */
export function editorTools(ports: Ports, selections: SelectionTracker): readonly Tool[] {
  return [
    openFileTool(ports),
    diagnosticsTool(ports),
    simple("getCurrentSelection", "The selection in the focused editor.", () => currentSelection(ports)),
    simple("getLatestSelection", "The last selection, also after the focus has gone elsewhere.", () => {
      const latest = selections.latest();
      return json(latest ?? { success: false, message: "No selection available" });
    }),
    simple("getOpenEditors", "The open tabs.", () => json({ tabs: openEditors(ports) })),
    simple("getWorkspaceFolders", "The folders of the workspace.", () => {
      const folders = ports.workspace.folders().map(({ name, uri, path }) => ({ name, uri, path }));
      return json({ success: true, folders, rootPath: folders[0]?.path ?? null });
    }),
    dirtyTool(ports),
    saveTool(ports),
    removedTool(ports),
    lookUpTool(ports),
    {
      name: "setStatus",
      description: "Shows in the editor's status bar what this client is doing.",
      inputSchema: {
        type: "object",
        properties: {
          state: { type: "string", enum: ["idle", "working", "waiting", "error"] },
          text: { type: "string" },
          tooltip: { type: "string" },
        },
        required: ["state"],
      },
      call: ({ client, args }) => {
        const status = { text: oneLine(text(args, "text") ?? "", 60), tooltip: oneLine(text(args, "tooltip") ?? "", 300) };
        client.setStatus({ state: text(args, "state") ?? "idle", ...status });
        return Promise.resolve(json({ success: true }));
      },
    },
  ];
}

function simple(name: string, description: string, answer: () => ToolResult): Tool {
  return { name, description, inputSchema: none, call: () => Promise.resolve(answer()) };
}

function currentSelection(ports: Ports): ToolResult {
  const now = ports.editors.selection();
  if (now === undefined) return json({ success: false, message: "No active editor found" });
  return json({ success: true, ...toWire(now) });
}

function openEditors(ports: Ports): object[] {
  const now = ports.editors.selection();
  return ports.editors.tabs().map(({ path, ...tab }) => ({
    ...tab,
    fileName: path,
    ...(tab.isActive && now?.uri === tab.uri ? { selection: wireRange(now) } : {}),
  }));
}

function openFileTool(ports: Ports): Tool {
  return {
    name: "openFile",
    description: "Shows a file, optionally with lines or a text selected.",
    inputSchema: {
      type: "object",
      properties: {
        filePath: { type: "string" },
        preview: { type: "boolean" },
        startLine: { type: "integer", description: "1-based", minimum: 1 },
        endLine: { type: "integer", description: "1-based, inclusive", minimum: 1 },
        startText: { type: "string" },
        endText: { type: "string" },
        selectToEndOfLine: { type: "boolean" },
        makeFrontmost: { type: "boolean" },
      },
      required: ["filePath"],
    },
    call: async ({ args }) => {
      const path = text(args, "filePath") ?? "";
      const file = await ports.documents.read(await canonical(path));
      if (!file.exists) throw new ToolError("NOT_FOUND", `File not found: ${path}`);
      const found = findSelection(file.text, args);
      const makeFrontmost = flag(args, "makeFrontmost", true);
      const request = { path, ...(file.encoding === "utf8" ? {} : { encoding: file.encoding }), preview: flag(args, "preview", false), makeFrontmost };
      const opened = await ports.documents.open(found.range === undefined ? request : { ...request, selection: found.range });
      if (!makeFrontmost) return json({ success: true, filePath: path, ...opened });
      return texts(`Opened file${found.said ?? `: ${path}`}`);
    },
  };
}

/** The range that the arguments describe, and a remark about it. */
function findSelection(body: string, args: Record<string, unknown>): { range?: Range; said?: string } {
  const lines = body.split(/\r\n|\r|\n/);
  const startLine = integer(args, "startLine");
  if (startLine !== undefined) {
    const from = Math.min(startLine, lines.length);
    const to = Math.min(Math.max(integer(args, "endLine") ?? from, from), lines.length);
    const end = { line: to - 1, character: lines[to - 1]?.length ?? 0 };
    return { range: { start: { line: from - 1, character: 0 }, end }, said: ` and selected lines ${from} to ${to}` };
  }
  const startText = text(args, "startText");
  if (startText === undefined || startText === "") return {};
  const from = body.indexOf(startText);
  if (from < 0) return { said: `, but text "${oneLine(startText, 80)}" not found` };
  const endText = text(args, "endText");
  const at = endText === undefined || endText === "" ? -1 : body.indexOf(endText, from + startText.length);
  let end = position(body, at < 0 ? from + startText.length : at + (endText?.length ?? 0));
  if (flag(args, "selectToEndOfLine", false)) end = { line: end.line, character: lines[end.line]?.length ?? 0 };
  const to = at < 0 ? startText : (endText ?? "");
  return {
    range: { start: position(body, from), end },
    said: ` and selected text from "${oneLine(startText, 80)}" to "${oneLine(to, 80)}"`,
  };
}

function position(body: string, offset: number): { line: number; character: number } {
  const before = body.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
}

/** The tool that reports errors and warnings. */
export function diagnosticsTool(ports: Ports): Tool {
  return {
    name: "getDiagnostics",
    description:
      "Errors and warnings, of one file or of all. With waitMs the file is loaded and its diagnostics are waited for. The second " +
      "item says whether they are settled: if not, nothing reported does not mean that nothing is wrong.",
    inputSchema: {
      type: "object",
      properties: {
        uri: { type: "string", description: "file:// URI or absolute path; all files if absent" },
        waitMs: { type: "integer", minimum: 0, maximum: 60_000 },
        severity: { type: "string", description: "the least severity", enum: ["error", "warning", "information", "info", "hint"] },
        limit: { type: "integer", minimum: 1 },
      },
    },
    call: async ({ args }) => {
      const uri = text(args, "uri");
      const query = {
        file: uri === undefined ? undefined : toPath(uri),
        waitMs: integer(args, "waitMs") ?? 0,
        severity: text(args, "severity") ?? "hint",
        limit: integer(args, "limit") ?? 500,
      };
      const { files, state } = await settle(ports, query);
      return texts(JSON.stringify(files), JSON.stringify(state));
    },
  };
}

function toPath(uri: string): string {
  if (!uri.startsWith("file:")) {
    checkPath(uri);
    return uri;
  }
  try {
    return fileURLToPath(uri);
  } catch {
    throw new ToolError("INVALID_PARAMS", `not the URI of a local file: ${uri}`);
  }
}

function dirtyTool(ports: Ports): Tool {
  return {
    name: "checkDocumentDirty",
    description:
      "Whether a file is open with unsaved changes, and the encoding that was chosen for it here, if any; with includeText also the unsaved text and its SHA-256.",
    inputSchema: {
      type: "object",
      properties: { filePath: { type: "string" }, includeText: { type: "boolean" } },
      required: ["filePath"],
    },
    call: async ({ args }) => {
      const path = text(args, "filePath") ?? "";
      const real = await canonical(path);
      const buffer = ports.documents.buffer(real);
      const encoding = await ports.documents.chosen(real);
      if (buffer === undefined) return json({ success: false, message: `Document not open: ${path}`, encoding });
      const { isDirty, isUntitled } = buffer;
      const more = flag(args, "includeText", false) && buffer.text !== undefined ? { text: buffer.text, sha256: textSha256(buffer.text) } : {};
      return json({ success: true, filePath: path, isDirty, isUntitled, encoding, ...more });
    },
  };
}

function saveTool(ports: Ports): Tool {
  return {
    name: "saveDocument",
    description: "Saves a file that is open in the editor.",
    inputSchema: onePath,
    call: async ({ args }) => {
      const path = text(args, "filePath") ?? "";
      const real = await canonical(path);
      if (ports.documents.buffer(real) === undefined) return json({ success: false, message: `Document not open: ${path}` });
      const saved = await ports.documents.save(real);
      if (!saved) return json({ success: false, message: `The editor did not save ${path}` });
      return json({ success: true, filePath: path, saved: true, message: "Document saved" });
    },
  };
}

function removedTool(ports: Ports): Tool {
  return {
    name: "fileRemoved",
    description: "A file was deleted, or moved: its tabs are closed, except those with unsaved changes.",
    inputSchema: {
      type: "object",
      properties: { filePath: { type: "string" }, movedTo: { type: "string" } },
      required: ["filePath"],
    },
    call: async ({ args }) => {
      const real = await canonical(text(args, "filePath") ?? "");
      const to = text(args, "movedTo");
      const kept = await ports.editors.removed(real, to === undefined ? undefined : await canonical(to));
      if (kept > 0) ports.notices.warn(ports.t("{0} is gone, but not your unsaved changes: save its tab to keep them, or close it.", visibleName(real)));
      return json({ success: true, kept });
    },
  };
}

const lookUpMs = 20_000;
const lookUpMax = 4 << 20;

function lookUpTool(ports: Ports): Tool {
  return {
    name: "lookUp",
    description:
      "Answers a request of the Language Server Protocol from what the editor knows, about the texts in its buffers; known is false if nothing here knows the language. It changes nothing.",
    inputSchema: {
      type: "object",
      properties: { method: { type: "string", enum: lookUps }, params: { type: "object", properties: {} } },
      required: ["method", "params"],
    },
    call: async ({ args, cancelled }) => {
      const method = lookUps.find((each) => each === args["method"]) ?? "workspace/symbol";
      const params = isObject(args["params"]) ? args["params"] : {};
      const found = await within(ports, cancelled, ports.languages.lookUp(method, params));
      if (found === "cancelled") return "silent";
      const answer = JSON.stringify(found === undefined ? { known: false } : { known: true, result: found.result ?? null });
      if (answer.length > lookUpMax) throw new ToolError("FILE_TOO_LARGE", "the answer has more than 4 MiB");
      return texts(answer);
    },
  };
}

/** What work gives; rejects if it takes too long. The editor itself cannot be told to stop. */
async function within<T>(ports: Ports, cancelled: AbortSignal, work: Promise<T>): Promise<T | "cancelled"> {
  let stop: Cancel = () => undefined;
  const late = new Promise<never>((_, fail) => {
    stop = ports.clock.after(lookUpMs, () => fail(new ToolError("TIMEOUT", "no answer within 20 s")));
  });
  const given = new Promise<"cancelled">((done) => cancelled.addEventListener("abort", () => done("cancelled"), { once: true }));
  try {
    return await Promise.race([work, late, given]);
  } finally {
    stop();
    work.catch(() => undefined); // it may fail after nobody waits for it
  }
}
