import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Core } from "../core/core";
import { messageOf } from "../core/errors";
import { follow, register } from "../core/register";
import type { Registration as Done } from "../core/register";

const asked = "registration.asked";
const wanted = "registration.wanted";

/**
 * Our entry in the configuration of Claude Code, a client of /mcp that has no other way to find us.
 * It is written only after the person's consent, follows the window's port and the settings from
 * then on, and is not taken from another running window.
 */
export class Registration {
  private readonly file = join(homedir(), ".claude.json");
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly core: Core,
    private readonly memory: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** The window listens: brings the entry up to date. */
  async started(): Promise<void> {
    if (this.memory.get(wanted) === true) await this.write();
  }

  /** An edit was reviewed, so the person knows what this is: asks once whether there is to be an entry. */
  async used(): Promise<void> {
    if (this.memory.get(wanted) === true) return;
    if (this.memory.get(asked) === true || !existsSync(this.file) || this.core.mcpEntry() === undefined) return;
    await this.memory.update(asked, true);
    const add = vscode.l10n.t("Add Entry");
    const answer = await vscode.window.showInformationMessage(
      vscode.l10n.t(
        "Let Claude Code edit files and run commands through this editor? This adds an entry \"agent\" to {0}. You still accept every edit and command.",
        this.file,
      ),
      add,
      vscode.l10n.t("No"),
    );
    if (answer === add) await this.add();
  }

  /** Follows the settings that the entry depends on: an entry that is wrong keeps its client out. */
  watch(): vscode.Disposable {
    return vscode.workspace.onDidChangeConfiguration((event) => {
      const isOurs = ["agent.mcp.enabled", "agent.requireAuth"].some((name) => event.affectsConfiguration(name));
      if (isOurs && this.core.port !== undefined && this.memory.get(wanted) === true) void this.write();
    });
  }

  /** The command to register. */
  async add(): Promise<void> {
    if (this.core.mcpEntry() === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("Nothing listens for MCP clients: see the settings agent.autoStart and agent.mcp.enabled."));
      return;
    }
    await this.memory.update(wanted, true);
    const done = await this.write();
    if (done !== undefined) void vscode.window.showInformationMessage(done);
  }

  /** The command to take it back. */
  async remove(): Promise<void> {
    await this.memory.update(wanted, undefined);
    const remove = (): Promise<Done> => register(this.file, homedir(), undefined);
    const done = await this.change(remove, vscode.l10n.t("The entry was removed from {0}.", this.file), vscode.l10n.t("{0} has no entry to remove.", this.file));
    if (done !== undefined) void vscode.window.showInformationMessage(done);
  }

  private async write(): Promise<string | undefined> {
    const { core, file } = this;
    const run = async (): Promise<Done> => {
      const { port } = core;
      return port === undefined ? { did: "nothing" } : follow(file, homedir(), { port, entry: core.mcpEntry() }, (other) => core.isWindow(other));
    };
    return this.change(run, vscode.l10n.t("This window is registered in {0}.", file));
  }

  /** One change after the other. Resolves with what to say of it: it was done, or it was so already. */
  private change(run: () => Promise<Done>, did: string, already = did): Promise<string | undefined> {
    const turn = this.last.then(() => this.tell(run, did, already));
    this.last = turn;
    return turn;
  }

  private async tell(run: () => Promise<Done>, did: string, already: string): Promise<string | undefined> {
    try {
      const result = await run();
      if (result.did === "refused") throw new Error(result.why);
      if (result.did === "left") {
        this.log.info(`the entry in ${this.file} belongs to another window, on port ${result.port}`);
        return vscode.l10n.t("The entry in {0} belongs to another open window.", this.file);
      }
      if (result.did === "nothing") return already;
      this.log.info(`${this.file}: ${result.did} mcpServers["agent"]`);
      return did;
    } catch (error) {
      this.log.warn(`${this.file} was not changed: ${messageOf(error)}`);
      void vscode.window.showWarningMessage(vscode.l10n.t("{0} was not changed: {1}", this.file, messageOf(error)));
      return undefined;
    }
  }
}
