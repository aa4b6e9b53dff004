import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { diffLines, splitLines } from "../../src/core/linediff";
import { countChanges, unifiedDiff } from "../../src/core/patch";
import { Chance, tempFolder } from "./fakes";

const gitEnv = { PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CEILING_DIRECTORIES: "/" };

/** What git makes of the patch. */
function gitApply(folder: string, name: string, before: string, patch: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, before);
  writeFileSync(join(folder, "the.patch"), patch);
  execFileSync("git", ["apply", "--whitespace=nowarn", "the.patch"], { cwd: folder, env: gitEnv });
  return readFileSync(file, "utf8");
}

describe("lines", () => {
  it("keep their endings", () => {
    assert.deepEqual(splitLines(""), []);
    assert.deepEqual(splitLines("a\n\nb"), ["a\n", "\n", "b"]);
    assert.deepEqual(splitLines("a\r\n"), ["a\r\n"]);
  });

  it("differ by the shortest script", () => {
    const changes = diffLines([..."abcabba"], [..."cbabac"]);
    const edits = changes.reduce((n, c) => n + c.oldTo - c.oldFrom + c.newTo - c.newFrom, 0);
    assert.equal(edits, 5);
  });

  it("of any two texts: the changes turn one into the other, and touch nowhere", () => {
    const chance = new Chance(1);
    for (let i = 0; i < 5_000; i++) {
      const a = Array.from({ length: chance.below(12) }, () => chance.pick(["x", "y", "z"]));
      const b = Array.from({ length: chance.below(12) }, () => chance.pick(["x", "y", "z"]));
      const out: string[] = [];
      let at = 0;
      for (const c of diffLines(a, b)) {
        assert.ok(c.oldFrom > at || out.length === 0 || c.oldFrom >= at);
        out.push(...a.slice(at, c.oldFrom), ...b.slice(c.newFrom, c.newTo));
        at = c.oldTo;
      }
      assert.deepEqual([...out, ...a.slice(at)], b);
    }
  });

  it("in great number that have nothing in common are one change, and soon", () => {
    const a = Array.from({ length: 60_000 }, (_, i) => `a${i}\n`);
    const b = Array.from({ length: 60_000 }, (_, i) => `b${i}\n`);
    assert.deepEqual(diffLines(a, b), [{ oldFrom: 0, oldTo: 60_000, newFrom: 0, newTo: 60_000 }]);
  });
});

describe("a patch", () => {
  it("of equal texts is empty", () => assert.equal(unifiedDiff("f", "a\n", "a\n"), ""));

  it("reads as usual", () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i + 1}\n`).join("");
    const after = before.replace("line 3\n", "line three\n").replace("line 20\n", "line 20");
    const want = [
      "--- a/dir/f.txt",
      "+++ b/dir/f.txt",
      "@@ -1,6 +1,6 @@",
      " line 1",
      " line 2",
      "-line 3",
      "+line three",
      " line 4",
      " line 5",
      " line 6",
      "@@ -17,4 +17,4 @@",
      " line 17",
      " line 18",
      " line 19",
      "-line 20",
      "+line 20",
      "\\ No newline at end of file",
      "",
    ].join("\n");
    assert.equal(unifiedDiff("dir/f.txt", before, after), want);
    assert.deepEqual(countChanges(before, after), { added: 2, removed: 2 });
  });

  const names = ["f", "dir/f.txt", "with space.txt", 'quo"te', "back\\slash", "tab\tname", "漢字/größe.txt", "new\nline"];
  for (const name of names) {
    it(`to ${JSON.stringify(name)} is taken by git`, (t) => {
      const patch = unifiedDiff(name, "a\nb\n", "a\nc\n");
      assert.equal(gitApply(tempFolder(t), name, "a\nb\n", patch), "a\nc\n");
    });
  }

  const edges: [string, string, string][] = [
    ["from an empty file", "", "a\nb\n"],
    ["to one line without an end", "a\n", "a"],
    ["that adds the last end", "a", "a\n"],
    ["with CRLF", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"],
    ["with mixed endings", "a\r\nb\nc\r\n", "a\nb\nc\r\n"],
    ["with lone carriage returns", "a\rb\nc\n", "a\rB\nc\n"],
    ["that empties all but a line", "a\nb\nc\n", "b\n"],
    ["with lines like headers", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n", "--- a/f\n@@ -1 +1 @@\n-x\n"],
  ];
  for (const [name, before, after] of edges) {
    it(`${name} is taken by git`, (t) => {
      assert.equal(gitApply(tempFolder(t), "f", before, unifiedDiff("f", before, after)), after);
    });
  }

  it("of any two texts is taken by git", (t) => {
    const folder = tempFolder(t);
    const chance = new Chance(2);
    let applied = 0;
    for (let i = 0; i < 60; i++) {
      const before = randomText(chance) || "x\n";
      const after = randomText(chance);
      // A patch that empties a file removes it for git, unless it stays by a header.
      if (before === after || after === "") continue;
      assert.equal(gitApply(folder, "f", before, unifiedDiff("f", before, after)), after);
      applied++;
    }
    assert.ok(applied > 40);
  });
});

function randomText(chance: Chance): string {
  const lines = Array.from({ length: chance.below(30) }, () => chance.pick(["one", "two", "", "  three", "+four", "-five"]));
  return lines.map((line) => line + chance.pick(["\n", "\n", "\n", "\r\n"])).join("") + chance.pick(["", "", "end"]);
}
