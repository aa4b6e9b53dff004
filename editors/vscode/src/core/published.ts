import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "./errors";
import { isWindow, OwnFile, systemLiveness } from "./lockfile";
import type { LockContent } from "./lockfile";
import { canonical } from "./paths";
import type { Ports } from "./ports";
import { protocolVersion } from "./proof";
import { isObject } from "./schema";
import type { Known } from "./secretsocket";

/** How a client of /mcp is configured: the address, and the header that opens it. */
export interface McpEntry {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Publication {
  readonly ports: Ports;
  readonly folder: string;
  readonly port: number;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: number;
  /** The secret that both sides of "/" prove to know, or the socket that gives it. */
  readonly known: Known;
  /** Opens /bridge. */
  readonly token: string;
  /** Undefined while the door is shut. */
  mcp(): McpEntry | undefined;
}

/** Where the door for any MCP client is. */
export function mcpUrl(port: number): string {
  return `http://127.0.0.1:${port}/mcp`;
}

export function bridgeUrl(port: number): string {
  return `ws://127.0.0.1:${port}/bridge`;
}

/**
 * The files by which this window is found, each for its reader alone to open: the
 * lock of agents, the entry for MCP clients, and bridge.json, which belongs to
 * the window that had the focus last.
 */
export class Published {
  readonly lock: OwnFile;
  private readonly entry: OwnFile;
  private bridge: OwnFile;
  private focusedAt: number;

  constructor(private readonly of: Publication) {
    this.lock = new OwnFile(join(of.folder, `${of.port}.lock`));
    this.entry = new OwnFile(join(of.folder, `${of.port}.mcp.json`));
    this.bridge = this.bridgeFile();
    this.focusedAt = of.ports.clock.now();
  }

  /** Writes the files for the current state; a window that just opened has the focus. Agents do without bridge.json: a failure to write it is logged. */
  async write(focused = true): Promise<void> {
    await this.lock.write(await this.lockContent());
    await this.entry.write(this.of.mcp());
    const { log } = this.of.ports;
    await this.writeBridge(focused).catch((err: unknown) => log.warn(`writing bridge.json: ${messageOf(err)}`));
  }

  /** The window got the focus: agents prefer it, and bridge.json becomes its own. */
  focused(): void {
    this.focusedAt = this.of.ports.clock.now();
    void this.changed(true);
  }

  changed(focused = false): Promise<void> {
    return this.write(focused).catch((err: unknown) => this.of.ports.log.warn(`writing the lock file: ${messageOf(err)}`));
  }

  async remove(): Promise<void> {
    await Promise.all([this.lock.remove(), this.entry.remove(), this.bridge.remove()]);
  }

  private async writeBridge(focused: boolean): Promise<void> {
    const { ports, port, pid, token } = this.of;
    const { settings, workspace } = ports;
    if (!settings.bridgeEnabled()) return this.bridge.write(undefined);
    const file = this.bridgeFile();
    if (file.path !== this.bridge.path) {
      await this.bridge.remove();
      this.bridge = file;
    }
    if (!focused && (await this.isAnothers(file.path))) return;
    await this.bridge.write({
      port,
      pid,
      ideName: workspace.name,
      workspaceFolders: workspace.folders().map(({ path }) => path),
      timestamp: Math.floor(this.focusedAt / 1000),
      url: bridgeUrl(port),
      ...(settings.bridgeRequireAuth() ? { authToken: token } : {}),
    });
  }

  /** Whether the file names another window of ours, which had the focus after us and still listens. */
  private async isAnothers(path: string): Promise<boolean> {
    let found: unknown;
    try {
      found = JSON.parse(await readFile(path, "utf8"));
    } catch {
      return false; // missing, or not of a window
    }
    if (!isObject(found) || typeof found["port"] !== "number" || typeof found["timestamp"] !== "number") return false;
    if (found["port"] === this.of.port || found["timestamp"] < Math.floor(this.focusedAt / 1000)) return false;
    return isWindow(this.of.folder, found["port"], systemLiveness);
  }

  private bridgeFile(): OwnFile {
    const { ports, folder } = this.of;
    return new OwnFile(ports.settings.bridgeFile() ?? join(folder, "bridge.json"));
  }

  private async lockContent(): Promise<LockContent> {
    const { ports, pid, port, known, token, startedAt, version } = this.of;
    const { workspace, settings } = ports;
    const folders = workspace.folders().map(({ path }) => path);
    const mcp = this.of.mcp();
    return {
      v: protocolVersion,
      pid,
      workspaceFolders: folders,
      realFolders: await Promise.all(folders.map((path) => canonical(path).catch(() => path))),
      ideName: workspace.name,
      transport: "ws",
      ...known,
      authToken: token,
      trusted: workspace.isTrusted(),
      startedAt,
      focusedAt: this.focusedAt,
      extVersion: version,
      doors: [
        ...(mcp === undefined ? [] : [{ kind: "mcp" as const, url: mcp.url }]),
        ...(settings.bridgeEnabled() ? [{ kind: "bridge" as const, url: bridgeUrl(port) }] : []),
      ],
    };
  }
}
