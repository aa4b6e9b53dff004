import * as vscode from "vscode";
import { systemClock } from "../core/clock";
import type { CommandResult, CommandRun, Log, Terminals } from "../core/ports";
import { runChild } from "../core/shell/child";
import type { Child } from "../core/shell/child";
import { climb, Patience } from "../core/shell/ladder";
import { wrapped } from "../core/shell/wrap";
import { Integrated } from "./integrated";

/** How many terminals that the person has taken over may be replaced by new ones. */
const maxTaken = 3;
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
    vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => this.of(terminal)?.started(execution)),
    vscode.window.onDidEndTerminalShellExecution(({ terminal, execution, exitCode }) => this.of(terminal)?.ended(execution, exitCode)),
    vscode.window.onDidCloseTerminal((terminal) => {
      this.of(terminal)?.closed();
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

  private of(terminal: vscode.Terminal): Integrated | undefined {
    return this.integrated.find((each) => each.terminal === terminal);
  }

  private async takeIntegrated(run: CommandRun): Promise<(() => Promise<CommandResult>) | undefined> {
    const line = wrapped(run.command, run.cwd, vscode.env.shell);
    if (line === undefined || !this.patience.isWorthWhile || this.kind() === "process") return undefined;
    const place = this.free(run.cwd);
    if (place === undefined) return undefined;
    place.terminal.show(true);
    place.busy = true;
    const shell = await place.ready();
    if (shell === undefined) {
      if (place.terminal.shellIntegration === undefined) this.patience.miss();
      place.busy = false;
      place.giveUp();
      return undefined;
    }
    return () => place.run(shell, line, run).finally(() => (place.busy = false));
  }

  /** A terminal that nobody uses, with the folder of the command; undefined if the person has taken over too many. */
  private free(cwd: string): Integrated | undefined {
    const here = this.integrated.filter((each) => !each.busy && !each.taken && each.cwd === cwd);
    const usable = here.find((each) => !each.spoiled);
    if (usable !== undefined) return usable;
    for (const each of here) each.terminal.dispose();
    if (this.integrated.filter((each) => each.taken).length >= maxTaken) return undefined;
    const made = new Integrated(cwd, { name, env, iconPath: icon });
    this.integrated.push(made);
    return made;
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
