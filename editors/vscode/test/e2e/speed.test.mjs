// How long a person waits for a review, and a model for its answer; many reviews leave nothing in memory.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { Client } from "./lib/client.mjs";
import { edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const FULL = process.env.AGENT_TEST_FULL === "1";
const EDITS = FULL ? 50 : 5;
const REVIEWS = FULL ? 200 : 10;
/** Reviews before the memory is looked at for the first time: VS Code keeps much from its first ones. */
const FIRST = FULL ? 50 : 5;

/** The middle one and all of some times, in milliseconds. */
function figures(took) {
  took.sort((a, b) => a - b);
  return `p50 ${Math.round(took[Math.floor(took.length / 2)])} ms of ${took.map(Math.round).join(", ")} ms`;
}

/** Runs in the page: notes when a change in the diff of the file whose path ends so is painted. */
function notePainted(path) {
  window.painted = undefined;
  const look = () => {
    const side = [...document.querySelectorAll(".monaco-diff-editor .editor.modified > .monaco-editor")].find(({ dataset }) => dataset.uri !== undefined && new URL(dataset.uri).pathname.endsWith(path));
    if (!side?.querySelector(".line-insert, .char-insert")) return void requestAnimationFrame(look);
    requestAnimationFrame(() => (window.painted = Date.now())); // the frame before it is on the screen
  };
  look();
}

/** Runs in the page: notes when the mouse was pressed last. */
function noteMouse() {
  document.addEventListener("mousedown", () => (window.pressed = Date.now()), { capture: true });
}

describe("the extension", () => {
  const at = stage();

  it("is active soon", async (t) => {
    const { bench } = at.scene;
    await bench.command("Developer: Show Running Extensions");
    const row = at.scene.session.page.locator(".runtime-extensions-editor .extension", { has: at.scene.session.page.locator(".name", { hasText: "Review AI Edits" }) });
    const said = await row.locator(".activation-time").textContent();
    assert.match(said, /activation: \d+ms/i);
    t.diagnostic(said);
  });
});

describe("an edit that is accepted in VS Code", () => {
  // As it is by default: null takes the short delay of the other scenarios away.
  const at = stage({ files: { "a.txt": "n0\n" }, settings: { "agent.diagnosticDelay": 1500 } });

  it("is not waited for where no language server looks", async (t) => {
    const { scene } = at;
    const turns = Array.from({ length: EDITS }, (_, n) => edit("a.txt", `n${n}`, `n${n + 1}`));
    const agent = await scene.agent([...turns, { text: "Good." }]);
    await scene.session.page.evaluate(noteMouse);
    const [written, next] = [[], []];
    for (let n = 1; n <= EDITS; n++) {
      await scene.bench.diffShown();
      await agent.asks();
      await scene.bench.press("Accept");
      assert.match(await agent.told(n), /^Wrote a\.txt/);
      const pressed = await scene.session.page.evaluate("window.pressed");
      written.push(fs.statSync(scene.session.file("a.txt")).mtimeMs - pressed);
      next.push(performance.timeOrigin + scene.model.came(agent.prompt, n) - pressed);
    }
    t.diagnostic(`accept to written: ${figures(written)}`);
    t.diagnostic(`accept to next request: ${figures(next)}`);
  });
});

describe("many reviews in VS Code", () => {
  const at = stage({ files: { "a.txt": "one\n" } });

  it("are soon painted, and leave nothing behind", async (t) => {
    const { bench, session } = at.scene;
    const client = await Client.connect(await session.lock());
    t.after(() => client.close());
    const took = [];
    let before;
    for (let n = 0; n < FIRST + REVIEWS; n++) {
      if (n === FIRST) before = await session.memory();
      const name = `${n}.txt`;
      fs.writeFileSync(session.file(name), `one\n${n}\n`);
      await session.page.evaluate(notePainted, `/${name}`);
      const from = Date.now();
      const answer = client.openDiff(session.file(name), `one\n${n} and more\n`);
      took.push((await until("the diff to be painted", () => session.page.evaluate("window.painted"))) - from);
      await bench.diffShown(`/${name}`);
      await bench.press(n % 2 === 0 ? "Accept" : "Reject");
      assert.equal((await answer)[0], n % 2 === 0 ? "FILE_SAVED" : "DIFF_REJECTED");
      await session.noDiffs();
      await session.closeEditors();
    }
    const after = await session.memory();
    const mib = ({ heapUsed, arrayBuffers }) => (heapUsed + arrayBuffers) / 2 ** 20;
    t.diagnostic(`open to painted: ${figures(took)}`);
    t.diagnostic(`the heap after ${FIRST} reviews: ${mib(before).toFixed(1)} MiB, after ${REVIEWS} more: ${mib(after).toFixed(1)} MiB`);
    assert.ok(mib(after) - mib(before) < 4, "objects and buffers");
  });
});
