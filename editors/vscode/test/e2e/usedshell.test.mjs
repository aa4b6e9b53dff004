// Commands beside a person who types into their terminal (row B4): they run in the folder that was approved, and end nothing.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";

import { connect } from "./lib/door.mjs";
import { startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

describe("a terminal that the person uses", () => {
  let session;
  let door;
  before(async () => {
    session = await startSession({
      settings: {
        "agent.approvalMode": "never",
        "terminal.integrated.profiles.linux": { bash: { path: "/bin/bash" } },
        "terminal.integrated.defaultProfile.linux": "bash",
      },
    });
    await until("the editor to know the shell", async () => (await session.probe("return vscode.env.shell")) === "/bin/bash");
    door = await connect(session);
  });
  beforeEach(async () => {
    await session.probe(`${TRACK} for (const terminal of vscode.window.terminals) terminal.dispose();`);
    await until("the terminals to go", async () => (await session.probe("return vscode.window.terminals.length")) === 0);
  });
  afterEach((t) => (t.passed === false ? session.keep(t.name) : undefined));
  after(async () => {
    await door?.close();
    await session?.stop();
  });

  const run = (command, more = {}) => door.json("execute_command", { command, ...more });
  const told = (command) => until(`the shell to run ${command}`, () => session.probe("return globalThis.started.some((each) => each.includes(args[0]))", command));
  /** Types into the newest terminal whose shell tells, and waits until it runs. */
  const type = async (command) => {
    await session.probe(`vscode.window.terminals.findLast((each) => each.shellIntegration !== undefined).sendText(args[0])`, command);
    await told(command);
  };
  /** Makes a terminal whose shell tells, and runs a command there. */
  const prepare = async () => {
    await run("true");
    await until("the shell to tell", () => session.probe("return vscode.window.terminals.some((each) => each.shellIntegration !== undefined)"));
    assert.equal((await run("pwd")).output, `${session.folder}\n`);
    await told("pwd");
  };

  it("B4: a command runs in its folder and with its environment, whatever was typed before", async () => {
    await prepare();
    await type("cd /tmp; export TYPED=1");
    const { exit_code, output, cwd } = await run(`pwd; echo "[$TYPED]"`);
    assert.deepEqual([exit_code, output, cwd], [0, `${session.folder}\n[]\n`, session.folder]);
  });

  it("B4: a command runs in its folder though the shell goes to another by itself", async () => {
    const bashrc = `${session.host.env.HOME}/.bashrc`;
    fs.writeFileSync(bashrc, "cd /tmp\nPROMPT_COMMAND='cd /tmp'\n");
    try {
      await prepare();
      assert.equal((await run("pwd")).output, `${session.folder}\n`);
    } finally {
      fs.rmSync(bashrc);
    }
  });

  it("B4: a command that the person runs goes on, and its end is not taken for another's", async () => {
    await prepare();
    await type("cat; touch cat-ended");
    const { exit_code, output } = await run("echo hi");
    assert.deepEqual([exit_code, output], [0, "hi\n"]);
    assert.equal(fs.existsSync(session.file("cat-ended")), false);
    const cats = await session.probe("return globalThis.ended.filter((each) => each.includes('cat-ended'))");
    assert.deepEqual(cats, []);
  });

  it("B4: terminals that the person uses stay, and do not become ever more", async () => {
    await prepare();
    for (let n = 0; n < 6; n++) {
      await type(`echo typed ${n}`);
      assert.equal((await run(`echo ran ${n}`)).output, `ran ${n}\n`);
    }
    const kinds = await session.probe("return vscode.window.terminals.map(({ creationOptions }) => ('pty' in creationOptions ? 'child' : 'shell')).sort()");
    assert.deepEqual(kinds, ["child", "shell", "shell", "shell"]);
  });

  it("B4: the output is read where the shell keeps no repeated lines in its history", async () => {
    const bashrc = `${session.host.env.HOME}/.bashrc`;
    fs.writeFileSync(bashrc, "HISTCONTROL=ignoreboth\n");
    try {
      await prepare();
      for (const command of ["echo it\\'s", "for n in 1 2\ndo\n  echo $n\ndone"]) await run(command);
      assert.deepEqual([(await run("echo it\\'s")).output, (await run("for n in 1 2\ndo\n  echo $n\ndone; exit 3")).output], ["it's\n", "1\n2\n"]);
      assert.equal(await session.probe("return vscode.window.terminals.filter(({ creationOptions }) => !('pty' in creationOptions)).length"), 1);
    } finally {
      fs.rmSync(bashrc);
    }
  });
});

/** Runs in the extension host: notes the command lines that shells tell. */
const TRACK = `globalThis.started = [];
  globalThis.ended = [];
  for (const each of globalThis.trackers ?? []) each.dispose();
  globalThis.trackers = [
    vscode.window.onDidStartTerminalShellExecution(({ execution }) => void globalThis.started.push(execution.commandLine.value)),
    vscode.window.onDidEndTerminalShellExecution(({ execution }) => void globalThis.ended.push(execution.commandLine.value)),
  ];`;
