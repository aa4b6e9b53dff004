// The agent's own commands in the visible terminal of VS Code (row B12).
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { before, describe, it } from "node:test";

import { call } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { isAlive, until } from "./lib/wait.mjs";

const FILES = {
  "go.mod": "module example.com/sum\n\ngo 1.22\n",
  "sum.go": "package sum\n\n// Sum adds.\nfunc Sum(a, b int) int { return a - b }\n",
  "sum_test.go": 'package sum\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {\n\tif got := Sum(1, 2); got != 3 {\n\t\tt.Errorf("Sum(1, 2) = %d, want 3", got)\n\t}\n}\n',
};

describe("the agent's commands in VS Code's terminal", () => {
  const at = stage({ files: FILES });
  before(() => {
    const file = path.join(at.scene.session.host.agentHome, "config.yaml");
    const config = { ...JSON.parse(fs.readFileSync(file, "utf8")), shell: { surface: "ide" } };
    fs.writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  });

  it("B12: go test runs there after one approval, and the model reads its failures", async () => {
    const agent = await at.scene.linkedAgent([call("execute_command", { command: "go test ./..." }), { text: "I see." }]);
    await agent.type("test it\r");
    await agent.asks();
    await agent.type("y");
    const told = await agent.told(2, 90_000);
    assert.match(told, /^exit code: 1\n/);
    assert.match(told, /--- FAIL: TestSum/);
    assert.match(told, /sum_test\.go:7: Sum\(1, 2\) = -1, want 3/);
    assert.match(told, /FAIL\texample\.com\/sum/);
    await at.scene.session.probe(`vscode.window.terminals.find((terminal) => terminal.name === "Agent: Commands").show(true)`);
    await at.scene.session.terminalShows("--- FAIL: TestSum");
  });

  it("B12: its output is seen in the prompt's window as it comes, and Esc ends it with all it started", async () => {
    const { scene } = at;
    const [pid, late] = [scene.session.file("pid"), scene.session.file("late")];
    const command = `echo be''gun; sh -c 'echo $$ > pid; sleep 600; touch late'; echo done`;
    const agent = await scene.linkedAgent([call("execute_command", { command, timeout: 300 })]);
    await agent.type("run it\r");
    await agent.asks();
    await scene.bench.statusItem("waits for you").waitFor();
    await agent.type("y");
    await until("the command to run", () => fs.existsSync(pid) && fs.readFileSync(pid, "utf8").trim());
    await agent.show();
    await agent.shows("begun");
    await scene.bench.statusItem("Agent: working").waitFor();
    await agent.type("\u001b");
    await agent.idle();
    const running = Number(fs.readFileSync(pid, "utf8"));
    await until("the command's child to end", () => !isAlive(running));
    assert.ok(!fs.existsSync(late));
    await scene.bench.statusItem("Agent: working").waitFor({ state: "detached" });
    await scene.session.probe(`for (const terminal of vscode.window.terminals) terminal.dispose()`);
    // Clients of /mcp, which tell no process, may stay from earlier tests of the window.
    await until("no agent to be connected", async () => !/process \d/.test(await scene.bench.statusItem("Agent").first().getAttribute("aria-label")));
  });
});
