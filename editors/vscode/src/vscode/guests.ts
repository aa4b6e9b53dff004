import * as vscode from "vscode";
import { systemClock } from "../core/clock";
import { guests } from "../core/guest/names";
import type { Guest } from "../core/guest/names";
import type { Client } from "../core/ports";
import { wantedGuests } from "./settings";

const asked = "guests.asked";
const beside = "guests.beside";
const linked = "guests.linked";

/** For how long a guest may take to connect again by itself after a reload of the window, in milliseconds. */
const againMs = 5_000;

/** The guests that were connected to a window, and the process that its extension host came from: a reload leaves it, and the terminals. */
interface Linked {
  readonly names: readonly string[];
  readonly parent: number;
}

/**
 * Asks the person, once for each, whether edits of a terminal agent of others are to be reviewed here,
 * and explains if its own extension does that instead, and if one has lost the window by a reload.
 */
export class GuestQuestions implements vscode.Disposable {
  private readonly listeners: vscode.Disposable;
  private names: readonly string[] = [];
  private before: Linked | undefined;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly here: vscode.Memento,
    /** Brings the doors and the terminals up to date. */
    private readonly changed: () => void,
  ) {
    this.before = here.get<Linked>(linked);
    this.listeners = vscode.Disposable.from(
      vscode.extensions.onDidChange(() => this.look()),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("agent.reviewEditsOf") && this.look()),
    );
  }

  /** A program was started in a terminal. */
  async started(program: string): Promise<void> {
    const guest = guests.find((each) => each.program === program);
    if (guest === undefined || hasOwn(guest) || wantedGuests().includes(guest)) return;
    if (!(await this.first(asked, guest))) return;
    const yes = vscode.l10n.t("Review Its Edits");
    const answer = await vscode.window.showInformationMessage(
      vscode.l10n.t("Review the edits of {0} here, as those of Agent? It still writes its files itself, and asks only when its own mode does.", guest.name),
      yes,
      vscode.l10n.t("No"),
    );
    if (answer !== yes) return;
    const names = [...wantedGuests(), guest].map(({ name }) => name);
    await vscode.workspace.getConfiguration("agent").update("reviewEditsOf", names, vscode.ConfigurationTarget.Global);
    void vscode.window.showInformationMessage(vscode.l10n.t("{0} finds this window when it is started in a new terminal. One that runs already connects by its command /ide.", guest.name));
  }

  dispose(): void {
    this.listeners.dispose();
  }

  /** Notes the guests that only call: such a one does not connect again by itself. */
  async clientsChanged(clients: readonly Client[]): Promise<void> {
    this.names = clients.flatMap(({ name, heard, isGuest }) => (isGuest === true && heard !== undefined ? [name] : []));
    await this.here.update(linked, { names: this.names, parent: process.ppid });
  }

  /** To be called when the window listens: tells about programs that lost it, and about those whose own extension answers instead. */
  listens(): void {
    this.tellOfOwn();
    const lost = this.before?.parent === process.ppid ? this.before.names : [];
    this.before = undefined;
    systemClock.after(againMs, () => {
      for (const name of lost.filter((each) => !this.names.includes(each))) {
        void vscode.window.showInformationMessage(vscode.l10n.t("{0} has lost this window by the reload. To review its edits here again, type /ide enable in its terminal.", name));
      }
    });
  }

  private tellOfOwn(): void {
    for (const guest of wantedGuests().filter(hasOwn)) void this.tell(guest);
  }

  /** Somebody changed the setting, or installed an extension. */
  private look(): void {
    this.changed();
    this.tellOfOwn();
  }

  private async tell(guest: Guest): Promise<void> {
    if (!(await this.first(beside, guest))) return;
    const show = vscode.l10n.t("Show Extension");
    const answer = await vscode.window.showWarningMessage(
      vscode.l10n.t("{0} has an extension of its own here, which shows its edits; Agent does not. Disable that extension to review them with Agent.", guest.name),
      show,
    );
    if (answer === show) await vscode.commands.executeCommand("workbench.extensions.search", `@id:${guest.extension}`);
  }

  /** Whether it is the first time for a guest, which is noted. */
  private async first(key: string, { name }: Guest): Promise<boolean> {
    const names = this.memory.get<readonly string[]>(key, []);
    if (names.includes(name)) return false;
    await this.memory.update(key, [...names, name]);
    return true;
  }
}

function hasOwn({ extension }: Guest): boolean {
  return vscode.extensions.getExtension(extension) !== undefined;
}
