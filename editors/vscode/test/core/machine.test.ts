import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { initial, isLive, step } from "../../src/core/machine";
import type { Effect, Event, Machine, Outcome, ReviewState } from "../../src/core/machine";
import { Chance } from "./fakes";

const states: readonly ReviewState[] = ["queued", "preparing", "shown", "hidden", "resolving", "done"];
const live: readonly ReviewState[] = ["queued", "preparing", "shown", "hidden"];
const onScreen: readonly ReviewState[] = ["shown", "hidden"];

interface Row {
  readonly name: string;
  readonly event: Event;
  /** The states in which the event has an effect; in all others it has none. */
  readonly from: readonly ReviewState[];
  readonly to: ReviewState | "same";
  readonly effects: readonly Effect[];
  readonly outcome?: Outcome;
  readonly given?: Partial<Machine>;
  readonly then?: Partial<Machine>;
}

const end: readonly Effect[] = ["answer", "close"];

const rows: readonly Row[] = [
  { name: "lock granted", event: { type: "granted" }, from: ["queued"], to: "preparing", effects: ["prepare"] },
  { name: "cannot be reviewed", event: { type: "refused" }, from: live, to: "resolving", effects: end, outcome: { kind: "failed", reason: "refused" } },
  { name: "shown on demand", event: { type: "deferred" }, from: ["preparing"], to: "hidden", effects: [] },
  { name: "open failed or too late", event: { type: "openFailed" }, from: ["preparing", "hidden"], to: "hidden", effects: ["warnHidden"] },
  { name: "accept by the key that saves", event: { type: "accept", by: "save" }, from: onScreen, to: "resolving", effects: end, outcome: { kind: "accepted", reason: "save" } },
  { name: "accept by the key that saves, stale", event: { type: "accept", by: "save" }, given: { stale: true }, from: onScreen, to: "same", effects: ["askStale"], then: { asking: "save" } },
  { name: "accept by the key that saves, held", event: { type: "accept", by: "save" }, given: { held: true }, from: [], to: "same", effects: [] },
  { name: "accept by button", event: { type: "accept", by: "button" }, from: onScreen, to: "resolving", effects: end, outcome: { kind: "accepted", reason: "button" } },
  { name: "accept by command", event: { type: "accept", by: "command" }, from: onScreen, to: "resolving", effects: end, outcome: { kind: "accepted", reason: "command" } },
  { name: "accept, stale: asked once", event: { type: "accept", by: "button" }, given: { stale: true }, from: onScreen, to: "same", effects: ["askStale"], then: { asking: "button" } },
  { name: "accept while asked", event: { type: "accept", by: "button" }, given: { stale: true, asking: "button" }, from: [], to: "same", effects: [] },
  { name: "accept, held", event: { type: "accept", by: "button" }, given: { held: true }, from: [], to: "same", effects: [] },
  { name: "accept of what the editor writes: it looks first", event: { type: "accept", by: "button" }, given: { looks: true, stale: true }, from: onScreen, to: "same", effects: ["lookAgain"], then: { asking: "button" } },
  { name: "save of what the editor writes: it looks first", event: { type: "accept", by: "save" }, given: { looks: true }, from: onScreen, to: "same", effects: ["lookAgain"], then: { asking: "save" } },
  { name: "looked, the same", event: { type: "looked" }, given: { looks: true, asking: "command" }, from: onScreen, to: "resolving", effects: end, outcome: { kind: "accepted", reason: "command" } },
  { name: "looked, stale: asked once", event: { type: "looked" }, given: { looks: true, asking: "command", stale: true }, from: onScreen, to: "same", effects: ["askStale"], then: { asking: "command" } },
  { name: "looked for nothing", event: { type: "looked" }, from: [], to: "same", effects: [] },
  { name: "yes to stale", event: { type: "staleAnswered", yes: true }, given: { stale: true, asking: "command" }, from: onScreen, to: "resolving", effects: end, outcome: { kind: "accepted", reason: "command" } },
  { name: "no to stale", event: { type: "staleAnswered", yes: false }, given: { stale: true, asking: "command" }, from: onScreen, to: "same", effects: [], then: { asking: undefined } },
  { name: "yes to nothing", event: { type: "staleAnswered", yes: true }, from: [], to: "same", effects: [] },
  { name: "reject by button", event: { type: "reject", by: "button" }, from: onScreen, to: "resolving", effects: end, outcome: { kind: "rejected", reason: "button" } },
  { name: "reject by command", event: { type: "reject", by: "command" }, from: onScreen, to: "resolving", effects: end, outcome: { kind: "rejected", reason: "command" } },
  { name: "reject, held", event: { type: "reject", by: "button" }, given: { held: true }, from: [], to: "same", effects: [] },
  { name: "accept in the terminal", event: { type: "accept", by: "terminal" }, from: live, to: "resolving", effects: end, outcome: { kind: "accepted", reason: "terminal" } },
  { name: "accept in the terminal, held and stale", event: { type: "accept", by: "terminal" }, given: { held: true, stale: true }, from: live, to: "resolving", effects: end, outcome: { kind: "accepted", reason: "terminal" } },
  { name: "reject in the terminal", event: { type: "reject", by: "terminal" }, from: live, to: "resolving", effects: end, outcome: { kind: "rejected", reason: "terminal" } },
  { name: "last tab closed: a rejection", event: { type: "tabsClosed", policy: "reject" }, from: ["shown"], to: "resolving", effects: end, outcome: { kind: "rejected", reason: "tab_closed" } },
  { name: "last tab closed: kept", event: { type: "tabsClosed", policy: "keep" }, from: ["shown"], to: "hidden", effects: [] },
  { name: "last tab closed, held: kept", event: { type: "tabsClosed", policy: "reject" }, given: { held: true }, from: ["shown"], to: "hidden", effects: [] },
  { name: "closed by the client", event: { type: "closedByClient" }, from: live, to: "resolving", effects: end, outcome: { kind: "closed", reason: "closed_by_client" } },
  { name: "request cancelled", event: { type: "cancelled" }, from: live, to: "resolving", effects: end, outcome: { kind: "silent", reason: "cancelled" } },
  { name: "superseded", event: { type: "superseded" }, from: live, to: "resolving", effects: end, outcome: { kind: "rejected", reason: "superseded" } },
  { name: "changed on disk", event: { type: "baseChanged" }, from: live, to: "same", effects: ["update"], then: { stale: true } },
  { name: "changed on disk again", event: { type: "baseChanged" }, given: { stale: true }, from: [], to: "same", effects: [] },
  { name: "held", event: { type: "hold" }, given: { asking: "button" }, from: live, to: "same", effects: ["update"], then: { held: true, asking: undefined } },
  { name: "released", event: { type: "release" }, given: { held: true }, from: live, to: "same", effects: ["update"], then: { held: false } },
  { name: "client gone", event: { type: "ownerGone" }, from: live, to: "same", effects: ["startGrace"], then: { orphaned: true } },
  { name: "client gone twice", event: { type: "ownerGone" }, given: { orphaned: true }, from: [], to: "same", effects: [] },
  { name: "client back", event: { type: "adopted" }, given: { orphaned: true, held: true }, from: live, to: "same", effects: ["stopGrace", "update"], then: { orphaned: false, held: false } },
  { name: "client back that was not gone", event: { type: "adopted" }, from: [], to: "same", effects: [] },
  { name: "client not back", event: { type: "graceOver" }, given: { orphaned: true }, from: live, to: "resolving", effects: ["stopGrace", ...end], outcome: { kind: "silent", reason: "client_gone" } },
  { name: "grace over though the client is there", event: { type: "graceOver" }, from: [], to: "same", effects: [] },
  { name: "accept while the client is gone", event: { type: "accept", by: "button" }, given: { orphaned: true }, from: onScreen, to: "resolving", effects: ["stopGrace", ...end], outcome: { kind: "accepted", reason: "button" } },
  { name: "window goes away", event: { type: "aborted" }, from: live, to: "resolving", effects: end, outcome: { kind: "aborted", reason: "aborted" } },
  { name: "time is up", event: { type: "timeout" }, from: live, to: "resolving", effects: end, outcome: { kind: "rejected", reason: "timeout" } },
  { name: "closed", event: { type: "settled" }, from: ["resolving"], to: "done", effects: ["release"] },
];

