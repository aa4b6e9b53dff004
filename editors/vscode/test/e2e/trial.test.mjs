// A command first runs in a copy of the folder: its changes are reviewed like edits, and nothing is on disk
// before the last answer.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const names = ["a", "b", "c"].map((name) => `trial/${name}.txt`);
const run = (command) => ({ calls: [{ tool: "execute_command", args: { command } }] });

describe("a command that first runs in a copy", () => {
  const at = stage({ files: Object.fromEntries(names.map((name) => [name, "old\n"])) });
  const read = () => names.map((name) => at.scene.session.read(name).toString());
  const waiting = async () => Number(/(\d+) to review/.exec(await at.scene.bench.statusItem("Agent").first().innerText())?.[1] ?? 0);
  const typed = (text) =>
    until("the typed text", () =>
      at.scene.session.probe(`return vscode.workspace.textDocuments.some(({ uri, getText }) => uri.scheme === "agent-proposed" && getText().endsWith(args[0]))`, text),
    );

  it("is one review of its files; edited there and accepted, it is written, and one undo takes it back", async () => {
    const { bench, session } = at.scene;
    const agent = await at.scene.agent([run("grep -c old trial/a.txt && sh -c 'exit 0'"), run("sed -i s/old/new/ trial/*.txt"), { text: "Renamed." }], {
      env: { AGENT_TRIAL: "auto" },
    });
    await bench.statusItem("3 to review").waitFor();
    await agent.shows("what `sed -i s/old/new/ trial/");
    await bench.diffShown();
    await bench.typeAtEnd("typed");
    await typed("typed");
    const accept = bench.titleButton("Accept").and(session.page.locator(":not(.disabled)"));
    await until("all answers", async () => {
      const before = await waiting();
      if (before === 0) return true;
      assert.deepEqual(read(), ["old\n", "old\n", "old\n"], "written before the last answer");
      await accept.first().click({ timeout: 5_000 });
      await until("the review to go", async () => (await waiting()) < before, 5_000);
      return (await waiting()) === 0;
    }, 120_000);
    await until("the files to be written", () => read().sort().join("") === "new\nnew\nnew\ntyped");
    await session.noDiffs();
    await agent.idle();
    await agent.type("/undo\r");
    await agent.asks(60_000, "y accept the files marked");
    await session.keepsUp();
    await agent.type("y");
    await agent.shows("undone: trial/a.txt, trial/b.txt, trial/c.txt");
    assert.deepEqual(read(), ["old\n", "old\n", "old\n"]);
    await agent.idle();
  });
});
