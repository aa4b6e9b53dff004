// Random sequences of edits, commands and undos in the integrated terminal, while
// documents of the same files are open, some with unsaved changes: after each step every
// byte, mode and link is as it must be, and no unsaved text is lost.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Sequence, Terminal } from "./lib/sequence.mjs";
import { stage } from "./lib/scene.mjs";

const COUNT = process.env.AGENT_TEST_FULL === "1" ? 200 : Number(process.env.AGENT_TEST_SEQUENCES ?? 0);
const STEPS = 8;
const SEED = Number(process.env.AGENT_TEST_SEED ?? 1);

describe("sequences of edits, commands and undos", { skip: COUNT === 0 }, () => {
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
