// Commands in a visible terminal (row B4): status and output are those of a plain run, whatever the command and the shell.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { after, afterEach, before, describe, it } from "node:test";

import { tooLong, tricky } from "../tricky.mjs";
import { connect } from "./lib/door.mjs";
import { startSession } from "./lib/session.mjs";
import { isAlive, until } from "./lib/wait.mjs";

const full = process.env.AGENT_TEST_FULL === "1";
const commands = tricky(!full);
// zsh does not report the end of an interrupted command, sh reports nothing: with them a
// command is a child that a terminal shows. The same holds in bash if the command is too
// long to be typed.
const SHELLS = { bash: "/bin/bash", zsh: "/usr/bin/zsh", sh: "/bin/sh" };

function plain(shell, command, cwd) {
  const { status, signal, stdout } = spawnSync("/bin/sh", ["-c", 'exec "$@" 2>&1', "sh", shell, "-c", command], { cwd, encoding: "utf8", maxBuffer: 1 << 26 });
  return { exit_code: status ?? { SIGKILL: 137, SIGTERM: 143 }[signal], output: stdout };
}

for (const [name, shell] of Object.entries(SHELLS)) {
  describe(`B4: a command in a terminal with ${name}`, () => {
    let session;
    let door;
    before(async () => {
      const profile = { [name]: { path: shell } };
      session = await startSession({
        files: { "sub/a.txt": "" },
        settings: {
          "agent.approvalMode": "never",
          "terminal.integrated.profiles.linux": profile,
          "terminal.integrated.defaultProfile.linux": name,
        },
      });
      await until("the editor to know the shell", async () => (await session.probe("return vscode.env.shell")) === shell);
      // Nobody has configured this zsh, and it would ask.
      fs.writeFileSync(`${session.host.env.HOME}/.zshrc`, "");
      door = await connect(session);
    });
    afterEach((t) => (t.passed === false ? session.keep(t.name) : undefined));
    after(async () => {
      await door?.close();
      await session?.stop();
    });

    /** Waits for the first shell: the commands that come while it starts slowly are children. */
    const telling = async () => {
      await door.json("execute_command", { command: "true" });
      await until("the shell to tell", () => session.probe("return vscode.window.terminals.some((each) => each.shellIntegration !== undefined)"));
    };

    it(`ends and prints as a plain run: ${commands.length} tricky lines`, { timeout: 20 * 60_000 }, async (t) => {
      const wrong = [];
      if (name === "bash") await telling();
      await session.probe(COUNT);
      for (const command of commands) {
        const want = plain(shell, command, session.folder);
        const { exit_code, output, output_captured } = await door.json("execute_command", { command });
        assert.equal(output_captured, true);
        if (exit_code !== want.exit_code || steady(output) !== steady(want.output)) wrong.push({ command, exit_code, output: output.slice(0, 200), want: { ...want, output: want.output.slice(0, 200) } });
      }
      // The first few say enough.
      assert.deepEqual(wrong.slice(0, 3), []);
      const { told, terminals } = await session.probe("return { told: globalThis.told, terminals: globalThis.kinds() }");
      const typed = name === "bash" ? commands.length - tooLong.length : 0;
      t.diagnostic(`${name}: ${commands.length} lines, ${wrong.length} wrong; the shell told the end of ${told}, ${commands.length - told} were children`);
      assert.equal(told, typed);
      assert.deepEqual(terminals, name === "bash" ? ["child", "shell"] : ["child"], "and terminals are used again");
    });

    it("that leaves a job behind ends, and the job goes on", async () => {
      const { exit_code, output } = await door.json("execute_command", { command: "(until [ -e go ]; do sleep 0.1; done; echo late > late) >/dev/null 2>&1 & echo now" });
      assert.deepEqual([exit_code, output], [0, "now\n"]);
      assert.equal(fs.existsSync(session.file("late")), false);
      fs.writeFileSync(session.file("go"), "");
      await until("the job to end", () => fs.existsSync(session.file("late")));
    });

    it("that is cancelled ends with all that it started", async () => {
      const cancel = new AbortController();
      const answer = door.json("execute_command", { command: "sh -c 'echo $$ > inner; sleep 1000'; echo never > after" }, { signal: cancel.signal });
      await until("it runs", () => fs.existsSync(session.file("inner")) && session.read("inner").length > 0);
      const pid = Number(session.read("inner"));
      cancel.abort();
      await assert.rejects(answer);
      await until("it has ended", () => !isAlive(pid));
      assert.equal(fs.existsSync(session.file("after")), false);
      assert.deepEqual((await door.json("execute_command", { command: "echo again" })).output, "again\n");
    });

    it("that takes too long is ended, and what it printed is told", async () => {
      const started = await door.call("execute_command", { command: "echo begun; sleep 1000", timeout_ms: 6_000 });
      const { exit_code, output, timed_out } = JSON.parse(started.content[0].text);
      assert.deepEqual([started.isError, exit_code, timed_out], [true, null, true]);
      assert.match(output, /^begun\n/);
    });

    it("that the person interrupts with Ctrl-C says so by its status", async () => {
      const answer = door.json("execute_command", { command: "echo $$ > interrupted; sleep 1000; exit 4" });
      await until("it runs", () => fs.existsSync(session.file("interrupted")) && session.read("interrupted").length > 0);
      await session.page.locator(".terminal-wrapper.active .xterm").first().click();
      await session.page.keyboard.press("Control+c");
      const { exit_code } = await answer;
      assert.equal(exit_code, 130);
    });

    it("runs where it is told to, beside another one", async () => {
      const [first, second] = await Promise.all([
        door.json("execute_command", { command: "sleep 1; pwd" }),
        door.json("execute_command", { command: "pwd", cwd: "sub" }),
      ]);
      assert.deepEqual([first.output, second.output], [`${session.folder}\n`, `${session.file("sub")}\n`]);
    });
  });
}

/** Runs in the extension host: counts the commands whose end a shell tells, and says of what kind the terminals are. */
const COUNT = `globalThis.told = 0;
  globalThis.counter?.dispose();
  globalThis.counter = vscode.window.onDidEndTerminalShellExecution(() => void globalThis.told++);
  globalThis.kinds = () => vscode.window.terminals
    .map(({ creationOptions, shellIntegration }) => ("pty" in creationOptions ? "child" : shellIntegration === undefined ? "silent" : "shell")).sort();`;

/** Without process numbers, and the path by which the shell names itself in its messages. */
function steady(text) {
  return text.replace(/line \d+: +\d+ /g, "line N: PID ").replaceAll("/bin/bash: ", "bash: ");
}
