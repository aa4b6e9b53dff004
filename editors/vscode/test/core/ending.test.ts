import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { atEnd } from "./ending";

describe("the end of a test", () => {
  it("ends what began last first, and all of it", async () => {
    const ended: string[] = [];
    const hooks: (() => unknown)[] = [];
    const t = { after: (hook: () => unknown) => void hooks.push(hook) };
    atEnd(t, () => ended.push("the folder"));
    atEnd(t, () => Promise.reject(new Error("will not end")));
    atEnd(t, () => ended.push("the server"));
    assert.equal(hooks.length, 1);
    await assert.rejects(Promise.resolve(hooks[0]?.()), /will not end/);
    assert.deepEqual(ended, ["the server", "the folder"]);
  });
});
