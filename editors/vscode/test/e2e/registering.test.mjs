// A person's way to the entry in another client's configuration (row B10): the question on a profile that is new, and the commands.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";

import { Client } from "./lib/client.mjs";
import { entryOf } from "./lib/door.mjs";
import { startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const MALFORMED = '{ "theme": "dark", "mcpServers": { ';
const GOOD = '{ "theme": "dark", "mcpServers": { "other": { "type": "stdio", "command": "x" } } }\n';

describe("a profile that is new, of a person who uses Claude Code", () => {
  let session;
  let file;
  before(async () => {
    session = await startSession({ own: true, home: { ".claude.json": MALFORMED } });
    file = path.join(session.host.env.HOME, ".claude.json");
  });
  afterEach((t) => (t.passed === false ? session.keep(t.name) : undefined));
  after(() => session?.stop());
  const toast = (text) => session.page.locator(".notification-toast", { hasText: text });
  const question = () => toast("Let Claude Code edit files and run commands through this editor?");
  const read = () => fs.readFileSync(file, "utf8");
  const entry = async () => JSON.parse(read()).mcpServers.agent;
  const wanted = async () => ({ type: "http", ...(await entryOf(session, await session.lock())) });

  it("B10: is asked after the first review, and nothing is written before the answer", async () => {
    assert.equal(await question().count(), 0);
    const client = await Client.connect(await session.lock());
    const answer = client.openDiff(session.file("a.txt"), "one\n");
    await session.bench.diffShown();
    assert.equal(await question().count(), 0, "not before the person has seen what this is");
    await session.bench.press("Reject");
    await answer;
    client.close();
    await question().waitFor();
    assert.match(await question().textContent(), /You still accept every edit and command/);
    assert.equal(read(), MALFORMED);
    assert.deepEqual(fs.readdirSync(session.host.env.HOME).filter((name) => name.startsWith(".claude")), [".claude.json"]);
  });

  it("B10: a yes does not touch a file that is malformed, and says so", async () => {
    const { ino, mtimeMs } = fs.statSync(file);
    await question().locator(".monaco-button", { hasText: "Add Entry" }).click();
    await toast("was not changed").waitFor();
    const now = fs.statSync(file);
    assert.deepEqual([read(), now.ino, now.mtimeMs], [MALFORMED, ino, mtimeMs]);
    await session.probe(`await vscode.commands.executeCommand("notifications.clearAll")`);
  });

  it("B10: when the file is mended the command adds the entry, and nothing else changes", async () => {
    fs.writeFileSync(file, GOOD);
    await session.bench.command("Agent: Register in Claude Code");
    await toast("This window is registered").waitFor();
    assert.deepEqual(await entry(), await wanted());
    const { mcpServers, ...rest } = JSON.parse(read());
    assert.deepEqual([rest, mcpServers.other], [{ theme: "dark" }, JSON.parse(GOOD).mcpServers.other]);
  });

  it("B10: the next window asks nothing, and the entry follows its port", async () => {
    const { authToken } = await session.lock();
    const stale = read().replace(/127\.0\.0\.1:\d+/, "127.0.0.1:9");
    fs.writeFileSync(file, stale);
    await session.page.reload({ waitUntil: "domcontentloaded" });
    await until("the extension to listen again", () => session.host.locks().some((lock) => lock.authToken !== authToken), 120_000);
    await until("the entry to be brought up to date", async () => read() !== stale);
    assert.deepEqual(await entry(), await wanted());
    assert.equal(await question().count(), 0);
  });

  it("B10: the command to remove it takes our entry away, and no other", async () => {
    await session.bench.command("Agent: Remove from Claude Code");
    await toast("The entry was removed").waitFor();
    assert.deepEqual(JSON.parse(read()), JSON.parse(GOOD));
  });
});
