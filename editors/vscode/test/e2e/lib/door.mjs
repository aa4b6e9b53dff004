// The door for any MCP client, used by the official TypeScript client.
import fs from "node:fs";
import path from "node:path";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { until } from "./wait.mjs";

/** How a client is told to reach the window with this lock. */
export function entryOf(session, lock) {
  const file = path.join(session.host.agentHome, "ide", `${lock.port}.mcp.json`);
  return until("the entry for MCP clients", () => JSON.parse(fs.readFileSync(file, "utf8")));
}

/** Connects to the window of a session, or of one of its locks. */
export async function connect(session, { name = "third party", lock } = {}) {
  const entry = await entryOf(session, lock ?? (await session.lock()));
  const transport = new StreamableHTTPClientTransport(new URL(entry.url), { requestInit: { headers: entry.headers } });
  const client = new Client({ name, version: "1" });
  await client.connect(transport);
  return new Door(client, transport);
}

export class Door {
  constructor(client, transport) {
    this.client = client;
    this.transport = transport;
  }

  tools() {
    return this.client.listTools().then(({ tools }) => tools.map(({ name }) => name));
  }

  call(name, args = {}, options = {}) {
    return this.client.callTool({ name, arguments: args }, { timeout: 120_000, ...options });
  }

  async text(name, args, options) {
    return (await this.call(name, args, options)).content[0].text;
  }

  async json(name, args, options) {
    return JSON.parse(await this.text(name, args, options));
  }

  async close() {
    await this.transport.terminateSession().catch(() => undefined);
    await this.client.close();
  }
}

/** The question whether a command may run. */
export function runQuestion(bench) {
  return bench.page.frameLocator("iframe.webview.ready").frameLocator("#active-frame").getByRole("alertdialog");
}

/** Answers the question whether a command may run, when its answers count. */
export function answerRun(bench, button) {
  return runQuestion(bench).getByRole("button", { name: button, exact: true }).click();
}

/** An answer's text about the problems of a file that nobody looks at, shown or not. */
export const unserved = "not known: no language server is known to look at files of this language";

/** An answer's text about the problems of a file that is not shown, and that a language server would look at if it were. */
export const notKnown = "not known: the file is not shown in the editor, so no language server may have looked at it";

/** Settings with which VS Code does not show a file of itself: it shows one that stays unsaved for 0.8 s, on a busy machine also one that we are writing. */
export const SAVED_SOON = { "files.autoSave": "afterDelay", "files.autoSaveDelay": 500 };
