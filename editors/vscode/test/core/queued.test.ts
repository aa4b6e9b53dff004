import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isPending } from "../../src/core/review";
import { settled } from "./fakes";
import { Client, details, window } from "./window";

describe("two proposals for a file", () => {
  it("of one client: the newer takes the place of the older", async (t) => {
    const { editor, reviews, answers, ask } = window(t);
    ask("old");
    await settled();
    ask("new", { proposal: "three\n" });
    await settled();
    assert.deepEqual([details(answers["old"]?.[0]).outcome, details(answers["old"]?.[0]).reason], ["rejected", "superseded"]);
    assert.deepEqual(reviews.list().map(({ id, state }) => [id, state]), [["r2", "shown"]]);
    assert.equal(editor.view.tabs("r1"), 0);
  });

  it("stacked: the newer waits", async (t) => {
    const { reviews, answers, ask } = window(t);
    ask("first");
    ask("second", { stack: true });
    await settled();
    assert.deepEqual(reviews.list().map(({ state }) => state), ["shown", "queued"]);
    reviews.accept("r1", "button");
    await settled();
    assert.equal(answers["first"]?.length, 1);
    assert.deepEqual(reviews.list().map(({ id, state }) => [id, state]), [["r2", "shown"]]);
  });

  it("of two clients: the later one waits, and may leave", async (t) => {
    const { reviews, client, answers, ask } = window(t);
    const other = new Client(2);
    ask("mine");
    const second = ask("hers", {}, other);
    ask("third", {}, new Client(3));
    await settled();
    assert.deepEqual(reviews.list().map(({ state }) => state), ["shown", "queued", "queued"]);
    second.cancel();
    await reviews.close(client);
    await settled();
    assert.deepEqual(answers["hers"], ["silent"]);
    assert.deepEqual(reviews.list().map(({ id, state }) => [id, state]), [["r3", "shown"]]);
  });

  it("the later one takes no answer before its turn, and keeps no words for a later one", async (t) => {
    const { reviews, answers, ask } = window(t);
    ask("first");
    ask("second", {}, new Client(2));
    await settled();
    reviews.reject("r2", "button", "not like this");
    reviews.accept("r2", "button");
    assert.equal(reviews.get("r2")?.state, "queued");
    reviews.accept("r1", "button");
    await settled();
    reviews.accept("r2", "button");
    await settled();
    assert.deepEqual([details(answers["second"]?.[0]).outcome, details(answers["second"]?.[0]).feedback], ["accepted", undefined]);
  });

  it("the later one does not wait for the person before its turn", async (t) => {
    const { editor, reviews, ask } = window(t);
    editor.settings.open = "onDemand";
    const pending = (): string[] => reviews.list().filter(isPending).map(({ id }) => id);
    ask("first");
    ask("second", {}, new Client(2));
    await settled();
    assert.deepEqual([pending(), reviews.list().length], [["r1"], 2]);
    reviews.accept("r1", "button");
    await settled();
    assert.deepEqual(pending(), ["r2"]);
    reviews.accept("r2", "button");
    await settled();
    assert.deepEqual(pending(), []);
  });
});
