// Random sequences of typing in reviews, reloads, deaths of agents and extension hosts, second
// windows and Save All: no typed character is lost, and none is written without a yes.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { Chance } from "../flood.mjs";
import { edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const FULL = process.env.AGENT_TEST_FULL === "1";
const COUNT = Number(process.env.AGENT_TEST_SEQUENCES ?? (FULL ? 200 : 1));
const SEED = Number(process.env.AGENT_TEST_SEED ?? (FULL ? Date.now() % 1_000_000 : 1)); // a failure names it
const STEPS = 6;
const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";

/** The process of the agent of this home whose conversation began with this prompt. */
function processOf(home, prompt) {
  const found = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).find((pid) => {
    try {
      const [program, ...words] = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (!/(^|\/)agent$/.test(program) || !words.includes(prompt)) return false;
      return fs.readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`AGENT_HOME=${home}`);
    } catch (error) {
      if (error.code === "ENOENT" || error.code === "ESRCH") return false; // it has just ended
      throw error;
    }
  });
  return Number(found ?? assert.fail(`no process of ${prompt}`));
}

/** One sequence: the reviews that wait, each with the text that it must hold. */
class Typing {
  constructor(scene, seed, counts) {
    Object.assign(this, { scene, seed, counts, chance: new Chance(seed * 7_919), reviews: [], made: 0, log: [] });
  }

  get session() {
    return this.scene.session;
  }

  async run() {
    const steps = { open: this.open, type: this.type, reload: this.reload, killHost: this.killHost, killAgent: this.killAgent, other: this.other, saveAll: this.saveAll };
    await this.open();
    await this.type();
    for (let n = 0; n < STEPS; n++) {
      // An extension host that dies again and again is not started again.
      const name = this.chance.pick(Object.keys(steps).filter((each) => each !== "killHost" || !this.log.includes(each)));
      this.log.push(name);
      this.counts[name] = (this.counts[name] ?? 0) + 1;
      await steps[name].call(this).catch((error) => this.fail(error));
      await this.check().catch((error) => this.fail(error));
    }
    for (const review of [...this.reviews]) await this.answer(review).catch((error) => this.fail(error));
  }

  fail(error) {
    throw new Error(`seed ${this.seed}, after ${this.log.join(", ")}: ${error.stack}`);
  }

  async open() {
    if (this.reviews.length === 2) return;
    const name = `s${this.seed}-${++this.made}.txt`;
    fs.writeFileSync(this.session.file(name), BASE);
    const agent = await this.scene.agent([edit(name, "two", "TWO"), { text: "Good." }]);
    this.reviews.push({ name, agent, text: PROPOSED });
    await this.front({ name });
  }

  async type() {
    const review = this.chance.pick(this.reviews);
    if (review === undefined) return;
    await this.front(review);
    const word = `w${this.seed}x${this.chance.below(1_000)} `;
    await this.scene.bench.typeAtEnd(word);
    review.text += word;
    await this.holds(review);
  }

  async reload() {
    const { pid } = await this.session.lock();
    await this.scene.bench.command("Developer: Reload Window");
    await this.session.backAfter(pid);
  }

  async killHost() {
    const { pid } = await this.session.lock();
    process.kill(pid, "SIGKILL");
    await this.session.backAfterKill(pid);
  }

  /** The typed text is offered; the file is as it was. */
  async killAgent() {
    const review = this.chance.pick(this.reviews);
    if (review === undefined) return;
    this.reviews = this.reviews.filter((each) => each !== review);
    process.kill(processOf(this.session.host.agentHome, review.agent.prompt), "SIGKILL");
    await until("its review to go", async () => (await this.text(review)) === undefined);
    this.unwritten(review);
    if (review.text === PROPOSED) return;
    const offer = this.session.page.locator(".notification-toast", { hasText: `no longer asks about ${review.name}` }).first();
    await offer.locator(".monaco-button", { hasText: "Copy" }).click();
    await until("the typed text", async () => (await this.session.probe("return vscode.env.clipboard.readText()")) === review.text);
  }

  /** Another window of the same folder comes and goes. */
  async other() {
    const known = this.session.host.locks().map(({ pid }) => pid);
    const bench = await this.scene.bench.another(this.session.host.url(this.session.folder));
    const find = () => this.session.host.locks().find(({ pid }) => !known.includes(pid));
    // Now and then this host opens a window without its folder, until it is loaded again.
    const lock = await until("the other window's lock", find, 30_000).catch(async () => {
      await bench.page.reload();
      return until("the other window's lock, after another try", find, 120_000);
    });
    await this.session.host.probeIn(lock.pid, `await vscode.commands.executeCommand("workbench.action.files.saveAll")`);
    await bench.page.close();
    this.session.host.killWindow(lock);
    this.scene.bench.others.splice(this.scene.bench.others.indexOf(bench), 1);
    this.session.host.makeNewest((await this.session.lock()).pid);
  }

  saveAll() {
    return this.session.probe(`await vscode.commands.executeCommand("workbench.action.files.saveAll"); await vscode.workspace.saveAll(true)`);
  }

  async check() {
    for (const review of this.reviews) {
      this.unwritten(review);
      await this.holds(review);
    }
  }

  unwritten({ name }) {
    assert.equal(this.session.read(name).toString(), BASE, `${name} is written only with a yes`);
  }

  /** The text of a review's tab. */
  text({ name }) {
    return this.session.probe(
      `const shown = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).map(({ input }) => input?.modified).find((uri) => uri !== undefined && args[0].endsWith(uri.path));
       return vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === shown?.toString())?.getText()`, this.session.file(name));
  }

  holds(review) {
    return until(`${JSON.stringify(review.text)} in the review of ${review.name}`, async () => (await this.text(review)) === review.text, 120_000);
  }

  async front({ name }) {
    await this.scene.bench.tab(name).first().click();
    await this.scene.bench.diffShown(name);
  }

  /** Every other review is accepted. */
  async answer(review) {
    const accepts = this.reviews.indexOf(review) % 2 === 0;
    this.log.push(accepts ? "accept" : "reject");
    await this.front(review);
    await this.scene.bench.press(accepts ? "Accept" : "Reject");
    await until("the review to go", async () => (await this.text(review)) === undefined);
    if (accepts) assert.match(await review.agent.told(1), /^Wrote|changed the proposal/);
    assert.equal(this.session.read(review.name).toString(), accepts ? review.text : BASE);
  }
}

describe("typing in reviews", () => {
  const at = stage({ files: { "README.md": "typing\n" }, settings: { "agent.diff.showAccepted": false } });

  const counts = {};
  for (let seed = SEED; seed < SEED + COUNT; seed++) {
    it(`seed ${seed}: a random sequence loses no character and writes none without a yes`, async (t) => {
      await new Typing(at.scene, seed, counts).run();
      t.diagnostic(JSON.stringify(counts));
    });
  }
});
