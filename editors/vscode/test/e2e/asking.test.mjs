// Whether the edits of other terminal agents are reviewed here: the person is asked by name, once, and nothing is on before.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";

import { probeExtension } from "./lib/host.mjs";
import { startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const locksOf = (session) => {
  const folder = path.join(session.host.env.HOME, ".claude/ide");
  return fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".lock")) : [];
};
const toast = (session, text) => session.page.locator(".notification-toast", { hasText: text });

/** Runs a line in a new terminal with shell integration; returns the content of the file out, to which it writes. */
async function run(session, line, out) {
  await session.probe(
    `const terminal = vscode.window.createTerminal({ name: args[0], cwd: args[1] });
     terminal.show();
     const tells = () => terminal.shellIntegration !== undefined;
     await new Promise((done) => {
       const listener = vscode.window.onDidChangeTerminalShellIntegration(() => tells() && (listener.dispose(), done()));
       if (tells()) done();
     });
     terminal.shellIntegration.executeCommand(args[0]);`,
    line,
    session.folder,
  );
  await until(`${line} to end`, () => fs.existsSync(session.file(out)) && session.read(out).toString().endsWith("\n"));
  return session.read(out).toString();
}

describe("the question about another terminal agent", () => {
  let session;
  after(() => session?.stop());

  it("is asked when it is seen, once, and its yes opens the door to new terminals", async () => {
    const claude = "#!/bin/sh\necho \"port=$CLAUDE_CODE_SSE_PORT on=$ENABLE_IDE_INTEGRATION\" > $1\n";
    session = await startSession({ fresh: true, files: { "bin/claude": claude } });
    fs.chmodSync(session.file("bin/claude"), 0o755);
    assert.equal(await run(session, "bin/claude first", "first"), "port= on=\n");
    const question = toast(session, "Review the edits of Claude Code here");
    await question.waitFor();
    assert.deepEqual(locksOf(session), [], "before the yes");
    await question.locator(".monaco-button", { hasText: "Review Its Edits" }).click();
    await until("the file", () => locksOf(session).length === 1);
    const { port } = await session.lock();
    assert.deepEqual(locksOf(session), [`${port}.lock`]);
    assert.equal(await run(session, "bin/claude second", "second"), `port=${port} on=true\n`);
    assert.equal(await question.count(), 0, "asked again");
    await session.configure({ "agent.reviewEditsOf": [] });
    await until("the file to go", () => locksOf(session).length === 0);
    assert.equal(await run(session, "bin/claude third", "third"), "port= on=\n");
    assert.equal(await question.count(), 0, "asked after a no");
  });
});

describe("another terminal agent with an extension of its own", () => {
  let session;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "agent-own-"));
  after(async () => {
    await session?.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  it("is left to it, and the person is told", async () => {
    const manifest = { publisher: "anthropic", name: "claude-code", version: "9.9.9", engines: { vscode: "^1.100.0" }, contributes: {} };
    fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest));
    session = await startSession({ unpacked: [probeExtension, folder], settings: { "agent.reviewEditsOf": ["Claude Code"] } });
    await toast(session, "Claude Code has an extension of its own here").waitFor();
    assert.deepEqual(locksOf(session), []);
  });
});
