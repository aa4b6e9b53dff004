// A proposal and its file in one text: its display, decisions and typing.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Merged, States } from "../../src/core/merged";
import type { LineEdit } from "../../src/core/merged";
import { toLf } from "../../src/core/text";
import { Chance } from "./fakes";

const BASE = "one\ntwo\nthree\nfour\nfive\n";
const BOTH = "ONE\ntwo\nthree\nfour\nFIVE\n";

function shown(merged: Merged): string {
  const signs = { same: " ", added: "+", removed: "-" };
  return merged.lines.map((line, at) => signs[merged.kinds[at] ?? "same"] + line).join("|");
}

function type(line: number, character: number, text: string, to = { line, character }): LineEdit {
  return { startLine: line, startCharacter: character, endLine: to.line, endCharacter: to.character, text };
}

describe("a proposal and its file in one text", () => {
  it("shows removed lines above added ones", () => {
    const merged = Merged.of(BASE, BOTH);
    assert.equal(shown(merged), "-one|+ONE| two| three| four|-five|+FIVE| ");
    assert.deepEqual([merged.draft, merged.decided], [BOTH, BASE]);
    assert.deepEqual(merged.hunks, [{ from: 0, to: 2 }, { from: 5, to: 7 }]);
  });

  it("has a place for each line of the draft", () => {
    const merged = Merged.of(BASE, BOTH);
    const lines = BOTH.split("\n");
    assert.deepEqual(lines.map((_, at) => merged.lines[merged.shownAt(at + 1) - 1]), lines);
    assert.equal(merged.shownAt(100), merged.lines.length);
  });

  it("a decided change leaves the others as they are", () => {
    const merged = Merged.of(BASE, BOTH);
    const [first, second] = merged.hunks;
    assert.ok(first !== undefined && second !== undefined);
    const one = merged.decide(first, "accept");
    assert.equal(shown(one), " ONE| two| three| four|-five|+FIVE| ");
    const there = one.find(merged.key(second), second.from);
    assert.ok(there !== undefined, "it is found again, although it has moved");
    const none = one.decide(there, "reject");
    assert.deepEqual([none.hunks, none.draft, none.text], [[], "ONE\ntwo\nthree\nfour\nfive\n", "ONE\ntwo\nthree\nfour\nfive\n"]);
  });

  it("of changes that say the same the one at the line is meant, or none", () => {
    const merged = Merged.of("a\nx\na\n", "b\nx\nb\n");
    const key = merged.key(merged.hunks[0] ?? { from: 0, to: 0 });
    assert.deepEqual([merged.find(key, 3), merged.find(key, 9)], [{ from: 3, to: 5 }, undefined]);
  });

  it("typed text is in the draft; a removed line cannot be changed", () => {
    const merged = Merged.of(BASE, BOTH);
    const typed = merged.edited([type(1, 3, "!"), type(3, 0, "new\n")]);
    assert.equal(typed === undefined ? "" : shown(typed), "-one|+ONE!| two| new| three| four|-five|+FIVE| ");
    assert.equal(merged.edited([type(0, 1, "x")]), undefined);
    assert.equal(merged.edited([type(0, 0, "", { line: 1, character: 0 })]), undefined, "nor taken away");
    const below = merged.edited([type(0, 3, "\nmore")]);
    assert.equal(below === undefined ? "" : shown(below), "-one|+more|+ONE| two| three| four|-five|+FIVE| ", "a line below it is a new one");
  });

  it("of 2,000 random proposals, answers and edits the draft is always the shown text without removed lines", () => {
    const chance = new Chance(7);
    const word = (): string => chance.pick(["", "a", "b", "c", "dd"]);
    const text = (): string => Array.from({ length: chance.below(7) }, word).join(chance.pick(["\n", "\n", "\r\n"]));
    let edits = 0;
    for (let round = 0; round < 2_000; round++) {
      const [original, proposed] = [text(), text()];
      let merged = Merged.of(original, proposed);
      assert.deepEqual([merged.draft, merged.decided], [toLf(proposed), toLf(original)]);
      for (let step = 0; step < 6; step++) {
        const before = merged;
        const hunk = merged.hunks[chance.below(merged.hunks.length + 1)];
        if (hunk !== undefined) {
          const what = chance.pick(["accept", "reject"] as const);
          merged = merged.decide(hunk, what);
          assert.equal(merged.hunks.length, before.hunks.length - 1);
          assert.equal(what === "accept" ? merged.draft : merged.decided, what === "accept" ? before.draft : before.decided);
          continue;
        }
        const line = chance.below(merged.lines.length);
        const to = line + chance.below(merged.lines.length - line);
        const [start, end] = [chance.below((merged.lines[line] ?? "").length + 1), (merged.lines[to] ?? "").length];
        const next = merged.edited([type(line, start, text(), { line: to, character: Math.max(end, to === line ? start : 0) })]);
        if (next === undefined) continue;
        merged = next;
        edits++;
        assert.equal(merged.kinds.length, merged.lines.length);
        const removed = (each: Merged): string[] => each.lines.filter((_, at) => each.kinds[at] === "removed");
        assert.deepEqual(removed(merged), removed(before), "every removed line is still there");
      }
      assert.equal(merged.decideAll("accept").text, merged.draft);
      assert.equal(merged.decideAll("reject").text, merged.decided);
    }
    assert.ok(edits > 500, `only ${edits} edits`);
  });
});

describe("the earlier states of a text", () => {
  it("are dropped, the oldest first, when they are many", () => {
    const states = new States();
    const all = Array.from({ length: 501 }, (_, at) => Merged.of("", String(at)));
    for (const each of all) states.add(each);
    assert.deepEqual([all[0], all[1], all[500]].map((each) => states.get(each?.text ?? "") === each), [false, true, true]);
  });

  it("are dropped when they are long, but never the newest", () => {
    const states = new States();
    const long = (at: number): Merged => new Merged([`${at}`, "x".repeat(1_000_000)], ["same", "same"]);
    const all = Array.from({ length: 100 }, (_, at) => long(at));
    for (const each of all) states.add(each);
    assert.equal(all.filter((each) => states.get(each.text) !== undefined).length, 15);
    assert.equal(states.get(all[99]?.text ?? ""), all[99]);
    const huge = new Merged(["y".repeat(20_000_000)], ["same"]);
    states.add(huge);
    assert.equal(states.get(huge.text), huge);
    assert.equal(states.get(all[99]?.text ?? ""), undefined);
  });

  it("count once if the same comes again", () => {
    const states = new States();
    const long = new Merged(["x".repeat(10_000_000)], ["same"]);
    const short = Merged.of("", "a");
    for (const each of [short, long, long, long]) states.add(each);
    assert.equal(states.get(short.text), short);
  });
});
