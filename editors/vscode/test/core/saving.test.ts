import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SavedText, saveTyped } from "../../src/core/saving";

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

describe("a text that is saved", () => {
  const instant = 200;
  const text = "a  \nb  \n";
  const trim = { offset: 1, length: 2, text: "", atCursor: false };
  const trimmed = "a\nb  \n";
  const changes: { name: string; to: string; change: typeof trim; typed: boolean }[] = [
    { name: "blanks trimmed elsewhere", to: trimmed, change: trim, typed: false },
    { name: "blanks trimmed at the cursor", to: trimmed, change: { ...trim, atCursor: true }, typed: false },
    { name: "a final newline at the cursor", to: `${text}\n`, change: { offset: 8, length: 0, text: "\n", atCursor: true }, typed: false },
    { name: "quotes of a formatter", to: "'  \nb  \n", change: { offset: 0, length: 1, text: "'", atCursor: false }, typed: false },
    { name: "a letter at the cursor", to: "ax  \nb  \n", change: { offset: 1, length: 0, text: "x", atCursor: true }, typed: true },
    { name: "a letter deleted at the cursor", to: "  \nb  \n", change: { offset: 0, length: 1, text: "", atCursor: true }, typed: true },
  ];
  for (const { name, to, change, typed } of changes) {
    it(`${typed ? "keeps" : "takes back"} ${name} during the save`, () => {
      const saved = new SavedText(text);
      saved.begin([], 1_000, instant);
      assert.equal(saved.isSaves(to, [change], 1_000), !typed);
      assert.equal(saved.end(), typed ? undefined : text);
    });
  }

  const before: { name: string; made: [to: string, change: typeof trim, at: number][]; cursor: number; instantMs?: number; back: string | undefined }[] = [
    { name: "takes back what a formatter did an instant before it", made: [[trimmed, trim, 950]], cursor: 0, back: text },
    { name: "takes back a final newline at the cursor, too", made: [[trimmed, trim, 950], [`${trimmed}\n`, { offset: 6, length: 0, text: "\n", atCursor: true }, 951]], cursor: 6, back: text },
    { name: "takes back a final newline that the cursor stays before", made: [[`${text}\n`, { offset: 8, length: 0, text: "\n", atCursor: true }, 950]], cursor: 8, back: text },
    { name: "keeps a line that a person began: the cursor is in it", made: [[`${text}\n`, { offset: 8, length: 0, text: "\n", atCursor: true }, 950]], cursor: 9, back: undefined },
    { name: "keeps what a person did with a command: that is longer ago", made: [[trimmed, trim, 700]], cursor: 0, back: undefined },
    { name: "takes back what formatters did slowly before a save by itself", made: [[trimmed, trim, 300], ["a\nb\n", { ...trim, offset: 3 }, 900]], cursor: 0, instantMs: 750, back: text },
    { name: "keeps what a person did before those", made: [[trimmed, trim, 100], ["a\nb\n", { ...trim, offset: 3 }, 900]], cursor: 0, instantMs: 750, back: trimmed },
    { name: "keeps what was typed before a formatter", made: [["ax  \nb  \n", { offset: 1, length: 0, text: "x", atCursor: true }, 900], ["ax\nb  \n", { ...trim, offset: 2 }, 950]], cursor: 2, back: "ax  \nb  \n" },
    { name: "keeps what was typed while the window reported its cursor late", made: [["ax  \nb  \n", { offset: 1, length: 0, text: "x", atCursor: false }, 950], ["axy  \nb  \n", { offset: 2, length: 0, text: "y", atCursor: false }, 955]], cursor: 1, back: undefined },
    { name: "keeps what was deleted so", made: [["ax  \nb  \n", { offset: 1, length: 0, text: "x", atCursor: true }, 940], ["a  \nb  \n", { offset: 1, length: 1, text: "", atCursor: false }, 950]], cursor: 1, back: undefined },
    { name: "keeps a blank that was typed before a formatter", made: [["a   \nb  \n", { offset: 1, length: 0, text: " ", atCursor: true }, 900], ["a\nb  \n", { offset: 1, length: 3, text: "", atCursor: false }, 950]], cursor: 1, back: "a   \nb  \n" },
  ];
  for (const { name, made, cursor, instantMs = instant, back } of before) {
    it(name, () => {
      const saved = new SavedText(text);
      for (const [to, change, at] of made) assert.equal(saved.isSaves(to, [change], at), false);
      saved.begin([cursor], 1_000, instantMs);
      assert.equal(saved.end(), back);
      if (back === undefined) return;
      assert.equal(saved.isSaves(back, [trim], 1_010), false, "the text from before is the person's");
      assert.equal(saved.before, undefined);
    });
  }
});
