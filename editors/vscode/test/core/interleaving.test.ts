// Random interleavings of everything that may happen to reviews: persons,
// clients, the disk, the clock and an editor that is late or fails.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import type { Cancel } from "../../src/core/ports";
import type { Answer, Owner } from "../../src/core/review";
import { Reviews } from "../../src/core/reviews";
import { Chance, FakeEditor, request, tempFolder } from "./fakes";

const steps = 100_000;
const files = ["a", "b", "c"];

interface Asked {
  readonly call: number;
  readonly diffId: string;
  readonly proposal: string;
  readonly answers: Answer[];
  readonly cancel: Cancel;
  owner: Lost;
  cancelled: boolean;
}

class Lost implements Owner {
  lost = false;
  constructor(readonly id: number) {}
  notify(): void {
    assert.equal(this.lost, false, "a lost client is told nothing");
  }
}

class World {
  readonly editor = new FakeEditor();
  readonly reviews: Reviews;
  readonly asked: Asked[] = [];
  clients: Lost[] = [];
  /** The outcomes that reviews came to, by review. */
  readonly outcomes = new Map<string, number>();
  private ids = 0;
  private lastClient = 0;
  readonly counts = { accepted: 0, rejected: 0, closed: 0, aborted: 0, silent: 0, adopted: 0, lost: 0, late: 0 };

  constructor(
    readonly folder: string,
    readonly chance: Chance,
  ) {
    this.reviews = new Reviews(this.editor.ports, () => `r${++this.ids}`);
    this.reviews.onChange(({ id, state }) => {
      if (state === "resolving") this.outcomes.set(id, (this.outcomes.get(id) ?? 0) + 1);
    });
    this.connect();
  }

  connect(): Lost {
    const client = new Lost(++this.lastClient);
    this.clients.push(client);
    return client;
  }

  ask(owner: Lost, diffId: string, file: string, proposal: string): void {
    const { chance } = this;
    const path = join(this.folder, file);
    const more = {
      diffId,
      stack: chance.below(4) === 0,
      onClose: chance.pick(["keep", "reject"] as const),
      timeoutMs: chance.below(6) === 0 ? 500 : undefined,
    };
    const { answer, cancel } = this.reviews.ask(owner, request(path, proposal, more), file);
    const asked: Asked = { call: this.asked.length, diffId, proposal, answers: [], cancel, owner, cancelled: false };
    this.asked.push(asked);
    void answer.then((given) => {
      asked.answers.push(given);
      this.count(asked, given);
    });
  }

  private count(asked: Asked, given: Answer): void {
    assert.equal(asked.answers.length, 1, `call ${asked.call} was answered twice`);
    if (typeof given === "string") {
      this.counts[given]++;
      assert.ok(given !== "silent" || asked.cancelled, "only the cancelled hear nothing");
      return;
    }
    if (given.isError === true) return;
    const [kind, text] = given.content.map((item) => item.text);
    if (kind === "FILE_SAVED") {
      this.counts.accepted++;
      assert.ok(text === asked.proposal || text?.startsWith("draft"), "what was proposed or typed");
    } else if (kind === "DIFF_REJECTED") this.counts.rejected++;
    else this.counts.closed++;
  }

  anyReview(): string {
    return `r${Math.max(1, this.ids - this.chance.below(8))}`;
  }

  anyCall(): Asked | undefined {
    return this.asked.at(-1 - this.chance.below(Math.min(8, this.asked.length || 1)));
  }

