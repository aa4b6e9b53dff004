// A command in a terminal whose shell is slow to start (row B4): it runs elsewhere, and the next one runs there.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, afterEach, before, describe, it } from "node:test";

import { connect } from "./lib/door.mjs";
import { startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

describe("a slow shell", () => {
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
    door = await connect(session);
  });
  afterEach((t) => (t.passed === false ? session.keep(t.name) : undefined));
  after(async () => {
    await door?.close();
    await session?.stop();
  });
  const telling = () => session.probe("return vscode.window.terminals.filter((each) => each.name.startsWith('Agent') && each.shellIntegration).length");
  const run = (command) => door.json("execute_command", { command });
  // A shell of the person's own, with its prompt and history, is what runs a command there.
  const runsThere = async () => (await run("ps -o args= -p $PPID | grep -c init-file")).output === "1\n";

  it("B4: one that is late does not take the terminals away from later commands", async () => {
    const go = `${session.host.env.HOME}/go`;
    fs.writeFileSync(`${session.host.env.HOME}/.bashrc`, `while [ ! -e ${go} ]; do sleep 0.1; done\n`);
    assert.deepEqual([await runsThere(), await telling()], [false, 0]);
    fs.writeFileSync(go, "");
    await until("the shell to tell", async () => (await telling()) === 1);
    assert.equal(await runsThere(), true);
    assert.equal(await telling(), 1, "in the terminal that was late");
  });
});
