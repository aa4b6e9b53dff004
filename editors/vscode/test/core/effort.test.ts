import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { request, settled } from "./fakes";
import { Client, window } from "./window";

describe("a key in a draft", () => {
  it("compares the texts once, however many lists ask", async (t) => {
    const { file, reviews } = window(t);
    let compared = 0;
    const asked = {
      ...request(file, ""),
      get proposal(): string {
        compared++;
        return "one\nTWO\n";
      },
    };
    void reviews.ask(new Client(1), asked, "f").answer;
    await settled();
    for (let list = 0; list < 6; list++) reviews.onChange(() => reviews.list());
    compared = 0;
    reviews.edited("r1", "one\nTWO\ntyped\n");
    assert.equal(reviews.get("r1")?.edited, true);
    assert.equal(compared, 1);
    reviews.edited("r1", "one\nTWO\n");
    assert.equal(reviews.get("r1")?.edited, false);
  });
});
