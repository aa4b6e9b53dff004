import { diffTools } from "../difftools";
import { diagnosticsTool } from "../editortools";
import { texts } from "../result";
import type { Tool } from "../tools";
import { text, ToolTable } from "../tools";
import { plainFailure, review } from "./reviews";
import type { GuestHost } from "./reviews";

/** The header that carries the token of a guest, raw. */
export const guestHeader = "x-claude-code-ide-authorization";

const diff = {
  type: "object",
  properties: {
    old_file_path: { type: "string" },
    new_file_path: { type: "string" },
    new_file_contents: { type: "string" },
    tab_name: { type: "string" },
  },
  required: ["old_file_path", "new_file_contents", "tab_name"],
} as const;

/** The tools that Claude Code calls in an editor; none of them answers a review or changes a file. */
export function socketTools(host: GuestHost): ToolTable {
  const { reviews, ports, others } = host;
  const tools: Tool[] = [
    {
      name: "openDiff",
      description: "Shows a proposed edit as a diff and waits until the person accepts or rejects it.",
      inputSchema: diff,
      call: async (call) => {
        const name = text(call.args, "tab_name") ?? "";
        const oldPath = text(call.args, "old_file_path") ?? "";
        const path = text(call.args, "new_file_path") ?? oldPath;
        const decision = await review(host, call, { oldPath, path, text: text(call.args, "new_file_contents") ?? "", name });
        return decision === "rejected" ? texts("DIFF_REJECTED", name) : texts("FILE_SAVED", decision.accepted);
      },
    },
    ...diffTools(reviews, ports, others).filter(({ name }) => ["close_tab", "closeAllDiffTabs"].includes(name)),
    diagnosticsOnly(diagnosticsTool(ports)),
  ];
  return new ToolTable(tools, {}, plainFailure);
}

/** The diagnostics in the one item that others expect. */
function diagnosticsOnly(tool: Tool): Tool {
  return {
    ...tool,
    description: "Errors and warnings, of one file or of all.",
    inputSchema: { type: "object", properties: { uri: { type: "string" } } },
    call: async ({ client, args, cancelled }) => {
      const answer = await tool.call({ client, cancelled, args: args["uri"] === undefined ? {} : { uri: args["uri"] } });
      return typeof answer === "string" ? answer : texts(answer.content[0]?.text ?? "[]");
    },
  };
}
