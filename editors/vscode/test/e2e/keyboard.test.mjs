// The whole flow of a review by keyboard alone, from one edit to many, in either view, and for people
// with a screen reader: the focus at each step, and the texts that are read out.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const CHANGED = BASE.replace("two", "TWO");
const COUNTS = process.env.AGENT_TEST_FULL === "1" ? [1, 2, 5, 40] : [1, 4];

/** Runs in the page: notes each place that gets the focus from now on, and each text that is read out. */
function note() {
  window.places = [];
  window.spoken = [];
  const place = (at) => (at.closest(".terminal-wrapper") ? "terminal" : (at.closest(".monaco-editor[data-uri]")?.dataset.uri.split("?")[0] ?? at.closest(".part")?.id ?? "nothing"));
  window.place = () => place(document.activeElement);
  document.addEventListener("focusin", ({ target }) => window.places.push(place(target)));
  const hear = (node) => node.textContent !== "" && window.spoken.push(node.textContent);
  new MutationObserver((all) => all.forEach(({ addedNodes }) => addedNodes.forEach(hear))).observe(document.querySelector(".monaco-aria-container"), { childList: true, subtree: true });
}

describe("reviews by keyboard alone", () => {
  const at = stage({ files: { "README.md": "keys\n" }, settings: { "agent.diff.showAccepted": false } });

  /** Edits of one answer, answered one after the other; the last of several gets a no, which ends the answer, and in every fourth something is typed. */
  const flow = async (view, count, reader) => {
    const { session, bench } = at.scene;
    const { page } = session;
    await session.configure({ "agent.review": view, "editor.accessibilitySupport": reader ? "on" : "off" });
    await page.evaluate(note);
    const names = Array.from({ length: count }, (_, n) => `${view}-${count}-${reader}-${n + 1}.txt`);
    for (const name of names) fs.writeFileSync(session.file(name), BASE);
    const read = (name) => session.read(name).toString();
    const agent = await at.scene.agent([{ text: "I change them.", calls: names.map((name) => edit(name, "two", "TWO").calls[0]) }, { text: "Good." }, { text: "Bye." }]);
    const spoken = () => page.evaluate("window.spoken");
    const says = (text) => until(`${text} to be read out`, async () => (await spoken()).some((each) => each.includes(text))).catch(async (error) => {
      throw new Error(`${error.message}: ${JSON.stringify(await spoken())}`);
    });
    const place = () => page.evaluate("window.place()");
    const focusIn = (what, is) => until(`the focus in ${what}`, async () => is(await place())).catch(async (error) => {
      throw new Error(`${error.message}, not ${await place()} ${await bench.state()}`);
    });
    const early = page.locator(".statusbar-item", { hasText: "The review has just appeared" });
    /** A key that comes too soon is said to have done so, and is pressed again. */
    const answer = (key, isAnswered) => until(`${key} to answer`, async () => {
      await page.keyboard.press(key);
      let answered = false;
      await until("an answer", async () => (answered = await isAnswered()) || (await early.isVisible()));
      if (!answered) await until("the message to go", async () => !(await early.isVisible()));
      return answered;
    }, 120_000);

    await bench.diffShown(names[0]);
    await focusIn("the terminal, where the person types", (each) => each === "terminal");
    await bench.command("Agent: Next Pending Review");
    for (const [n, name] of names.entries()) {
      await bench.diffShown(name);
      await focusIn(`the review of ${name}`, (each) => each.endsWith(`/${name}`));
      if (reader) await says(`${name} waits for your review. From: agent${count > 1 ? `, ${n + 1} of ${count}` : ""}`);
      if (n > 0) assert.ok(!(await page.evaluate("window.places")).includes("terminal"), `before ${name}`);
      else await page.evaluate("window.places.length = 0");
      const [rejects, types] = [n > 0 && n === count - 1, n % 4 === 1];
      if (types) {
        await page.keyboard.press("Control+End");
        await page.keyboard.type("four");
        await until("the typed text", () => session.probe(`return vscode.window.activeTextEditor?.document.getText().endsWith("four")`));
      }
      const before = await session.diffs();
      const gone = async () => !(await session.diffs()).some((uri) => before.includes(uri));
      await answer(rejects ? "Control+Shift+Backspace" : "Control+Enter", rejects ? gone : async () => read(name) !== BASE);
      if (reader) await says(`${name}${types ? " (edited by you)" : ""} ${rejects ? "rejected" : "accepted"}`);
      assert.equal(read(name), rejects ? BASE : types ? `${CHANGED}four` : CHANGED, name);
    }
    if (count === 1) await agent.told(1);
    await focusIn("the terminal", (each) => each === "terminal");
    await agent.idle();
    await page.keyboard.type("thanks");
    await page.keyboard.press("Enter");
    assert.match(await at.scene.model.asked(agent.prompt, count === 1 ? 2 : 1), /thanks$/);
    await session.noDiffs();
    return spoken();
  };

  for (const view of ["diff", "inline"]) {
    for (const count of COUNTS) {
      it(`${count} in the ${view} view: the focus goes from the terminal to each review, and back after the last`, async () => {
        await flow(view, count, false);
      });
    }
    it(`with a screen reader, in the ${view} view: each review is read out as it comes and as it goes`, async (t) => {
      t.diagnostic(`read out: ${JSON.stringify(await flow(view, 3, true))}`);
    });
  }
});
