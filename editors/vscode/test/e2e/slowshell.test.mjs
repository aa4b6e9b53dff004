// A command in a terminal whose shell is slow to start (row B4): it runs elsewhere, and the next one runs there.
import assert from "node:assert/strict";
import fs from "node:fs";
import { beforeEach, describe, it } from "node:test";

import { windowWithBash } from "./lib/bash.mjs";
import { keepSettings } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

describe("a slow shell", () => {
  const at = windowWithBash();
  keepSettings(() => at.session);
  beforeEach(async () => {
    await at.session.probe("for (const terminal of vscode.window.terminals) terminal.dispose()");
    await until("the terminals to go", async () => (await at.session.probe("return vscode.window.terminals.length")) === 0);
  });
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

  it("B4: one that the editor takes for another program at first is used", async () => {
    const [tell, go, shell, node] = ["tell", "go", "bash", "node.sh"].map((name) => `${at.session.host.env.HOME}/${name}`);
    fs.rmSync(go, { force: true });
    const wait = (file) => `while [ ! -e ${file} ]; do sleep 0.1; done`;
    fs.writeFileSync(node, `${wait(tell)}\nprintf '\\e]633;A\\a\\e]633;B\\a'\n${wait(go)}\nexec /bin/bash "$@"\n`);
    fs.writeFileSync(shell, `#!/bin/bash\nexec -a node /bin/bash ${node} "$@"\n`, { mode: 0o755 });
    await at.session.configure({ "terminal.integrated.profiles.linux": { bash: { path: shell } } });
    await until("the editor to know the shell", async () => (await at.session.probe("return vscode.env.shell")) === shell);
    const ran = runsThere();
    await until("the editor to take it for Node.js", () => at.session.probe("return vscode.window.terminals.some(({ state }) => state.shell === 'node')"));
    fs.writeFileSync(tell, "");
    await until("the shell to tell", async () => (await telling()) === 1);
    fs.writeFileSync(go, "");
    assert.equal(await ran, true);
  });
});
