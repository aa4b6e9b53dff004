import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { findProgram, quoted } from "../../src/core/program";
import { tempFolder } from "./fakes";

describe("the program", () => {
  it("is found by the setting, else on the PATH, else where programs are put", async (t) => {
    const home = tempFolder(t);
    const make = (folder: string, mode = 0o755): string => {
      mkdirSync(join(home, folder), { recursive: true });
      const file = join(home, folder, "agent");
      writeFileSync(file, "");
      chmodSync(file, mode);
      return file;
    };
    const path = join(home, "on the path");
    const find = (setting = "") => findProgram({ setting, path: `relative:${path}`, home });
    assert.equal(await find(), undefined);
    make("on the path", 0o644);
    assert.equal(await find(), undefined, "what cannot be run is not it");
    const installed = make("go/bin");
    assert.deepEqual(await find(), { file: installed, onPath: false });
    make("on the path");
    assert.deepEqual(await find(), { file: "agent", onPath: true });
    const own = make("my own");
    assert.deepEqual(await find(own), { file: own, onPath: false });
    assert.equal(await find(join(home, "gone")), undefined, "the setting is not passed over");
    assert.deepEqual([quoted(installed), quoted("/it's/agent")], [installed, "'/it'\\''s/agent'"]);
  });
});
