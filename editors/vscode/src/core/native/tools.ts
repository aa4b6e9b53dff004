import { ToolError } from "../errors";
import type { Ports } from "../ports";
import { text } from "../tools";
import type { Tool } from "../tools";
import { applyBlocks, parseBlocks } from "./blocks";
import { commandTool } from "./command";
import type { Edit, Edits } from "./edits";
import { fileTools } from "./files";
import { guarded } from "./guarded";
import { problemsTool } from "./problems";

/** The tools for clients that have no hands of their own: the editor reads, writes and runs for them. */
export function nativeTools(ports: Ports, edits: Edits): readonly Tool[] {
  return [writeTool(edits), applyTool(edits), commandTool(ports), ...fileTools(ports), problemsTool(ports)];
}

function writeTool(edits: Edits): Tool {
  return {
    name: "write_file",
    description:
      "Proposes the whole contents of a file, new or not, as a diff, and writes what the person accepts. Answers " +
      "{status: accepted|rejected, path, operation, user_edits?, format_edits?, new_diagnostics?}; user_edits is a unified diff from what you proposed to what the person made of it.",
    annotations: { destructiveHint: true, idempotentHint: true },
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "absolute, or relative to the workspace folder" },
        content: { type: "string" },
        description: { type: "string", description: "why, for the person" },
      },
      required: ["path", "content"],
    },
    call: guarded("path", (call) => {
      const description = text(call.args, "description") ?? "";
      return edits.edit(call, text(call.args, "path") ?? "", () => ({ text: text(call.args, "content") ?? "", description, more: {} }));
    }),
  };
}

function applyTool(edits: Edits): Tool {
  return {
    name: "apply_diff",
    description:
      "Proposes changes of a file as SEARCH/REPLACE blocks and writes what the person accepts; answers like write_file. Each block is " +
      "<<<<<<< SEARCH, the exact lines to find, =======, the lines to put there, >>>>>>> REPLACE. What a block searches must be there exactly " +
      "once. If only some blocks apply, the answer has partial: true and failed_blocks, their numbers from 0.",
    annotations: { destructiveHint: true },
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "absolute, or relative to the workspace folder" },
        diff: { type: "string" },
        description: { type: "string", description: "why, for the person" },
      },
      required: ["path", "diff"],
    },
    call: guarded("path", (call) => {
      const blocks = parseBlocks(text(call.args, "diff") ?? "");
      return edits.edit(call, text(call.args, "path") ?? "", (base): Edit => {
        if (!base.file.exists) throw new ToolError("FILE_NOT_FOUND", "there is no such file; use write_file to make one");
        const { text: result, failures } = applyBlocks(base.original, blocks);
        if (failures.length === blocks.length) throw new ToolError("HUNK_MISMATCH", failures.map(({ error }) => error).join("\n\n"));
        const partial = { partial: true, failed_blocks: failures.map(({ block }) => block), errors: failures };
        return { text: result, description: text(call.args, "description") ?? "", more: failures.length === 0 ? {} : partial };
      });
    }),
  };
}
