import { existsSync } from "node:fs";

const isContainer = ["/.dockerenv", "/run/.containerenv"].some((path) => existsSync(path));

/** A terminal agent of others, whose edits can be reviewed here as those of agent are. */
export interface Guest {
  /** As people call it; the setting lists these. */
  readonly name: string;
  /** As the command line has it. */
  readonly program: string;
  /** Its own extension for this editor, which answers instead of us if it is installed. */
  readonly extension: string;
  /** MCP over a WebSocket, or over HTTP. */
  readonly dialect: "socket" | "http";
  /** By which its program in a terminal tells this window from others; the port is its value. */
  readonly variable: string;
  /** What else its program needs there. */
  readonly also?: Readonly<Record<string, string>>;
}

export const guests: readonly Guest[] = [
  {
    name: "Claude Code",
    program: "claude",
    extension: "anthropic.claude-code",
    dialect: "socket",
    variable: "CLAUDE_CODE_SSE_PORT",
    also: { ENABLE_IDE_INTEGRATION: "true" },
  },
  {
    name: "Gemini CLI",
    program: "gemini",
    extension: "google.gemini-cli-vscode-ide-companion",
    dialect: "http",
    variable: "GEMINI_CLI_IDE_SERVER_PORT",
    // In a container it looks for the editor outside, unless this names the inside.
    ...(isContainer ? { also: { REMOTE_CONTAINERS: "true" } } : {}),
  },
  { name: "Qwen Code", program: "qwen", extension: "qwenlm.qwen-code-vscode-ide-companion", dialect: "http", variable: "QWEN_CODE_IDE_SERVER_PORT" },
];
