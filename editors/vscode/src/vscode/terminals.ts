import { basename } from "node:path";
import * as vscode from "vscode";

const program = "agent";

/** The integrated terminals: what they are told, and which of them runs the agent. */
export class Terminals implements vscode.Disposable {
  private readonly running = new Set<vscode.Terminal>();
  private readonly listeners: vscode.Disposable[];

  constructor(private readonly environment: vscode.EnvironmentVariableCollection) {
    // A port of an earlier window must not come back with a restored terminal.
    environment.persistent = false;
    environment.description = "Lets `agent` in this terminal find this window of the editor";
    this.listeners = [
      vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => {
        if (runsAgent(execution.commandLine.value)) this.mark(terminal, true);
      }),
      vscode.window.onDidEndTerminalShellExecution(({ terminal }) => this.mark(terminal, false)),
      vscode.window.onDidCloseTerminal((terminal) => this.mark(terminal, false)),
      vscode.window.onDidChangeActiveTerminal(() => this.tellKeys()),
    ];
  }

  /** What new terminals have to know to find us: never the token. */
  announce(port: number, lockPath: string): void {
    this.environment.replace("AGENT_IDE_PORT", String(port));
    this.environment.replace("AGENT_IDE_LOCK", lockPath);
  }

  withdraw(): void {
    this.environment.clear();
  }

  /** Starts the agent in a new terminal and shows it. */
  start(): void {
    const terminal = vscode.window.createTerminal({ name: "Agent", iconPath: new vscode.ThemeIcon("sparkle") });
    terminal.show();
    terminal.sendText(program);
  }

  /** Shows the terminal that runs the agent, if one is known. */
  show(): void {
    const active = vscode.window.activeTerminal;
    const known = active !== undefined && this.running.has(active) ? active : [...this.running].at(-1);
    known?.show();
  }

  dispose(): void {
    for (const listener of this.listeners) listener.dispose();
    this.withdraw();
  }

  private mark(terminal: vscode.Terminal, runs: boolean): void {
    if (runs) this.running.add(terminal);
    else this.running.delete(terminal);
    this.tellKeys();
  }

  /** The keys that go to the program instead of the editor do so only here. */
  private tellKeys(): void {
    const active = vscode.window.activeTerminal;
    const runs = active !== undefined && this.running.has(active);
    void vscode.commands.executeCommand("setContext", "agent.inTerminal", runs);
  }
}

/** Whether a command line starts the agent, also by a path or behind assignments. */
export function runsAgent(line: string): boolean {
  const words = line.trim().split(/\s+/);
  const first = words.find((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) ?? "";
  return basename(first.replaceAll('"', "").replaceAll("\\", "/")).replace(/\.exe$/i, "") === program;
}
