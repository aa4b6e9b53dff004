import { homedir } from "node:os";
import { basename } from "node:path";
import * as vscode from "vscode";
import { lineage } from "../core/ancestors";
import { systemClock } from "../core/clock";
import { guests } from "../core/guest/names";
import { findProgram, quoted } from "../core/program";
import type { Client } from "../core/ports";
import { waitUntil } from "../core/waiting";
import { settings } from "./settings";

const program = "agent";
const howToGet = "https://github.com/bb2d0cf4/agent#try-it";
const lastAgents = "lastAgents";
/** For as long an agent of the window as it was before is expected back; it tries twice as often. */
const expectedMs = 60_000;
/** For how long a new shell is waited for; some never tell. */
const promptMs = 3_000;

/** The integrated terminals: their environment, and which of them runs the agent. */
export class Terminals implements vscode.Disposable {
  /** Terminals whose shell reported that it runs the agent. */
  private readonly running = new Set<vscode.Terminal>();
  /** Terminals whose shell reported that it waits for a command: an agent there is stopped. */
  private readonly atPrompt = new Set<vscode.Terminal>();
  /** The linked agents by process, with the terminals that they run in. */
  private readonly linked = new Map<number, vscode.Terminal | undefined>();
  /** Those of them that are programs of others, whose keys are their own business. */
  private guestPids: readonly (number | undefined)[] = [];
  /** Those of them that were linked before the window was loaded again, and have not linked since. */
  private readonly expected = new Set<number>();
  private told: boolean | undefined;
  /** Called with the name of each program that a shell begins. */
  onProgram: (name: string) => void = () => undefined;
  private readonly listeners: vscode.Disposable[];

  constructor(
    private readonly environment: vscode.EnvironmentVariableCollection,
    private readonly state: vscode.Memento,
  ) {
    // Kept while the window is loaded again: a terminal whose variables went for a
    // moment would offer to be relaunched, which ends what runs in it.
    environment.persistent = true;
    environment.description = vscode.l10n.t("Lets `agent` in this terminal find this window of the editor");
    this.listeners = [
      vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => {
        this.atPrompt.delete(terminal);
        const name = programOf(execution.commandLine.value);
        if (name === program) this.running.add(terminal);
        this.onProgram(name);
        this.tellKeys();
      }),
      vscode.window.onDidEndTerminalShellExecution(({ terminal }) => {
        this.atPrompt.add(terminal);
        this.running.delete(terminal);
        this.tellKeys();
      }),
      vscode.window.onDidOpenTerminal(() => void this.findLinked()),
      vscode.window.onDidCloseTerminal((terminal) => this.forget(terminal)),
      vscode.window.onDidChangeActiveTerminal(() => this.tellKeys()),
      this.expectLast(),
    ];
    void this.findLinked();
  }

  /** What new terminals have to know to find us: never a token. */
  announce(port: number, lockPath: string): void {
    this.environment.replace("AGENT_IDE_PORT", String(port));
    this.environment.replace("AGENT_IDE_LOCK", lockPath);
    const wanted = settings.reviewEditsOf();
    for (const { name, variable, also } of guests) {
      for (const [key, value] of Object.entries({ [variable]: String(port), ...also })) {
        if (wanted.includes(name)) this.environment.replace(key, value);
        else this.environment.delete(key);
      }
    }
  }

  withdraw(): void {
    this.environment.clear();
  }

  /** Starts the agent in a new terminal and shows it; if the program is missing, explains how to get it. words: its arguments. */
  async start(words = ""): Promise<void> {
    const found = await this.find();
    if (found === undefined) return offer();
    const terminal = vscode.window.createTerminal({ name: "Agent", iconPath: new vscode.ThemeIcon("sparkle") });
    terminal.show();
    await promptOf(terminal);
    terminal.sendText(`${quoted(found)}${words}`);
  }

  /** Returns the program, and notes for the walkthrough whether there is one. */
  async find(): Promise<string | undefined> {
    const found = await findProgram({ setting: settings.path(), path: process.env["PATH"] ?? "", home: homedir() });
    await vscode.commands.executeCommand("setContext", "agent.hasProgram", found !== undefined);
    return found?.file;
  }

  /**
   * To be called when a program links or goes. Its process tells the terminal: a
   * window that was loaded again has heard nothing from the shells.
   */
  async clientsChanged(clients: readonly Client[]): Promise<void> {
    this.guestPids = clients.filter(({ isGuest }) => isGuest === true).map(({ pid }) => pid);
    const pids = new Set(clients.map(({ pid }) => pid).filter((pid) => pid !== undefined));
    for (const pid of pids) this.expected.delete(pid);
    for (const pid of this.linked.keys()) if (!pids.has(pid) && !this.expected.has(pid)) this.linked.delete(pid);
    const fresh = [...pids].filter((pid) => !this.linked.has(pid));
    for (const pid of fresh) this.linked.set(pid, undefined);
    if (fresh.length > 0) await this.findLinked();
    else this.tellKeys();
  }

  /** Shows the terminal of the agent with this process, else of any, and gives it the focus; false if none is known. */
  show(pid?: number): boolean {
    const active = vscode.window.activeTerminal;
    const its = pid === undefined ? undefined : this.linked.get(pid);
    const known = its !== undefined ? its : active !== undefined && this.runs(active) ? active : vscode.window.terminals.filter((each) => this.runs(each)).at(-1);
    try {
      known?.show();
    } catch {
      return false; // another extension has disposed of it a moment ago
    }
    return known !== undefined;
  }

  /** Like show, but never shows another agent's terminal, where the person would go on typing. */
  showOwn(pid: number | undefined): boolean {
    // Without a known terminal, as in tmux, the only agent must be the one.
    const isKnown = pid !== undefined && this.linked.has(pid) && (this.linked.get(pid) !== undefined || this.linked.size === 1);
    return isKnown && this.show(pid);
  }

  dispose(): void {
    for (const listener of this.listeners) listener.dispose();
  }

  /**
   * Expects the agents of the window as it was before. They take seconds to link again,
   * and until then their keys would be the editor's: Shift+Enter would send half a prompt.
   */
  private expectLast(): vscode.Disposable {
    for (const pid of this.state.get<readonly number[]>(lastAgents, [])) {
      this.expected.add(pid);
      this.linked.set(pid, undefined);
    }
    const late = setTimeout(() => {
      for (const pid of this.expected) this.linked.delete(pid);
      this.expected.clear();
      this.tellKeys();
    }, expectedMs);
    return { dispose: () => clearTimeout(late) };
  }

  private forget(terminal: vscode.Terminal): void {
    this.running.delete(terminal);
    this.atPrompt.delete(terminal);
    for (const [pid, its] of this.linked) if (its === terminal) this.linked.set(pid, undefined);
    this.tellKeys();
  }

  /** Finds the terminals of linked agents that have none yet. */
  private async findLinked(): Promise<void> {
    let found = false;
    for (const [pid, known] of this.linked) {
      if (known !== undefined) continue;
      const terminal = await terminalOf(pid);
      if (terminal === undefined || !this.linked.has(pid)) continue;
      this.linked.set(pid, terminal);
      found = true;
    }
    this.tellKeys();
    if (found) await this.state.update(lastAgents, [...this.linked.keys()].filter((pid) => !this.guestPids.includes(pid)));
  }

  private runs(terminal: vscode.Terminal): boolean {
    if (this.running.has(terminal)) return true;
    return !this.atPrompt.has(terminal) && [...this.linked].some(([pid, its]) => its === terminal && !this.guestPids.includes(pid));
  }

  /** The keys that go to the program instead of the editor do so only here. */
  private tellKeys(): void {
    const active = vscode.window.activeTerminal;
    const runs = active !== undefined && this.runs(active);
    if (runs === this.told) return;
    this.told = runs;
    void vscode.commands.executeCommand("setContext", "agent.inTerminal", runs);
  }
}

