// The end of a proposal that is shown in one text with its file.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { InlineEnd } from "../../src/core/ports";
import { decision } from "../../src/core/proposing";
import type { ProposalScreen } from "../../src/core/proposing";
import { settled } from "./fakes";

/** A window in which a proposal is made and shown when the test passes its gates. */
class Screen implements ProposalScreen {
  count = 0;
  decide: (end: InlineEnd) => void = () => undefined;
  readonly made = gate();
  readonly opened = gate();
  private readonly listeners = new Set<() => void>();

  add(decided: (end: InlineEnd) => void): Promise<void> {
    this.decide = decided;
    return this.made.passed;
  }

  show(): Promise<void> {
    return this.opened.passed;
  }

  tabs(): number {
    return this.count;
  }

  onTabs(changed: () => void): () => void {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  }

  get watched(): boolean {
    return this.listeners.size > 0;
  }

  /** A tab changes; the proposal has this many from now on. */
  tab(count: number): void {
    this.count = count;
    for (const each of this.listeners) each();
  }
}

function gate(): { passed: Promise<void>; pass: () => void; fail: (error: Error) => void } {
  let [pass, fail]: [() => void, (error: Error) => void] = [() => undefined, () => undefined];
  const passed = new Promise<void>((done, failed) => ([pass, fail] = [done, failed]));
  return { passed, pass, fail };
}

describe("a proposal in one text with its file", () => {
  const shown = () => {
    const screen = new Screen();
    const cancel = new AbortController();
    const ends: unknown[] = [];
    decision(screen, cancel.signal).then((end) => ends.push(end.kind), (error: unknown) => ends.push(String(error)));
    return { screen, cancel, ends };
  };

  it("is rejected when its tab is closed, whatever other tabs did while it was made and opened", async () => {
    const { screen, ends } = shown();
    screen.tab(0);
    screen.made.pass();
    await settled();
    screen.tab(0);
    await settled();
    assert.deepEqual(ends, [], "nobody has rejected it");
    screen.tab(1);
    screen.opened.pass();
    await settled();
    screen.tab(1);
    await settled();
    assert.deepEqual(ends, []);
    screen.tab(0);
    await settled();
    assert.deepEqual([ends, screen.watched], [["rejected"], false]);
  });

  it("ends with the person's decision", async () => {
    const { screen, ends } = shown();
    screen.made.pass();
    screen.tab(1);
    screen.opened.pass();
    await settled();
    screen.decide({ kind: "accepted", text: "x" });
    screen.tab(0);
    await settled();
    assert.deepEqual([ends, screen.watched], [["accepted"], false]);
  });

  for (const step of ["made", "opened"] as const) {
    it(`ends with an error if it cannot be ${step}`, async () => {
      const { screen, ends } = shown();
      if (step === "opened") screen.made.pass();
      screen[step].fail(new Error("no encoding"));
      await settled();
      assert.deepEqual([ends, screen.watched], [["Error: no encoding"], false]);
    });
  }

  it("ends with an error if no tab comes", async () => {
    const { screen, ends } = shown();
    screen.made.pass();
    screen.opened.pass();
    await settled();
    assert.deepEqual(ends, ["Error: the editor did not show the proposal"]);
  });

  it("is rejected when it is cancelled, even before", async () => {
    const { screen, cancel, ends } = shown();
    cancel.abort();
    await settled();
    assert.deepEqual(ends, [], "its text is still being made");
    screen.made.pass();
    await settled();
    assert.deepEqual([ends, screen.watched], [["rejected"], false]);
    assert.deepEqual(await decision(screen, cancel.signal), { kind: "rejected" });
  });
});
