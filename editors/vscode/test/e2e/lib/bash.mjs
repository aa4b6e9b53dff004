import { after, afterEach, before } from "node:test";

import { connect } from "./door.mjs";
import { startSession } from "./session.mjs";
import { until } from "./wait.mjs";

/** A window for the tests of this suite, in which commands run unasked, in a bash. */
export function windowWithBash() {
  const at = { run: async (command) => at.door.json("execute_command", { command }) };
  before(async () => {
    at.session = await startSession({
      settings: {
        "agent.approvalMode": "never",
        "terminal.integrated.profiles.linux": { bash: { path: "/bin/bash" } },
        "terminal.integrated.defaultProfile.linux": "bash",
      },
    });
    await until("the editor to know the shell", async () => (await at.session.probe("return vscode.env.shell")) === "/bin/bash");
    at.door = await connect(at.session);
  });
  afterEach((t) => (t.passed === false ? at.session.keep(t.name) : undefined));
  after(async () => {
    await at.door?.close();
    await at.session?.stop();
  });
  return at;
}
