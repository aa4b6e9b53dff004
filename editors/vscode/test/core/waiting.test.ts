import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitUntil } from "../../src/core/waiting";
import { ManualClock, settled } from "./fakes";

describe("a wait for a tab", () => {
  for (const [how, end] of [
    ["the tab is there", (tab: (there: boolean) => void) => tab(true)],
    ["its time is over, although no event comes any more", (_: unknown, clock: ManualClock) => clock.advance(5_000)],
  ] as const) {
    it(`ends when ${how}`, async () => {
      const clock = new ManualClock();
      let isThere = false;
      let ended = false;
      const listeners = new Set<() => void>();
      const on = (look: () => void): (() => void) => {
        listeners.add(look);
        return () => listeners.delete(look);
      };
      void waitUntil(() => isThere, on, clock, 5_000).then(() => (ended = true));
      const tab = (there: boolean): void => {
        isThere = there;
        for (const each of listeners) each();
      };
      tab(false);
      clock.advance(4_999);
      await settled();
      assert.equal(ended, false);
      end(tab, clock);
      await settled();
      assert.deepEqual([ended, listeners.size, clock.waiting], [true, 0, 0]);
    });
  }
});
