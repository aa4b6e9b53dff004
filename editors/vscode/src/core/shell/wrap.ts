import { basename } from "node:path";

/** Above this a command is no pleasure to see in a terminal, and slow to be typed into one. */
const maxCommandUnits = 1_500;

/**
 * The start of each line of ours: a bash goes to the folder and becomes the one that runs the
 * command, so that the command itself is exactly what was approved.
 */
const start = `bash -c 'cd -P "$0" && `;
const asIs = `${start}exec bash -c "$1"'`;
const escaped = `${start}printf -v agent %b "$1" && exec bash -c "$agent"'`;

/**
 * The command as one line for an interactive bash that always reports its end: bash does not report
 * the end of loops, here-documents and subshells typed over several lines. It runs in the folder,
 * whatever folder that bash is in. Undefined if there is no such line, as for zsh, which does not
 * report the end of an interrupted command.
 *
 * The line has no $'…': with HISTCONTROL=ignoreboth, Debian's default, bash reports the lines that
 * it begins as it writes them itself. That differs then, the editor takes the command for another,
 * and its output may be lost.
 */
export function wrapped(command: string, cwd: string, shell: string): string | undefined {
  if (shellName(shell) !== "bash" || untyped.test(cwd)) return undefined;
  const plain = command.replace(special, escape);
  const text = quote(plain);
  if (text.length > maxCommandUnits) return undefined;
  return `${plain === command ? asIs : escaped} ${/^[\w/.,:@+-]+$/.test(cwd) ? cwd : quote(cwd)} ${text}`;
}

/** Reports whether a shell may mean a line of wrapped by a command line that it reports: without a history it reports "". */
export function isWrapped(reported: string): boolean {
  const line = reported.trim();
  return line === "" || line.startsWith(start);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// Text that an interactive shell takes for history, or that cannot be typed.
const untyped = /[!\u0000-\u001f\u007f]/;
const special = new RegExp(`\\\\|${untyped.source}`, "g");

function escape(c: string): string {
  if (c === "\\") return "\\\\";
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
