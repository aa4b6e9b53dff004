import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Verdicts } from "../../src/core/verdicts";
import { settled } from "./fakes";
import { window } from "./window";

describe("a verdict that nobody asks for again", () => {
  it("is dropped after a minute, with its texts", async (t) => {
    const { editor, reviews, ask } = window(t);
    ask("a");
    await settled();
    reviews.accept("r1", "button");
    await settled();
    const { verdicts } = reviews as unknown as { verdicts: Verdicts };
    const { kept } = verdicts as unknown as { kept: unknown[] };
    assert.equal(kept.length, 1);
    editor.clock.advance(61_000);
    assert.deepEqual((verdicts as unknown as { kept: unknown[] }).kept, []);
  });
});
