import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Locks } from "../../src/core/locks";

describe("several locks", () => {
  /** Callers that are listed when their locks are granted. */
  function callers() {
    const locks = new Locks();
    const granted: string[] = [];
    const ask = (caller: string, ...names: string[]) => locks.acquireAll(names, () => void granted.push(caller));
    return { granted, ask };
  }

  it("are granted together, once each is free", () => {
    const { granted, ask } = callers();
    const [x, y] = [ask("x", "x"), ask("y", "y")];
    ask("both", "y", "x", "y");
    y();
    assert.deepEqual(granted, ["x", "y"]);
    x();
    assert.deepEqual(granted, ["x", "y", "both"]);
  });

  it("are not granted to one that has left the queue of the first", () => {
    const { granted, ask } = callers();
    const x = ask("x", "x");
    const leave = ask("left", "x", "y");
    ask("next", "x");
    leave();
    assert.deepEqual(granted, ["x"], "the place in front is still held");
    ask("y", "y");
    x();
    assert.deepEqual(granted, ["x", "y", "next"]);
  });

  it("are given back by one that leaves the queue of the second", () => {
    const { granted, ask } = callers();
    const y = ask("y", "y");
    const leave = ask("left", "x", "y");
    ask("next", "x");
    leave();
    assert.deepEqual(granted, ["y", "next"]);
    leave();
    y();
    ask("last", "y");
    assert.deepEqual(granted, ["y", "next", "last"]);
  });
});
