// A question in the terminal and in VS Code at once: the first answer wins, the other
// surface lets go, and typed text counts wherever the yes is given.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { call, edit } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";
const NAMES = ["yes", "no", "there", "typed", "edited"];
const ROUNDS = 10;
const PATIENCE = 30_000;

describe("a question on two surfaces", () => {
  const files = Object.fromEntries(NAMES.map((name) => [`${name}.txt`, BASE]));
  const at = stage({ files: { ...files, "count.txt": "0\n" } });
  const read = (name) => at.scene.session.read(name).toString();

  /** An agent whose question is on both surfaces. */
  const asked = async (name) => {
    const agent = await at.scene.agent([edit(name, "two", "TWO"), { text: "Good." }]);
    await at.scene.bench.diffShown();
    await agent.asks();
    return agent;
  };
  const timed = async (t, what, wait) => {
    const from = performance.now();
    await wait;
    t.diagnostic(`${what} after ${Math.round(performance.now() - from)} ms`);
  };

  it("yes in the terminal: it is written, and the diff closes", async (t) => {
    const agent = await asked("yes.txt");
    await agent.yes();
    await timed(t, "the diff was closed", at.scene.session.noDiffs(PATIENCE));
    assert.match(await agent.told(1), /^Wrote yes\.txt/);
    assert.equal(read("yes.txt"), PROPOSED);
  });

  it("no in the terminal: nothing is written, and the diff closes", async (t) => {
    const same = unchanged(at.scene.session.file("no.txt"), assert);
    const agent = await asked("no.txt");
    await agent.type("n");
    await timed(t, "the diff was closed", at.scene.session.noDiffs(PATIENCE));
    await agent.asksNothing();
    await agent.type("go on\r");
    assert.match(await agent.told(1), /declined/);
    same();
  });

  it("an answer in VS Code: the terminal's panel goes", async (t) => {
    const agent = await asked("there.txt");
    await at.scene.bench.press("Accept");
    await timed(t, "the panel was gone", agent.asksNothing(PATIENCE));
    await agent.told(1);
    assert.equal(read("there.txt"), PROPOSED);
  });

  it("typed in the right side, then y in the terminal: the typed text is written", async () => {
    const agent = await asked("typed.txt");
    await at.scene.bench.typeAtEnd("four");
    await agent.shows("edited in code-server +1 −0");
    await agent.yes();
    assert.match(await agent.told(1), /changed the proposal before approving it[^]*\+four/);
    assert.equal(read("typed.txt"), `${PROPOSED}four`);
    await at.scene.session.noDiffs(PATIENCE);
  });

  it("typed in the right side, then n in the terminal: nothing is written, and no dialog is left", async () => {
    const same = unchanged(at.scene.session.file("edited.txt"), assert);
    const agent = await asked("edited.txt");
    await at.scene.bench.typeAtEnd("four");
    await agent.shows("edited in code-server");
    await agent.type("n");
    await at.scene.session.noDiffs(PATIENCE);
    await agent.asksNothing();
    assert.equal(await at.scene.bench.page.locator(".monaco-dialog-box").count(), 0);
    same();
  });

  it(`${ROUNDS} times both at the same moment: one effect each`, async (t) => {
    const file = at.scene.session.file("count.txt");
    const count = () => Number(fs.readFileSync(file, "utf8"));
    const isFree = () => Promise.all([agent.asksNothing(PATIENCE), at.scene.session.noDiffs(PATIENCE)]);
    let waits = 0;
    const next = async (messages) => {
      if (messages.at(-1).role === "user") return call("write_file", { path: "count.txt", content: `${count() + 1}\n` });
      await isFree(); // by itself: the turn does not go on before
      waits++;
      return { text: "Next." };
    };
    const agent = await at.scene.agent(next);
    const seen = { written: 0, declined: 0 };
    const took = [];
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) await agent.type("go on\r");
      await at.scene.bench.diffShown();
      await agent.asks();
      const before = count();
      // Both say yes in every other round; in the rest they contradict each other.
      const middle = await at.scene.bench.middle(at.scene.bench.titleButton("Accept"));
      const click = () => at.scene.bench.page.mouse.click(...middle);
      const key = () => agent.type(round % 2 === 0 ? "y" : "n");
      // Neither surface is the faster one each time.
      if (round % 4 < 2) await click();
      await Promise.all(round % 4 < 2 ? [key()] : [key(), click()]);
      const from = performance.now();
      await isFree();
      took.push(Math.round(performance.now() - from));
      await agent.idle();
      const written = count() - before;
      assert.ok(written === 0 || written === 1, `round ${round}: ${written} writes`);
      if (round % 2 === 0) assert.equal(written, 1);
      seen[written === 1 ? "written" : "declined"]++;
    }
    await agent.type("stop\r");
    await at.scene.bench.diffShown();
    const { messages } = at.scene.model.requests.filter(({ prompt }) => prompt === agent.prompt).at(-1).body;
    const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    assert.equal(results.length, ROUNDS);
    assert.equal(results.filter((text) => text.startsWith("Wrote")).length, seen.written);
    assert.equal(results.filter((text) => /declined/.test(text)).length, seen.declined);
    assert.equal(waits, seen.written);
    t.diagnostic(`${seen.written} written, ${seen.declined} declined; both surfaces were free after ${took.join(", ")} ms`);
  });
});
