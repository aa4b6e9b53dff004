import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { saveTyped } from "../../src/core/saving";

/** A document in which somebody types while it is saved, this many times. */
class Typed {
  text = "1";
  saved = "";
  saves = 0;
  constructor(private times: number) {}

  get isDirty(): boolean {
    return this.saved !== this.text;
  }

  async save(): Promise<boolean> {
    this.saves++;
    this.saved = this.text;
    if (this.times-- > 0) this.text += "2";
    return Promise.resolve(true);
  }
}

describe("a document that is saved before its tab closes", () => {
  const caughtUp = async (): Promise<void> => Promise.resolve();

  for (const [times, saves] of [[0, 1], [1, 2], [100, 3]] as const) {
    it(`is saved ${saves} times if somebody types during ${times}`, async () => {
      const document = new Typed(times);
      await saveTyped(caughtUp, () => document);
      assert.deepEqual([document.saves, document.isDirty], [saves, times >= saves]);
    });
  }

  it("holds what was on its way from the window", async () => {
    const document = new Typed(0);
    document.saved = document.text;
    await saveTyped(() => Promise.resolve(void (document.text = "12")), () => document);
    assert.equal(document.saved, "12");
  });

  it("may be closed already", async () => {
    await saveTyped(caughtUp, () => undefined);
  });
});
