import * as vscode from "vscode";
import { systemClock } from "../core/clock";
import type { CommandResult, CommandRun, Log, Terminals } from "../core/ports";
import { Stripper } from "../core/shell/ansi";
import { runChild } from "../core/shell/child";
import type { Child } from "../core/shell/child";
import { withoutNotice } from "../core/shell/notice";
import { climb, Patience } from "../core/shell/ladder";
import { Output } from "../core/shell/output";
import { endTree } from "../core/shell/tree";
import { shellName, wrapped } from "../core/shell/wrap";

const integrationMs = 4_000;
// For a shell that is slow, and for nobody to wonder about an empty terminal.
const lateMs = 30_000;
const drainMs = 1_000;
const endMs = 3_000;
const heldMax = 1024 * 1024;
const name = vscode.l10n.t("Agent: Commands");
/** A pager would wait for keys that nobody presses. */
const env = { PAGER: "cat", GIT_PAGER: "cat", MANPAGER: "cat" };

/**
 * Runs commands where the person sees them. The first choice is a terminal whose shell reports the
 * end of a command; without one, or if the command cannot be put as one line, it runs as our child,
 * shown in a terminal. The end of a command is never guessed.
 */
export class Shells implements Terminals, vscode.Disposable {
  private readonly integrated: Integrated[] = [];
  private readonly shown: Shown[] = [];
  private readonly patience = new Patience();
  private readonly listeners = [
    vscode.window.onDidCloseTerminal((terminal) => {
      remove(this.integrated, (each) => each.terminal === terminal);
      remove(this.shown, (each) => each.terminal === terminal);
    }),
    vscode.window.onDidChangeTerminalShellIntegration(() => this.patience.heard()),
  ];

  constructor(
    private readonly log: Log,
    private readonly kind: () => "auto" | "process",
  ) {}

  run(run: CommandRun): Promise<CommandResult> {
    return climb([() => this.takeIntegrated(run), () => this.takeShown(run)], this.log);
  }

  dispose(): void {
    for (const listener of this.listeners) listener.dispose();
    for (const { terminal } of [...this.integrated, ...this.shown]) terminal.dispose();
  }

  private async takeIntegrated(run: CommandRun): Promise<(() => Promise<CommandResult>) | undefined> {
    const line = wrapped(run.command, vscode.env.shell);
    if (line === undefined || !this.patience.isWorthWhile || this.kind() === "process") return undefined;
    const here = this.integrated.filter((each) => !each.busy && each.cwd === run.cwd);
    let free = here.find((each) => !each.spoiled);
    if (free === undefined) {
      for (const each of here) each.terminal.dispose();
      free = new Integrated(run.cwd);
      this.integrated.push(free);
    }
    const taken = free;
    taken.terminal.show(true);
    taken.busy = true;
    const shell = await taken.ready();
    if (shell === undefined) {
      this.patience.miss();
      taken.busy = false;
      taken.giveUp();
      return undefined;
    }
    return () => taken.run(shell, line, run).finally(() => (taken.busy = false));
  }

  // Nothing waits in here, but it may fail.
  // eslint-disable-next-line @typescript-eslint/require-await
  private async takeShown(run: CommandRun): Promise<() => Promise<CommandResult>> {
    let free = this.shown.find((each) => !each.busy && each.cwd === run.cwd);
    if (free === undefined) {
      free = new Shown(run.cwd);
      this.shown.push(free);
    }
    const taken = free;
    taken.terminal.show(true);
    taken.busy = true;
    return () => taken.run(run).finally(() => (taken.busy = false));
  }
}

/** A terminal with the person's own shell, which tells when a command ends. */
class Integrated {
  readonly terminal: vscode.Terminal;
  busy = false;
  /** A command was ended here: its shell may still tell of that, and nobody would know of which command. */
  spoiled = false;

  constructor(readonly cwd: string) {
    this.terminal = vscode.window.createTerminal({ name, cwd, env, iconPath: icon, isTransient: true });
  }

  /** Whether the line can be typed here: a new default shell may start before the editor names it. */
  get isBash(): boolean {
    return shellName(this.terminal.state.shell ?? "bash") === "bash";
  }

