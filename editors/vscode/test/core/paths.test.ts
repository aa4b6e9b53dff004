import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { canonical, checkPath, isInside, pathKey, relativeTo } from "../../src/core/paths";
import { tempFolder } from "./fakes";

describe("a path", () => {
  const good: [string, NodeJS.Platform][] = [
    ["/a/b.go", "linux"],
    ["/a/../b", "linux"],
    ["/größe/漢", "darwin"],
    ["C:\\a\\b.go", "win32"],
    ["c:/a/b.go", "win32"],
    ["C:\\console\\auxiliary.txt", "win32"],
  ];
  for (const [path, platform] of good) {
    it(`${path} passes on ${platform}`, () => assert.doesNotThrow(() => checkPath(path, platform)));
  }
  const bad: [string, NodeJS.Platform][] = [
    ["", "linux"],
    ["a/b", "linux"],
    ["./a", "linux"],
    ["~/a", "linux"],
    ["/a\0b", "linux"],
    ["/a\nb", "linux"],
    ["/a\u001b[31m", "linux"],
    ["C:\\a", "linux"],
    ["\\\\server\\share\\a", "win32"],
    ["//server/share/a", "win32"],
    ["\\\\?\\C:\\a", "win32"],
    ["\\\\.\\pipe\\a", "win32"],
    ["C:a", "win32"],
    ["C:\\a.txt:stream", "win32"],
    ["C:\\NUL", "win32"],
    ["C:\\dir\\com1.txt", "win32"],
    ["/a", "win32"],
  ];
  for (const [path, platform] of bad) {
    it(`${JSON.stringify(path)} is refused on ${platform}`, () => {
      assert.throws(() => checkPath(path, platform), { name: "ToolError", code: "INVALID_PARAMS" });
    });
  }
});

describe("the canonical path", () => {
  it("resolves links, also above what does not exist yet", async (t) => {
    const folder = tempFolder(t);
    mkdirSync(join(folder, "real"));
    writeFileSync(join(folder, "real", "f"), "");
    symlinkSync(join(folder, "real"), join(folder, "link"));
    symlinkSync(join(folder, "real", "f"), join(folder, "g"));
    assert.equal(await canonical(join(folder, "link", "f")), join(folder, "real", "f"));
    assert.equal(await canonical(join(folder, "g")), join(folder, "real", "f"));
    assert.equal(await canonical(join(folder, "link", "new", "deep.go")), join(folder, "real", "new", "deep.go"));
    assert.equal(await canonical(join(folder, "real", "f", "below")), join(folder, "real", "f", "below"));
  });

  it("of a ring of links is refused", async (t) => {
    const folder = tempFolder(t);
    symlinkSync(join(folder, "b"), join(folder, "a"));
    symlinkSync(join(folder, "a"), join(folder, "b"));
    await assert.rejects(canonical(join(folder, "a")), { code: "ELOOP" });
  });
});

describe("containment", () => {
  it("goes by whole components", () => {
    assert.equal(isInside("/a/b/c", "/a/b"), true);
    assert.equal(isInside("/a/b", "/a/b"), true);
    assert.equal(isInside("/a/bc", "/a/b"), false);
    assert.equal(isInside("/a", "/a/b"), false);
    assert.equal(isInside("/a/b/..hidden", "/a/b"), true);
  });
  it("is relative to the deepest folder", () => {
    assert.equal(relativeTo("/a/b/c/d", ["/a", "/a/b", "/x"]), "c/d");
    assert.equal(relativeTo("/y/d", ["/a"]), undefined);
  });
  it("ignores case where file systems do", () => {
    assert.equal(pathKey("/A/b", "darwin"), pathKey("/a/B", "darwin"));
    assert.equal(pathKey("/e\u0301", "darwin"), pathKey("/\u00e9", "darwin"));
    assert.notEqual(pathKey("/A", "linux"), pathKey("/a", "linux"));
  });
});
