// Random sequences of edits, removals, moves, commands and undos in the integrated terminal,
// while documents of the same files are open, some with unsaved changes: after each step
// every byte, mode and link is as it must be, and no unsaved text is lost.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Sequence, Terminal } from "./lib/sequence.mjs";
import { stage } from "./lib/scene.mjs";

const FULL = process.env.AGENT_TEST_FULL === "1";
const COUNT = Number(process.env.AGENT_TEST_SEQUENCES ?? (FULL ? 200 : 2));
const STEPS = 8;
const SEED = Number(process.env.AGENT_TEST_SEED ?? (FULL ? Date.now() % 1_000_000 : 1)); // a failure names it

describe("sequences of edits, commands and undos", () => {
  const at = stage({ files: { "README.md": "sequences\n" } });
  let terminal;
  const begun = async () => (terminal ??= await Terminal.start(at.scene));

  it(`${COUNT} sequences leave every file and every unsaved text as they must`, { timeout: 60 * 60_000 }, async (t) => {
    const counts = {};
    const failed = [];
    for (let seed = SEED; seed < SEED + COUNT && failed.length < 4; seed++) {
      await new Sequence(await begun(), seed, counts).run(STEPS).catch(async (error) => {
        failed.push(error.message);
        await at.scene.session.keep(`sequence-${seed}`);
        await at.scene.clean();
        terminal = undefined;
      });
    }
    t.diagnostic(`seeds from ${SEED}: ${JSON.stringify(counts)}`);
    assert.deepEqual(failed, []);
  });
});