  /** One thing happens. */
  step(): void {
    const { chance, editor, reviews } = this;
    const id = this.anyReview();
    const call = this.anyCall();
    const client = chance.pick(this.clients);
    const actions: (() => void)[] = [
      () => this.ask(client, `q${this.asked.length}`, chance.pick(files), `text ${this.asked.length}\n`),
      () => this.ask(client, `q${this.asked.length}`, chance.pick(files), `text ${this.asked.length}\n`),
      () => reviews.accept(id, "button"),
      () => reviews.reject(id, "command", "no"),
      () => this.type(id),
      () => reviews.accept(id, "save"),
      () => this.closeTab(id),
      () => reviews.tabsChanged(id),
      () => reviews.show(id),
      () => call !== undefined && this.cancel(call),
      () => call !== undefined && void reviews.resolve(call.owner, call.diffId, chance.pick(["accept", "reject"])),
      () => call !== undefined && void reviews.claim(call.owner, call.diffId, chance.pick(["hold", "release"])),
      () => call !== undefined && void reviews.close(call.owner, chance.below(2) === 0 ? undefined : "nothing"),
      () => this.lose(client),
      () => call !== undefined && this.comeBack(call),
      () => editor.clock.advance(chance.pick([10, 50, 100, 600, 3_000])),
      () => this.touch(),
      () => editor.view.staleAnswers.shift()?.(chance.below(2) === 0),
      () => (editor.view.opening = chance.pick(["works", "works", "fails", "hangs"])),
      () => (editor.view.closing = chance.pick(["works", "works", "works", "hangs"])),
      () => this.lateTab(id),
    ];
    chance.pick(actions)();
  }

  private type(id: string): void {
    this.editor.view.texts.set(id, `draft ${this.asked.length}\n`);
    this.reviews.edited(id, `draft ${this.asked.length}\n`);
  }

  private closeTab(id: string): void {
    this.editor.view.count.set(id, 0);
    this.reviews.tabsChanged(id);
  }

  private lateTab(id: string): void {
    this.editor.view.count.set(id, 1);
    this.reviews.tabsChanged(id);
    this.counts.late++;
  }

  private cancel(call: Asked): void {
    call.cancelled = true;
    call.cancel();
  }

  private lose(client: Lost): void {
    if (this.clients.length < 2) this.connect();
    client.lost = true;
    this.clients = this.clients.filter((each) => each !== client);
    this.reviews.ownerGone(client);
    this.counts.lost++;
  }

  private comeBack(call: Asked): void {
    if (!call.owner.lost) return;
    const file = chance(this).pick(files);
    this.counts.adopted++;
    this.ask(this.connect(), call.diffId, file, call.proposal);
  }

  private touch(): void {
    const file = join(this.folder, this.chance.pick(files));
    writeFileSync(file, `disk ${this.asked.length}\n`);
    this.editor.documents.watchers.get(file)?.();
  }
}

function chance(world: World): Chance {
  return world.chance;
}

it(`${steps} random steps: one outcome for each review, one answer for each call`, async (t) => {
  const seed = Number(process.env["SEED"] ?? 20_261_120);
  const folder = tempFolder(t);
  for (const file of files) writeFileSync(join(folder, file), "disk\n");
  const world = new World(folder, new Chance(seed));
  for (let i = 0; i < steps; i++) {
    world.step();
    if (world.chance.below(4) === 0) await new Promise((done) => setImmediate(done));
  }
  world.editor.view.closing = "works";
  for (const client of [...world.clients]) world.reviews.ownerGone(client);
  for (let i = 0; i < 70; i++) { // a verdict is kept for a minute
    await new Promise((done) => setImmediate(done));
    world.editor.clock.advance(1_000);
  }
  assert.deepEqual(world.reviews.list(), []);
  assert.equal(world.editor.clock.waiting, 0, "no timer is left");
  assert.equal(world.editor.documents.watchers.size, 0, "no watcher is left");
  for (const [id, n] of world.outcomes) assert.equal(n, 1, `${id} has ${n} outcomes`);
  for (const { owner, answers, call, cancelled } of world.asked) {
    if (!owner.lost && !cancelled && !world.clients.includes(owner)) assert.equal(answers.length, 1, `call ${call}`);
  }
  for (const [name, n] of Object.entries(world.counts)) assert.ok(n > 20, `${name} happened ${n} times only`);
  t.diagnostic(`seed ${seed}, ${world.asked.length} calls, ${world.outcomes.size} reviews, ${JSON.stringify(world.counts)}`);
});
