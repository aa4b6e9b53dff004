// A command first runs in a copy of the folder: its changes are reviewed like edits, and nothing is on disk
// before the last answer.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const names = ["a", "b", "c"].map((name) => `trial/${name}.txt`);
const red = {
  "red/Makefile": "test:\n\t@sh test.sh\n", "red/a.txt": "one\n", "red/b.txt": "one\n",
  "red/test.sh": "for f in a b; do grep -q two $f.txt || { echo FAIL $f; exit 1; }; done; echo passed\n",
};
const run = (command) => ({ calls: [{ tool: "execute_command", args: { command } }] });

describe("a command that first runs in a copy", () => {
  const at = stage({ files: { ...red, ...Object.fromEntries(names.map((name) => [name, "old\n"])) } });
  const read = () => names.map((name) => at.scene.session.read(name).toString());
  const waiting = async () => Number(/(\d+) to review/.exec(await at.scene.bench.statusItem("Agent").first().innerText())?.[1] ?? 0);
  const typed = (text) =>
    until("the typed text", () =>
      at.scene.session.probe(`return vscode.workspace.textDocuments.some(({ uri, getText }) => uri.scheme === "agent-proposed" && getText().endsWith(args[0]))`, text),
    );

  /** Accepts one review after the other, and checks before each that nothing is written. */
  const acceptAll = (nothingIsWritten) => {
    const accept = at.scene.bench.titleButton("Accept").and(at.scene.session.page.locator(":not(.disabled)"));
    return until("all answers", async () => {
      const before = await waiting();
      if (before === 0) return true;
      nothingIsWritten();
      await accept.first().click({ timeout: 5_000 });
      await until("the review to go", async () => (await waiting()) < before, 5_000);
      return (await waiting()) === 0;
    }, 120_000);
  };

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
    await acceptAll(() => assert.deepEqual(read(), ["old\n", "old\n", "old\n"], "written before the last answer"));
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

  it("spares a turn that makes the tests pass all questions but one, the review of its files", async () => {
    const { bench, session } = at.scene;
    const test = run("make -C red test");
    const edit = { calls: [{ tool: "edit_file", args: { path: "red/a.txt", old_string: "one", new_string: "two" } }] };
    const agent = await at.scene.agent([test, edit, test, run("sed -i s/one/two/ red/b.txt"), test, { text: "They pass." }, { text: "Written." }], {
      env: { AGENT_TRIAL: "auto", AGENT_REVIEW: "turn" },
    });
    await bench.statusItem("2 to review").waitFor();
    for (const [n, said] of [[1, "FAIL a"], [3, "FAIL b"], [5, "passed"]]) {
      const told = JSON.stringify(await agent.told(n));
      assert.ok(told.includes(said) && told.includes("it ran in a copy of the folder"), told);
    }
    const files = () => [session.read("red/a.txt"), session.read("red/b.txt")].join("");
    assert.equal(files(), "one\none\n", "written before the answer");
    await bench.diffShown();
    await acceptAll(() => assert.equal(files(), "one\none\n", "written before the last answer"));
    await until("the files to be written", () => files() === "two\ntwo\n");
    await session.noDiffs();
    await agent.idle();
  });
});
