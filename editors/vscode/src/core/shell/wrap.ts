import { basename } from "node:path";

/** Above this a line is no pleasure to see in a terminal, and slow to be typed into one. */
const maxLineUnits = 1_500;

/**
 * The command as one line for an interactive bash that always reports its end: bash does not report
 * the end of loops, here-documents and subshells typed over several lines. Undefined if there is no
 * such line, as for zsh, which does not report the end of an interrupted command.
 */
export function wrapped(command: string, shell: string): string | undefined {
  if (shellName(shell) !== "bash") return undefined;
  const line = `bash -c $'${command.replace(special, escape)}'`;
  return line.length > maxLineUnits ? undefined : line;
}

// Text that would end the quotes or the line, that an interactive shell takes for history, or that
// cannot be typed.
const special = /[\\'!\u0000-\u001f\u007f]/g;

function escape(c: string): string {
  if (c === "\\" || c === "'") return "\\" + c;
  if (c === "\n") return "\\n";
  if (c === "\t") return "\\t";
  return `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

export function shellName(shell: string): string {
  return basename(shell.replaceAll("\\", "/")).replace(/\.exe$/i, "").toLowerCase();
}

/** How a shell is told to run a command and end. */
export function shellCommand(shell: string, command: string, platform: NodeJS.Platform = process.platform): [string, ...string[]] {
  const name = shellName(shell);
  if (platform === "win32") {
    if (name === "pwsh" || name === "powershell") return [shell, "-NoProfile", "-NonInteractive", "-Command", command];
    if (!posix.has(name)) return [process.env["ComSpec"] ?? "cmd.exe", "/d", "/s", "/c", command];
    return [shell, "-c", command];
  }
  return [posix.has(name) || name === "fish" ? shell : "/bin/sh", "-c", command];
}

const posix = new Set(["bash", "zsh", "sh", "dash", "ksh", "ash", "mksh"]);
