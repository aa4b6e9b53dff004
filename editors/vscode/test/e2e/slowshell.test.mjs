// A command in a terminal whose shell is slow to start (row B4): it runs elsewhere, and the next one runs there.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { windowWithBash } from "./lib/bash.mjs";
import { until } from "./lib/wait.mjs";

describe("a slow shell", () => {
  const at = windowWithBash();
  const telling = () => at.session.probe("return vscode.window.terminals.filter((each) => each.name.startsWith('Agent') && each.shellIntegration).length");
  // A shell of the person's own, with its prompt and history, is what runs a command there.
  const runsThere = async () => (await at.run("ps -o args= -p $PPID | grep -c init-file")).output === "1\n";

  it("B4: one that is late does not take the terminals away from later commands", async () => {
    const go = `${at.session.host.env.HOME}/go`;
    fs.writeFileSync(`${at.session.host.env.HOME}/.bashrc`, `while [ ! -e ${go} ]; do sleep 0.1; done\n`);
    assert.deepEqual([await runsThere(), await telling()], [false, 0]);
    fs.writeFileSync(go, "");
    await until("the shell to tell", async () => (await telling()) === 1);
    assert.equal(await runsThere(), true);
    assert.equal(await telling(), 1, "in the terminal that was late");
  });
});
