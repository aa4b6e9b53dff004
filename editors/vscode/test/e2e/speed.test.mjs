// How long an accepted edit holds the model up: the time from before the click to the next request.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";

const EDITS = process.env.AGENT_TEST_FULL === "1" ? 50 : 5;

describe("an edit that is accepted in VS Code", () => {
  // As it is by default: null takes the short delay of the other scenarios away.
  const at = stage({ files: { "a.txt": "n0\n" }, settings: { "agent.diagnosticDelay": 1500 } });

  it("is not waited for where no language server looks", async (t) => {
    const { scene } = at;
    const turns = Array.from({ length: EDITS }, (_, n) => edit("a.txt", `n${n}`, `n${n + 1}`));
    const agent = await scene.agent([...turns, { text: "Good." }]);
    const took = [];
    for (let n = 1; n <= EDITS; n++) {
      await scene.bench.diffShown();
      await agent.asks();
      const from = performance.now();
      await scene.bench.press("Accept");
      assert.match(await agent.told(n), /^Wrote a\.txt/);
      took.push(scene.model.came(agent.prompt, n) - from);
    }
    took.sort((a, b) => a - b);
    const middle = Math.round(took[Math.floor(took.length / 2)]);
    t.diagnostic(`accept to next request: p50 ${middle} ms of ${took.map(Math.round).join(", ")} ms`);
  });
});