describe("each row, in each state", () => {
  for (const row of rows) {
    for (const state of states) {
      const expected = row.from.includes(state);
      it(`${row.name}, ${state}: ${expected ? row.to : "nothing"}`, () => {
        const before: Machine = { ...initial, ...row.given, state };
        const [after, effects] = step(before, row.event);
        if (!expected) {
          assert.deepEqual([after, effects], [before, []]);
          return;
        }
        assert.equal(after.state, row.to === "same" ? state : row.to);
        assert.deepEqual(effects, row.effects);
        assert.deepEqual(after.outcome, row.outcome);
        for (const [key, value] of Object.entries(row.then ?? {})) assert.equal(after[key as keyof Machine], value, key);
      });
    }
  }

  const opened: [ReviewState, ReviewState, Effect[]][] = [
    ["queued", "queued", []],
    ["preparing", "shown", []],
    ["shown", "shown", []],
    ["hidden", "shown", []],
    ["resolving", "resolving", ["closeLate"]],
    ["done", "done", ["closeLate"]],
  ];
  for (const [from, to, effects] of opened) {
    it(`tab opened, ${from}: ${to} ${effects.join()}`, () => {
      assert.deepEqual(step({ ...initial, state: from }, { type: "tabOpened" }), [{ ...initial, state: to }, effects]);
    });
  }
});

describe("any sequence of events", () => {
  it("answers once, before it closes, and never changes its outcome", () => {
    const chance = new Chance(11);
    const events = [...rows.map((row) => row.event), { type: "tabOpened" } as const];
    let ended = 0;
    for (let i = 0; i < 20_000; i++) {
      let m = initial;
      const done: Effect[] = [];
      let first: Outcome | undefined;
      for (let j = 0; j < 12; j++) {
        const [next, effects] = step(m, chance.pick(events));
        assert.ok(isLive(m) || !isLive(next), "the dead do not rise");
        assert.equal(next.outcome === undefined, isLive(next));
        first ??= next.outcome;
        assert.equal(next.outcome, first);
        done.push(...effects);
        m = next;
      }
      const answers = done.filter((effect) => effect === "answer").length;
      assert.equal(answers, isLive(m) ? 0 : 1);
      if (answers === 1) {
        ended++;
        assert.equal(done[done.indexOf("answer") + 1], "close");
      }
    }
    assert.ok(ended > 10_000);
  });
});