/** Waits until the shell of a new terminal has its prompt, if it tells: a command typed before that is echoed twice. */
async function promptOf(terminal: vscode.Terminal): Promise<void> {
  if (!vscode.workspace.getConfiguration("terminal.integrated.shellIntegration").get("enabled", true)) return;
  const hasPrompt = (): boolean => terminal.shellIntegration !== undefined || terminal.exitStatus !== undefined;
  const onShells = (look: () => void): (() => void) => {
    const listener = vscode.window.onDidChangeTerminalShellIntegration(look);
    return () => void listener.dispose();
  };
  await waitUntil(hasPrompt, onShells, systemClock, promptMs);
}

/** Explains that the program was not found, and offers the next steps. */
async function offer(): Promise<void> {
  const [get, set] = [vscode.l10n.t("How to Get It"), vscode.l10n.t("Set Its Path…")];
  const setting = settings.path();
  const what =
    setting === ""
      ? vscode.l10n.t("The program agent was not found on this computer.")
      : vscode.l10n.t("The setting agent.path does not lead to a program: {0}", setting);
  const answer = await vscode.window.showErrorMessage(what, get, set);
  if (answer === get) await vscode.env.openExternal(vscode.Uri.parse(howToGet));
  else if (answer === set) await vscode.commands.executeCommand("workbench.action.openSettings", "agent.path");
}

/** The terminal in which a process runs. */
async function terminalOf(pid: number): Promise<vscode.Terminal | undefined> {
  const family = await lineage(pid);
  for (const terminal of vscode.window.terminals) {
    const root = await terminal.processId;
    if (root !== undefined && family.includes(root)) return terminal;
  }
  return undefined;
}

/** The program that a command line starts, also by a path or behind assignments. */
export function programOf(line: string): string {
  const words = line.trim().split(/\s+/);
  const first = words.find((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) ?? "";
  return basename(first.replaceAll('"', "").replaceAll("\\", "/")).replace(/\.(exe|cmd)$/i, "");
}
