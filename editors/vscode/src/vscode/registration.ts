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
    const answer = await vscode.window.showInformationMessage(
      `Let Claude Code edit and run through this editor? An entry "agent" is added to ${this.file}; every edit and command is still yours to accept.`,
      "Add Entry",
      "No",
    );
    if (answer === "Add Entry") await this.add();
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
      void vscode.window.showInformationMessage("Nothing listens for MCP clients: see the settings agent.autoStart and agent.mcp.enabled.");
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
    const done = await this.change(remove, `The entry was removed from ${this.file}.`, `There is no entry in ${this.file}.`);
    if (done !== undefined) void vscode.window.showInformationMessage(done);
  }

  private async write(): Promise<string | undefined> {
    const { core, file } = this;
    const run = async (): Promise<Done> => {
      const { port } = core;
      return port === undefined ? { did: "nothing" } : follow(file, homedir(), { port, entry: core.mcpEntry() }, (other) => core.isWindow(other));
    };
    return this.change(run, `This window is registered in ${file}.`);
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
        return `The entry in ${this.file} belongs to another window that is open.`;
      }
      if (result.did === "nothing") return already;
      this.log.info(`${this.file}: ${result.did} mcpServers["agent"]`);
      return did;
    } catch (error) {
      const why = `${this.file} is left as it is: ${messageOf(error)}`;
      this.log.warn(why);
      void vscode.window.showWarningMessage(why);
      return undefined;
    }
  }
}
