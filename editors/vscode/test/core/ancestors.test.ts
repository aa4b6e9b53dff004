import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { lineage } from "../../src/core/ancestors";
import { atEnd } from "./ending";

describe("the ancestors of a process", () => {
  const tree = new Map([[40, 30], [30, 20], [20, 1], [7, 8], [8, 7]]);
  const parentOf = (pid: number): Promise<number | undefined> => Promise.resolve(tree.get(pid));

  it("come nearest first, without the first process", async () => {
    assert.deepEqual(await lineage(40, parentOf), [40, 30, 20]);
    assert.deepEqual(await lineage(99, parentOf), [99]);
    assert.deepEqual(await lineage(7, parentOf), [7, 8], "also where numbers were used again");
  });

  it("are those that the system knows", async (t) => {
    const child = spawn("/bin/sh", ["-c", "sleep 1000 & echo $!; wait"], { stdio: ["ignore", "pipe", "inherit"], detached: true });
    atEnd(t, () => process.kill(-(child.pid ?? 0), "SIGKILL"));
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    const found = await lineage(Number(said.toString()));
    assert.deepEqual(found.slice(0, 3), [Number(said.toString()), child.pid, process.pid]);
  });
});
