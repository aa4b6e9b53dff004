// Commands beside a person who types into their terminal (row B4): they run in the folder that was approved, and end nothing.
import assert from "node:assert/strict";
import fs from "node:fs";
import { beforeEach, describe, it } from "node:test";

import { windowWithBash } from "./lib/bash.mjs";
import { until } from "./lib/wait.mjs";

describe("a terminal that the person uses", () => {
  const at = windowWithBash();
  beforeEach(async () => {
    await at.session.probe(`${TRACK} for (const terminal of vscode.window.terminals) terminal.dispose();`);
    await until("the terminals to go", async () => (await at.session.probe("return vscode.window.terminals.length")) === 0);
  });

  const told = (command) => until(`the shell to run ${command}`, () => at.session.probe("return globalThis.started.some((each) => each.includes(args[0]))", command));
  /** Types into the newest terminal whose shell tells, and waits until it runs. */
  const type = async (command) => {
    await at.session.probe(`vscode.window.terminals.findLast((each) => each.shellIntegration !== undefined).sendText(args[0])`, command);
    await told(command);
  };
  /** Makes a terminal whose shell tells, and runs a command there. */
  const prepare = async () => {
    await at.run("true");
    await until("the shell to tell", () => at.session.probe("return vscode.window.terminals.some((each) => each.shellIntegration !== undefined)"));
    assert.equal((await at.run("pwd")).output, `${at.session.folder}\n`);
    await told("pwd");
  };

  it("B4: a command runs in its folder and with its environment, whatever was typed before", async () => {
    await prepare();
    await type("cd /tmp; export TYPED=1");
    const { exit_code, output, cwd } = await at.run(`pwd; echo "[$TYPED]"`);
    assert.deepEqual([exit_code, output, cwd], [0, `${at.session.folder}\n[]\n`, at.session.folder]);
  });

  it("B4: a command runs in its folder though the shell goes to another by itself", async () => {
    const bashrc = `${at.session.host.env.HOME}/.bashrc`;
    fs.writeFileSync(bashrc, "cd /tmp\nPROMPT_COMMAND='cd /tmp'\n");
    try {
      await prepare();
      assert.equal((await at.run("pwd")).output, `${at.session.folder}\n`);
    } finally {
      fs.rmSync(bashrc);
    }
  });

  it("B4: a command that the person runs goes on, and its end is not taken for another's", async () => {
    await prepare();
    await type("cat; touch cat-ended");
    const { exit_code, output } = await at.run("echo hi");
    assert.deepEqual([exit_code, output], [0, "hi\n"]);
    assert.equal(fs.existsSync(at.session.file("cat-ended")), false);
    const cats = await at.session.probe("return globalThis.ended.filter((each) => each.includes('cat-ended'))");
    assert.deepEqual(cats, []);
  });

  it("B4: terminals that the person uses stay, and do not become ever more", async () => {
    await prepare();
    for (let n = 0; n < 6; n++) {
      await type(`echo typed ${n}`);
      assert.equal((await at.run(`echo ran ${n}`)).output, `ran ${n}\n`);
    }
    const kinds = await at.session.probe("return vscode.window.terminals.map(({ creationOptions }) => ('pty' in creationOptions ? 'child' : 'shell')).sort()");
    assert.deepEqual(kinds, ["child", "shell", "shell", "shell"]);
  });

  it("B4: the output is read where the shell keeps no repeated lines in its history", async () => {
    const bashrc = `${at.session.host.env.HOME}/.bashrc`;
    fs.writeFileSync(bashrc, "HISTCONTROL=ignoreboth\n");
    try {
      await prepare();
      for (const command of ["echo it\\'s", "for n in 1 2\ndo\n  echo $n\ndone"]) await at.run(command);
      assert.deepEqual([(await at.run("echo it\\'s")).output, (await at.run("for n in 1 2\ndo\n  echo $n\ndone; exit 3")).output], ["it's\n", "1\n2\n"]);
      assert.equal(await at.session.probe("return vscode.window.terminals.filter(({ creationOptions }) => !('pty' in creationOptions)).length"), 1);
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
