import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Core } from "../core/core";
import { messageOf } from "../core/errors";
import { systemLiveness } from "../core/lockfile";
import { register, registeredPort } from "../core/register";

const asked = "registration.asked";
const wanted = "registration.wanted";

/**
 * Our entry in the configuration of Claude Code, a client of /mcp that has no
 * other way to find us. It is written only for a person who said so, follows the
 * window's port from then on, and is not taken from another window that is alive.
 */
export class Registration {
  private readonly file = join(homedir(), ".claude.json");

  constructor(
    private readonly core: Core,
    private readonly memory: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** The window listens: brings the entry up to date, or asks once whether there is to be one. */
  async started(): Promise<void> {
    if (this.memory.get(wanted) === true) return void (await this.write());
    if (this.memory.get(asked) === true || !existsSync(this.file) || this.core.mcpEntry() === undefined) return;
    await this.memory.update(asked, true);
    const answer = await vscode.window.showInformationMessage(
      `Let Claude Code edit and run through this editor? An entry "agent" is added to ${this.file}; every edit and command is still yours to accept.`,
      "Add Entry",
      "No",
    );
    if (answer === "Add Entry") await this.add();
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
    const done = await this.change(undefined, `The entry was removed from ${this.file}.`);
    void vscode.window.showInformationMessage(done ?? `There is no entry in ${this.file}.`);
  }

  private async write(): Promise<string | undefined> {
    const entry = this.core.mcpEntry();
    if (entry === undefined) return undefined;
    const owner = await registeredPort(this.file);
    const own = Number(new URL(entry.url).port);
    if (owner !== undefined && owner !== own && (await systemLiveness.listens(owner))) {
      this.log.info(`the entry in ${this.file} belongs to another window, on port ${owner}`);
      return `The entry in ${this.file} belongs to another window that is open.`;
    }
    return this.change(entry, `This window is registered in ${this.file}.`);
  }

  /** Says what was done, if anything was. */
  private async change(entry: Parameters<typeof register>[2], said: string): Promise<string | undefined> {
    try {
      const result = await register(this.file, homedir(), entry);
      if (result.did === "nothing") return entry === undefined ? undefined : said;
      if (result.did === "refused") throw new Error(result.why);
      this.log.info(`${this.file}: ${result.did} mcpServers["agent"]`);
      return said;
    } catch (error) {
      const why = `${this.file} is left as it is: ${messageOf(error)}`;
      this.log.warn(why);
      void vscode.window.showWarningMessage(why);
      return undefined;
    }
  }
}
