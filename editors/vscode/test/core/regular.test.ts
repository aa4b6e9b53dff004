import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readRegular } from "../../src/core/regular";
import { tempFolder } from "./fakes";

describe("readRegular", { skip: process.platform === "win32" }, () => {
  it("reads files, and waits for nothing else", async (t) => {
    const folder = tempFolder(t);
    const at = (name: string): string => join(folder, name);
    writeFileSync(at("file"), "text");
    writeFileSync(at("sparse"), "");
    truncateSync(at("sparse"), 30e9);
    mkdirSync(at("folder"));
    execFileSync("mkfifo", [at("pipe")]);
    symlinkSync("/dev/zero", at("zero"));
    symlinkSync("file", at("link"));
    for (const name of ["file", "link"]) assert.equal((await readRegular(at(name))).toString(), "text");
    for (const [name, code] of [["sparse", "FILE_TOO_LARGE"], ["pipe", "INVALID_PARAMS"], ["zero", "INVALID_PARAMS"], ["folder", "EISDIR"], ["none", "ENOENT"]] as const) {
      await assert.rejects(readRegular(at(name)), { code });
    }
    await assert.rejects(readRegular(at("file"), 3), { code: "FILE_TOO_LARGE" });
  });
});
