// The lists that the extension shares with the program.
import assert from "node:assert/strict";
import { join } from "node:path";
import { mkdirSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { isHidden, isOddBlank, replaceHidden } from "../../src/core/hidden";
import { visible } from "../../src/core/native/command";
import { protectedWhy } from "../../src/core/native/protected";
import { visibleName } from "../../src/core/text";
import names from "../../../../internal/permission/testdata/names.json";
import { tempFolder } from "./fakes";

describe("hidden characters", () => {
  it("include, of all code points, what a renderer draws as nothing", () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      const char = String.fromCodePoint(code);
      const hides = /[\p{Cc}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u.test(char) && char !== "\n" && char !== "\t";
      if (hides) assert.ok(isHidden(code), `U+${code.toString(16)}`);
      if (/\p{Zs}/u.test(char) && char !== " ") assert.ok(isOddBlank(code), `U+${code.toString(16)}`);
    }
    for (const char of "aZ~ é漢😀\n\t") assert.ok(!isHidden(char.codePointAt(0) ?? 0) && !isOddBlank(char.codePointAt(0) ?? 0), char);
  });

  it("are made visible in commands and names", () => {
    assert.equal(visible("a\u034fb\u180b\u{e0041}\u00a0c\n\td"), "a\\u{34f}b\\u{180b}\\u{e0041}\\u{a0}c\n\td");
    assert.equal(visibleName(" a\u0378b\u2800 "), "\\u{20}a\\u{378}b\\u{2800}\\u{20}");
    assert.equal(replaceHidden("\ud800x", () => "?"), "?x");
  });
});

describe("protected files", () => {
  it("are those of the program", () => {
    for (const name of names.protected) assert.ok(protectedWhy(name, "/nowhere/x") !== undefined, name);
    for (const name of names.plain) assert.equal(protectedWhy(name, "/nowhere/x"), undefined, name);
  });

  it("include those in a folder that git recognizes by its content", (t) => {
    const folder = tempFolder(t);
    for (const each of ["objects", "refs"]) mkdirSync(join(folder, each));
    assert.equal(protectedWhy("config", join(folder, "config")), undefined);
    assert.ok(protectedWhy("HEAD", join(folder, "HEAD")) !== undefined);
    writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
    assert.ok(protectedWhy("config", join(folder, "config")) !== undefined);
  });
});
