import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { Drafts } from "../../src/core/drafts";
import type { DraftFiles, KeptDraft } from "../../src/core/ports";
import type { Owner } from "../../src/core/review";
import { Reviews } from "../../src/core/reviews";
import { FakeEditor, request, settled, tempFolder } from "./fakes";

const PROPOSED = "one\nTWO\n";

class Disk implements DraftFiles {
  readonly files = new Map<string, KeptDraft>();
  load(): Promise<readonly KeptDraft[]> {
    return Promise.resolve([...this.files.values()]);
  }
  read(key: string): Promise<KeptDraft | undefined> {
    return Promise.resolve(this.files.get(key));
  }
  save(draft: KeptDraft): Promise<void> {
    this.files.set(draft.key, JSON.parse(JSON.stringify(draft)) as KeptDraft);
    return Promise.resolve();
  }
  remove(key: string): Promise<void> {
    this.files.delete(key);
    return Promise.resolve();
  }
  get texts(): string[] {
    return [...this.files.values()].map(({ text }) => text);
  }
}

const alive = new Set<number>();
let windows = 100;

/** A window with the drafts on the disk; its process is alive until it ends. */
async function window(disk: Disk) {
  const editor = new FakeEditor();
  const pid = ++windows;
  alive.add(pid);
  const linked = new Set<number>();
  const drafts = new Drafts({ clock: editor.clock, log: editor.ports.log, files: disk, pid, isAlive: (each) => alive.has(each), isLinked: (each) => linked.has(each) });
  const lost: KeptDraft[] = [];
  drafts.onLost = (draft) => void lost.push(draft);
  let ids = 0;
  const reviews = new Reviews(editor.ports, () => `w${pid}r${++ids}`, drafts);
  await drafts.load();
  return { editor, reviews, drafts, lost, linked, pid, end: () => alive.delete(pid) };
}

async function ask(t: TestContext, { reviews, editor }: Awaited<ReturnType<typeof window>>, file?: string, pid = 7, more: Partial<Owner> = {}) {
  const path = file ?? join(tempFolder(t), "f");
  if (file === undefined) writeFileSync(path, "one\ntwo\n");
  const owner = { id: Math.random(), name: "agent", pid, notify: () => undefined, ...more };
  const { answer } = reviews.ask(owner, request(path, PROPOSED, { diffId: "q1" }), "f");
  await settled();
  const id = reviews.list().at(-1)?.id ?? "";
  const type = (text: string): void => {
    editor.view.texts.set(id, text);
    reviews.edited(id, text);
    editor.clock.advance(50);
  };
  return { path, owner, answer, id, type };
}