  /** Its shell, if that tells; waits for it while it starts. */
  ready(): Promise<vscode.TerminalShellIntegration | undefined> {
    const { shellIntegration } = this.terminal;
    if (shellIntegration !== undefined) return Promise.resolve(shellIntegration);
    return new Promise((done) => {
      const listeners = [
        vscode.window.onDidChangeTerminalShellIntegration((event) => event.terminal === this.terminal && end(event.shellIntegration)),
        vscode.window.onDidCloseTerminal((terminal) => terminal === this.terminal && end(undefined)),
      ];
      const stop = systemClock.after(integrationMs, () => end(undefined));
      const end = (shell: vscode.TerminalShellIntegration | undefined): void => {
        stop();
        for (const listener of listeners) listener.dispose();
        done(shell);
      };
    });
  }

  /** It may still tell, and serve the next command; if not, it goes. */
  giveUp(): void {
    systemClock.after(lateMs, () => this.terminal.shellIntegration === undefined && this.terminal.dispose());
  }

  async run(shell: vscode.TerminalShellIntegration, line: string, { timeoutMs, cancelled, printed: seen }: CommandRun): Promise<CommandResult> {
    let timedOut = false;
    const { terminal } = this;
    // Whatever is asked to end and does not loses its terminal.
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
    const ended = endOf(terminal);
    const output = new Output();
    // It runs from here on: nothing may make anybody run it again.
    const printed = print(shell.executeCommand(line), output, seen).catch(() => output.add("\n[the rest could not be read]\n"));
    cancelled.addEventListener("abort", kill);
    if (cancelled.aborted) kill();
    const exitCode = await ended;
    over = true;
    stop();
    cancelled.removeEventListener("abort", kill);
    await Promise.race([printed, new Promise<void>((done) => systemClock.after(drainMs, done))]);
    const text = withoutNotice(output.text, exitCode);
    return { exitCode: timedOut || cancelled.aborted ? null : exitCode, output: text, captured: true, timedOut };
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

/**
 * The status of the next command that ends in a terminal. The event is matched by its terminal,
 * because it may name another execution than the one that began.
 */
function endOf(terminal: vscode.Terminal): Promise<number | null> {
  return new Promise((done) => {
    const listeners = [
      vscode.window.onDidEndTerminalShellExecution((event) => event.terminal === terminal && end(event.exitCode)),
      vscode.window.onDidCloseTerminal((closed) => closed === terminal && end(closed.exitStatus?.code)),
    ];
    const end = (code: number | undefined): void => {
      for (const listener of listeners) listener.dispose();
      done(code ?? null);
    };
  });
}

/** A terminal that shows the children which run for it, one after the other. */
class Shown implements vscode.Pseudoterminal {
  readonly terminal: vscode.Terminal;
  busy = false;
  private readonly writes = new vscode.EventEmitter<string>();
  readonly onDidWrite = this.writes.event;
  private child: Child | undefined;
  /** The output until the terminal is open: the editor drops any that comes before. */
  private held: string | undefined = "";

  constructor(readonly cwd: string) {
    this.terminal = vscode.window.createTerminal({ name, pty: this, iconPath: icon, isTransient: true });
  }

  open(): void {
    const held = this.held ?? "";
    this.held = undefined;
    this.write(held);
  }

  close(): void {
    this.child?.kill();
  }

  handleInput(data: string): void {
    if (data === "\u0003") return this.child?.interrupt();
    const text = data.replaceAll("\r", "\n");
    this.write(text);
    this.child?.input(text);
  }

  async run(run: CommandRun): Promise<CommandResult> {
    this.write(`\u001b[2m$\u001b[0m \u001b[1m${printable(run.command)}\u001b[0m\n`);
    const shown = (text: string): void => this.write(text);
    const child = runChild({ ...run, shell: vscode.env.shell, clock: systemClock, env: { ...ownEnvironment(), ...env }, shown });
    this.child = child;
    const result = await child.ended;
    this.child = undefined;
    this.write(`\u001b[2m[${result.exitCode === null ? vscode.l10n.t("ended") : vscode.l10n.t("exit {0}", result.exitCode)}]\u001b[0m\n`);
    return result;
  }

  private write(text: string): void {
    if (this.held === undefined) this.writes.fire(text.replace(/\r?\n/g, "\r\n"));
    else this.held = (this.held + text).slice(-heldMax);
  }
}

const icon = new vscode.ThemeIcon("sparkle");

/** The environment of the editor's extensions is not the person's: what belongs to the editor goes. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(VSCODE_|ELECTRON_)/.test(key)));
}

/** A command on the screen must not move the cursor. */
function printable(command: string): string {
   
  return command.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, "�");
}

function remove<T>(from: T[], which: (each: T) => boolean): void {
  const at = from.findIndex(which);
  if (at >= 0) from.splice(at, 1);
}
