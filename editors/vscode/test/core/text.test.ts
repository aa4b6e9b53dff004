import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cap, eolOf, finalText, forDisplay, oneLine, sameText, sha256, textSha256, toLf, visibleName, withEol, withoutIcons } from "../../src/core/text";
import { Chance } from "./fakes";

const bom = "\ufeff";

describe("line endings", () => {
  const kinds: [string, ReturnType<typeof eolOf>][] = [
    ["", undefined],
    ["one line", undefined],
    ["a\nb\n", "lf"],
    ["a\r\nb", "crlf"],
    ["a\r\nb\nc", "mixed"],
    ["\n", "lf"],
    ["a\rb", undefined],
  ];
  for (const [text, kind] of kinds) {
    it(`of ${JSON.stringify(text)}: ${kind ?? "none"}`, () => assert.equal(eolOf(text), kind));
  }

  it("are changed whole", () => {
    assert.equal(withEol("a\r\nb\rc\n", "lf"), "a\nb\nc\n");
    assert.equal(withEol("a\nb\r\n", "crlf"), "a\r\nb\r\n");
  });

  it("of a proposal follow the base on the screen", () => {
    assert.equal(forDisplay("a\nb\n", "x\r\n"), "a\r\nb\r\n");
    assert.equal(forDisplay("a\r\nb", "x\n"), "a\nb");
    assert.equal(forDisplay("a\r\nb\n", "x\r\ny\n"), "a\r\nb\n");
    assert.equal(forDisplay("a\nb", ""), "a\nb");
    assert.equal(forDisplay(bom + "a\n", "x\n"), "a\n");
  });
});

describe("the final text", () => {
  const cases: { name: string; proposal: string; base: string; draft: string; text: string; edited: boolean }[] = [
    { name: "untouched", proposal: "a\nb", base: "a\n", draft: "a\nb", text: "a\nb", edited: false },
    { name: "untouched, shown with the base's endings", proposal: "a\nb", base: "a\r\n", draft: "a\r\nb", text: "a\nb", edited: false },
    { name: "untouched with a mark", proposal: bom + "a\r\n", base: "x\r\n", draft: "a\r\n", text: bom + "a\r\n", edited: false },
    { name: "untouched, mixed", proposal: "a\r\nb\nc\r", base: "", draft: "a\nb\nc\n", text: "a\r\nb\nc\r", edited: false },
    { name: "edited", proposal: "a\nb", base: "x\n", draft: "a\nB", text: "a\nB", edited: true },
    { name: "edited, base with CRLF", proposal: "a\nb", base: "x\r\n", draft: "a\nB", text: "a\r\nB", edited: true },
    { name: "edited, with a mark", proposal: bom + "a", base: "", draft: "b", text: bom + "b", edited: true },
    { name: "edited, new file with CRLF", proposal: "a\r\nb\r\n", base: "", draft: "a\nc\n", text: "a\r\nc\r\n", edited: true },
    { name: "edited in mixed text", proposal: "a\r\nb\nc\r\n", base: "x\r\ny\n", draft: "a\r\nB\r\nc\r\n", text: "a\r\nB\nc\r\n", edited: true },
    { name: "edited in mixed text, where the line ends otherwise than the next", proposal: "a\r\nb\r\nc\n", base: "x\r\ny\n", draft: "a\nB\nc\n", text: "a\r\nB\r\nc\n", edited: true },
    { name: "lines added to mixed text", proposal: "a\r\nb\nc\r\n", base: "x\r\ny\n", draft: "a\nnew\nb\nc\nlast\n", text: "a\r\nnew\r\nb\nc\r\nlast\r\n", edited: true },
    { name: "final newline removed", proposal: "a\n", base: "x\n", draft: "a", text: "a", edited: true },
    { name: "emptied", proposal: "a\n", base: "x\n", draft: "", text: "", edited: true },
  ];
  for (const { name, proposal, base, draft, text, edited } of cases) {
    it(name, () => assert.deepEqual(finalText(draft, proposal, base), { text, edited }));
  }

  it("is the proposal exactly, whatever its bytes, if nothing was typed", () => {
    const chance = new Chance(7);
    for (let i = 0; i < 3_000; i++) {
      const proposal = randomText(chance);
      const base = randomText(chance);
      // An editor shows one kind of line ending only.
      const draft = withEol(forDisplay(proposal, base), chance.pick(["lf", "crlf"]));
      assert.deepEqual(finalText(draft, proposal, base), { text: proposal, edited: false });
    }
  });

  it("has the lines of the draft, whatever was typed", () => {
    const chance = new Chance(8);
    for (let i = 0; i < 3_000; i++) {
      const [proposal, base, draft] = [randomText(chance), randomText(chance), randomText(chance)];
      assert.equal(sameText(finalText(draft, proposal, base).text, draft), true);
    }
  });
});

function randomText(chance: Chance): string {
  const parts = ["a", "b", "漢", "😀", "\n", "\n", "\r\n", "\r", "\u2028", " "];
  const head = chance.below(8) === 0 ? bom : "";
  return head + Array.from({ length: chance.below(9) }, () => chance.pick(parts)).join("");
}

describe("hashes", () => {
  it("of text are those of its UTF-8", () => {
    assert.equal(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });
  it("of a buffer do not depend on what an editor normalizes", () => {
    assert.equal(textSha256(bom + "a\r\nb\rc"), textSha256("a\nb\nc"));
    assert.equal(textSha256("a\nb"), sha256("a\nb"));
    assert.equal(toLf("a"), "a");
  });
});

describe("foreign text on the screen", () => {
  const lines: [string, string][] = [
    ["plain", "plain"],
    ["two\nlines\tand a tab", "two lines and a tab"],
    ["evil\u202egpj.exe", "evilgpj.exe"],
    ["esc\u001b[31mred", "esc[31mred"],
    ["zero\u200bwidth\ufeff", "zerowidth"],
    ["half \ud83d pair", "half  pair"],
    ["whole 😀 pair", "whole 😀 pair"],
    ["  trimmed  ", "trimmed"],
  ];
  for (const [text, want] of lines) it(JSON.stringify(text), () => assert.equal(oneLine(text, 40), want));

  it("draws no icons", () => {
    assert.equal(withoutIcons("$(check) done $(sync~spin)"), "\\$(check) done \\$(sync~spin)");
    assert.equal(withoutIcons("\\$(check)"), "\\\\$(check)");
    assert.equal(withoutIcons("$(pwd) and $( not one )"), "\\$(pwd) and $( not one )");
  });

  it("is cut at whole characters", () => {
    assert.equal(oneLine("😀".repeat(50), 10), "😀".repeat(9) + "…");
    assert.equal(cap("ab😀", 3), "ab");
    assert.equal(cap("ab😀", 4), "ab😀");
    assert.equal(cap("abc", 2), "ab");
  });

  it("keeps the strangers of a name visible", () => {
    assert.equal(visibleName("a\u202eb\n.go"), "a\\u{202e}b\\u{a}.go");
    assert.equal(visibleName("größe 漢.go"), "größe 漢.go");
  });
});
