// The edits of other terminal agents as reviews: their real programs from npm, in the integrated terminals of a real VS Code.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { GUESTS, RunningGuest } from "./lib/guest.mjs";
import { GuestModel } from "./lib/guestmodel.mjs";
import { edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const CHANGED = "one\nTWO\nthree\n";
const settings = { "agent.reviewEditsOf": GUESTS.map(({ name }) => name) };
const names = ["accepted", "edited", "rejected", "cancelled", "terminal", "reload", "again", "Claude Code", "Gemini CLI", "ours"];
const files = Object.fromEntries(names.map((name) => [`${name}.txt`, BASE]));

for (const guest of GUESTS) {
  describe(`the edits of ${guest.name}`, { skip: guest.missing }, () => {
    before(() => void guest.command()); // installs it
    const at = stage({ files, settings });
    let model;
    before(async () => void (model = await GuestModel.start()));
    after(() => model?.stop());
    const read = (name) => at.scene.session.read(`${name}.txt`).toString();
    /** Has the guest propose its edit of a file, and waits for the review. */
    const proposed = async (name) => {
      const { session, bench } = at.scene;
      const running = await RunningGuest.start(guest, session, model, session.file(`${name}.txt`));
      await bench.diffShown(`${name}.txt`);
      assert.equal(read(name), BASE);
      return running;
    };

    it("are written by it after a yes, as they were shown", async () => {
      const running = await proposed("accepted");
      const { bench } = at.scene;
      await bench.tab(`accepted.txt ← ${guest.name}`).waitFor();
      await bench.page.locator(".review-widget, .codelens-decoration", { hasText: `${guest.name} itself writes the file` }).first().waitFor();
      await bench.press("Accept");
      await until("the file", () => read("accepted") === CHANGED);
      await running.told();
      await at.scene.session.noDiffs();
    });

    it("are written with the person's changes", async () => {
      const running = await proposed("edited");
      await at.scene.bench.typeAtEnd("four\n"); // Gemini CLI would add the newline
      await at.scene.bench.press("Accept");
      await until("the file", () => read("edited") === `${CHANGED}four\n`);
      await running.told();
    });

    it("are not written after a no", async () => {
      const running = await proposed("rejected");
      await running.asks();
      await at.scene.bench.press("Reject");
      await at.scene.session.noDiffs();
      await running.asksNothing();
      assert.equal(read("rejected"), BASE);
    });

    it("go from the window when they are given up in the terminal", async () => {
      const running = await proposed("cancelled");
      await running.asks();
      await running.type("\x1b");
      await running.asksNothing();
      await at.scene.session.noDiffs();
      assert.equal(read("cancelled"), BASE);
    });

    it("go from the window when the terminal says yes", async () => {
      const running = await proposed("terminal");
      await running.asks();
      await running.confirm(() => read("terminal") === CHANGED);
      await at.scene.session.noDiffs();
      await running.told();
    });

    it("are not written because a window closes", async () => {
      const running = await proposed("reload");
      await running.asks();
      const { session } = at.scene;
      const { pid } = await session.lock();
      await session.bench.command("Developer: Reload Window");
      await session.backAfter(pid);
      await session.noDiffs();
      assert.equal(read("reload"), BASE);
      if (!guest.asksOn) return;
      await running.asks();
      await running.confirm(() => read("reload") === CHANGED);
    });

    it("are reviewed again after Reload Window, once it has connected as the window says", { skip: guest.again === undefined }, async () => {
      const { session, bench } = at.scene;
      const running = await RunningGuest.start(guest, session, model, session.file("again.txt"), [{ text: "Hello." }]);
      const { pid } = await session.lock();
      await bench.command("Developer: Reload Window");
      await session.backAfter(pid);
      await bench.page.locator(".notification-toast", { hasText: `${guest.name} has lost this window` }).filter({ hasText: guest.again }).waitFor();
      await running.connectAgain();
      await running.say("go on");
      await bench.diffShown("again.txt");
      assert.equal(read("again"), BASE);
      await bench.press("Accept");
      await until("the file", () => read("again") === CHANGED);
      await running.told();
    });
  });
}

describe("the edits of all at once", { skip: GUESTS.map(({ missing }) => missing).find((each) => each !== false) ?? false }, () => {
  const at = stage({ files, settings });
  const models = [];
  after(() => Promise.all(models.map((model) => model.stop())));

  it("are reviews beside each other, and each program gets its own answer", async () => {
    const { session, bench } = at.scene;
    const read = (name) => session.read(`${name}.txt`).toString();
    const running = [];
    for (const guest of GUESTS) {
      models.push(await GuestModel.start());
      running.push(await RunningGuest.start(guest, session, models.at(-1), session.file(`${guest.name}.txt`)));
      await bench.diffShown(`${guest.name}.txt`);
    }
    const agent = await at.scene.agent([edit("ours.txt", "two", "TWO"), { text: "Good." }]);
    await bench.statusItem("3 to review").waitFor();
    for (const left of ["Claude Code", "Gemini CLI", "ours"]) {
      await bench.tab(`${left}.txt`).click();
      await bench.diffShown(`${left}.txt`);
      await bench.press(left === "Gemini CLI" ? "Reject" : "Accept");
      await until(`the answer for ${left}`, async () => !(await session.diffs()).some((uri) => decodeURIComponent(uri).includes(`/${left}.txt`)));
    }
    await until("the accepted ones", () => read("Claude Code") === CHANGED && read("ours") === CHANGED);
    await agent.told(1);
    await running[0].told();
    assert.equal(read("Gemini CLI"), BASE);
  });
});
