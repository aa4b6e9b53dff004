import * as vscode from "vscode";
import { systemClock } from "../core/clock";
import type { Cancel, CommandResult, CommandRun } from "../core/ports";
import { Stripper } from "../core/shell/ansi";
import { notRun } from "../core/shell/child";
import { withoutNotice } from "../core/shell/notice";
import { Output } from "../core/shell/output";
import { endTree } from "../core/shell/tree";
import { isWrapped, shellName } from "../core/shell/wrap";
import { waitUntil } from "../core/waiting";

const integrationMs = 4_000;
// The editor looks at the name of the process five times a second.
const namedMs = 2_000;
// For a shell that is slow, and for nobody to wonder about an empty terminal.
const lateMs = 30_000;
const drainMs = 1_000;
const endMs = 3_000;

/** A terminal with the person's own shell, which tells when a command begins and ends. */
export class Integrated {
  readonly terminal: vscode.Terminal;
  busy = false;
  /** A command was ended here: its shell may still tell of that, and nobody would know of which command. */
  spoiled = false;
  /** Somebody else ran a command here: it may run still, or have changed the environment. */
  taken = false;
  private isNew = true;
  /** The wait for the editor to name the shell: a terminal waits for that once. */
  private named: Promise<void> | undefined;
  private readonly others = new Set<vscode.TerminalShellExecution>();
  private own: Own | undefined;

  constructor(
    readonly cwd: string,
    options: vscode.TerminalOptions,
  ) {
    this.terminal = vscode.window.createTerminal({ ...options, cwd, isTransient: true });
  }

  /** Its shell, if that tells and is a bash that waits for a command; waits for it while it starts. */
  async ready(): Promise<vscode.TerminalShellIntegration | undefined> {
    const { terminal } = this;
    const isBash = (): boolean => shellName(terminal.state.shell ?? "bash") === "bash";
    await this.waitUntil(() => terminal.shellIntegration !== undefined, integrationMs);
    if (!this.isNew || terminal.shellIntegration === undefined) return terminal.shellIntegration;
    // On a server the process that becomes the shell is Node.js at first, and the editor may have seen that.
    await (this.named ??= this.waitUntil(isBash, namedMs));
    // A new default shell may start before the editor names it, and an extension may run a command in each new shell.
    return isBash() && this.others.size === 0 ? terminal.shellIntegration : undefined;
  }

  /** Waits until something is so, or the terminal has ended, at most ms. */
  private waitUntil(is: () => boolean, ms: number): Promise<void> {
    const events = [vscode.window.onDidChangeTerminalShellIntegration, vscode.window.onDidChangeTerminalState, vscode.window.onDidCloseTerminal];
    const on = (look: () => void): Cancel => {
      const listeners = vscode.Disposable.from(...events.map((event) => event(look)));
      return () => void listeners.dispose();
    };
    return waitUntil(() => is() || this.terminal.exitStatus !== undefined, on, systemClock, ms);
  }

  /** It may still tell, and serve the next command; if not, it goes. */
  giveUp(): void {
    systemClock.after(lateMs, () => this.terminal.shellIntegration === undefined && this.terminal.dispose());
  }

  /** Its shell has begun a command. */
  started(execution: vscode.TerminalShellExecution): void {
    if (this.own?.started(execution) === true) return;
    this.others.add(execution);
    // Commands before the end of our first one prepare the terminal, as an extension does for each new one.
    if (!this.isNew || !this.busy) this.taken = true;
  }

  /** Its shell has ended a command. */
  ended(execution: vscode.TerminalShellExecution, exitCode: number | undefined): void {
    if (!this.others.delete(execution)) this.own?.ended(execution, exitCode);
  }

  closed(): void {
    this.own?.end(this.terminal.exitStatus?.code);
  }

  async run(shell: vscode.TerminalShellIntegration, line: string, { timeoutMs, cancelled, printed: seen }: CommandRun): Promise<CommandResult> {
    if (cancelled.aborted) return notRun; // while its terminal started
    let timedOut = false;
    const { terminal } = this;
    // A command that does not end when asked to loses its terminal.
    const kill = (): void => {
      this.spoiled = true;
      terminal.sendText("\u0003", false);
      void terminal.processId.then((pid) => (pid === undefined ? undefined : endTree(pid, false, systemClock)));
      systemClock.after(endMs, () => !over && terminal.dispose());
    };
    let over = false;
    const stop = systemClock.after(timeoutMs, () => {
      timedOut = true;
      kill();
    });
    const output = new Output();
    let printed = Promise.resolve();
    // It runs from here on: nothing may make anybody run it again.
    const own = new Own(shell.executeCommand(line), (execution) => {
      printed = print(execution, output, seen).catch(() => output.add("\n[the rest could not be read]\n"));
    });
    this.own = own;
    cancelled.addEventListener("abort", kill);
    const exitCode = await own.exitCode;
    over = true;
    this.isNew = false;
    this.own = undefined;
    stop();
    cancelled.removeEventListener("abort", kill);
    await Promise.race([printed, new Promise<void>((done) => systemClock.after(drainMs, done))]);
    const text = withoutNotice(output.text, exitCode);
    return { exitCode: timedOut || cancelled.aborted ? null : exitCode, output: text, captured: true, timedOut };
  }
}

/** A command of ours among those that its shell tells of. */
class Own {
  readonly exitCode: Promise<number | null>;
  private running: vscode.TerminalShellExecution | undefined;
  private settle: (code: number | null) => void = () => undefined;

  constructor(
    private readonly asked: vscode.TerminalShellExecution,
    private readonly read: (execution: vscode.TerminalShellExecution) => void,
  ) {
    // Not only when it begins: output of the same moment would be lost.
    read(asked);
    this.exitCode = new Promise((done) => (this.settle = done));
  }

  /** Reports whether it is this command that has begun: the editor names another execution if the shell reports another line. */
  started(execution: vscode.TerminalShellExecution): boolean {
    if (this.running !== undefined) return false;
    if (execution !== this.asked && !isWrapped(execution.commandLine.value)) return false;
    this.running = execution;
    if (execution !== this.asked) this.read(execution);
    return true;
  }

  ended(execution: vscode.TerminalShellExecution, exitCode: number | undefined): void {
    if (execution === this.running) this.end(exitCode);
  }

  end(exitCode: number | undefined): void {
    this.settle(exitCode ?? null);
  }
}

async function print(execution: vscode.TerminalShellExecution, output: Output, seen: CommandRun["printed"]): Promise<void> {
  const stripper = new Stripper("terminal");
  for await (const piece of execution.read()) {
    const text = stripper.take(piece);
    output.add(text);
    if (text !== "") seen?.(text);
  }
}