describe("what a person typed", () => {
  it("is shown again in the next window, for the same question alone", async (t) => {
    const disk = new Disk();
    const first = await window(disk);
    alive.add(7);
    const { path, type } = await ask(t, first);
    type(`${PROPOSED}typed`);
    await settled();
    assert.deepEqual(disk.texts, [`${PROPOSED}typed`]);
    first.end();
    const next = await window(disk);
    const again = await ask(t, next, path);
    assert.equal(next.editor.view.shown.get(again.id)?.proposed, `${PROPOSED}typed`);
    assert.equal(next.reviews.get(again.id)?.edited, true);
    next.editor.clock.advance(60_000);
    await settled();
    assert.deepEqual([disk.texts, next.lost], [[`${PROPOSED}typed`], []]);
    next.reviews.accept(again.id, "button");
    await again.answer;
    await settled();
    assert.deepEqual(disk.texts, []);
  });

  it("is left when a program that cannot take it takes its question back", async (t) => {
    for (const [isGuest, taken, expected] of [[false, false, []], [true, true, []], [true, false, [`${PROPOSED}typed`]]] as const) {
      const disk = new Disk();
      const first = await window(disk);
      const { id, owner, type } = await ask(t, first, undefined, 7, { isGuest });
      type(`${PROPOSED}typed`);
      await settled();
      (first.reviews.find(id) ?? { taken }).taken = taken;
      await first.reviews.close(owner);
      await settled();
      assert.deepEqual(disk.texts, expected);
      first.linked.add(7);
      first.editor.clock.advance(60_000);
      assert.equal(first.lost.length, expected.length, "offered to the person");
    }
  });

  it("is nobody else's while its window is there, but goes with its client to another", async (t) => {
    for (const [client, expected] of [[8, PROPOSED], [7, `${PROPOSED}typed`]] as const) {
      const disk = new Disk();
      const first = await window(disk);
      const { path, type } = await ask(t, first);
      type(`${PROPOSED}typed`);
      await settled();
      const other = await window(disk);
      const { id } = await ask(t, other, path, client);
      assert.equal(other.editor.view.shown.get(id)?.proposed, expected);
      other.editor.clock.advance(60_000);
      assert.deepEqual(other.lost, []);
    }
  });

  it("is found after a crash by the name of its review, however little was told before", async (t) => {
    const disk = new Disk();
    const first = await window(disk);
    const { path, id } = await ask(t, first);
    first.end();
    const next = await window(disk);
    assert.deepEqual(next.drafts.unclaimed(), [], "nothing was typed");
    next.drafts.left(id, `${PROPOSED}typed`);
    const again = await ask(t, next, path);
    assert.equal(next.editor.view.shown.get(again.id)?.proposed, `${PROPOSED}typed`);
  });

  it("is not replaced by an older copy that the editor has kept", async (t) => {
    const disk = new Disk();
    const first = await window(disk);
    const { path, id, type } = await ask(t, first);
    for (const typed of ["f", "first", "first and", "first and last"]) type(`${PROPOSED}${typed}`);
    await settled();
    first.end();
    const next = await window(disk);
    next.drafts.left(id, `${PROPOSED}first`);
    const again = await ask(t, next, path);
    assert.equal(next.editor.view.shown.get(again.id)?.proposed, `${PROPOSED}first and last`);
  });

  it("survives an orderly end of the window", async (t) => {
    const disk = new Disk();
    const first = await window(disk);
    const { path, type } = await ask(t, first);
    type(`${PROPOSED}typed`);
    await first.reviews.dispose();
    first.end();
    assert.deepEqual([disk.texts, first.lost], [[`${PROPOSED}typed`], []]);
    const next = await window(disk);
    const { id } = await ask(t, next, path);
    assert.equal(next.editor.view.shown.get(id)?.proposed, `${PROPOSED}typed`);
  });

  it("is what the client says, if that has changed it since", async (t) => {
    const disk = new Disk();
    const first = await window(disk);
    const { path, type } = await ask(t, first);
    type(`${PROPOSED}typed`);
    await settled();
    first.end();
    const next = await window(disk);
    next.reviews.ask({ id: 2, notify: () => undefined }, request(path, PROPOSED, { diffId: "q1", draft: "in the terminal" }), "f");
    await settled();
    assert.equal([...next.editor.view.shown.values()][0]?.proposed, "in the terminal");
  });

  it("is offered once when its client's process has ended, or asks no more", async (t) => {
    for (const how of ["dead", "silent"]) {
      const disk = new Disk();
      const first = await window(disk);
      alive.add(8);
      const { type } = await ask(t, first, undefined, 8);
      type(`${PROPOSED}typed`);
      await settled();
      first.end();
      const next = await window(disk);
      next.editor.clock.advance(60_000);
      assert.deepEqual(next.lost, [], "its agent may come back");
      if (how === "dead") alive.delete(8);
      else next.linked.add(8);
      next.editor.clock.advance(2_000);
      assert.deepEqual(next.lost.map(({ text }) => text), [`${PROPOSED}typed`]);
      next.editor.clock.advance(60_000);
      assert.equal(next.lost.length, 1);
      await settled();
      assert.equal(next.drafts.unclaimed().length, 1, "the list has it");
    }
  });

  it("is offered when the connection is lost for good; an untouched edit is only named", async (t) => {
    const here = await window(new Disk());
    alive.add(9);
    const typed = await ask(t, here, undefined, 9);
    typed.type(`${PROPOSED}typed`);
    alive.delete(9);
    here.reviews.ownerGone(typed.owner);
    here.editor.clock.advance(0);
    assert.deepEqual([here.lost.map(({ text }) => text), here.reviews.list()], [[`${PROPOSED}typed`], []]);
    assert.deepEqual(here.editor.warnings, []);
    const plain = await ask(t, here, undefined, 9);
    here.reviews.ownerGone(plain.owner);
    here.editor.clock.advance(0);
    assert.deepEqual(here.editor.warnings, ["agent is gone: its edit of f was not written."]);
  });

  it("just before the review was answered is not kept for the next one", async (t) => {
    const disk = new Disk();
    const here = await window(disk);
    const { owner, id, answer } = await ask(t, here);
    here.editor.view.closing = "hangs";
    here.reviews.edited(id, `${PROPOSED}typed`);
    void here.reviews.close(owner);
    await answer;
    here.editor.clock.advance(60_000);
    await settled();
    assert.deepEqual(disk.texts, []);
  });

  it("and was accepted is offered if nobody comes back to hear it", async (t) => {
    for (const comesBack of [true, false]) {
      const here = await window(new Disk());
      alive.add(10);
      const { owner, id, path } = await ask(t, here, undefined, 10);
      here.reviews.ownerGone(owner);
      here.reviews.accept(id, "button");
      if (comesBack) here.reviews.ask({ ...owner, id: 77 }, request(path, PROPOSED, { diffId: "q1" }), "f");
      here.editor.clock.advance(10_000);
      assert.deepEqual(here.lost.map(({ accepted, text }) => [accepted, text]), comesBack ? [] : [[true, PROPOSED]]);
    }
  });
});
