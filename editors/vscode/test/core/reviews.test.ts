import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ReviewRequest } from "../../src/core/review";
import type { ReviewInfo } from "../../src/core/reviews";
import { sha256 } from "../../src/core/text";
import { request, settled } from "./fakes";
import { Client, details, items, window } from "./window";

describe("a person's answer", () => {
  it("accepts exactly what was proposed", async (t) => {
    const { editor, reviews, answers, ask, file } = window(t);
    ask("a");
    await settled();
    const [review] = reviews.list();
    assert.equal(review?.state, "shown");
    assert.equal(review.title, "f ← The program that asked");
    assert.deepEqual(editor.view.shown.get("r1"), {
      id: "r1", path: file, oldPath: file, title: "f ← The program that asked", original: "one\ntwo\n", proposed: "one\nTWO\n", encoding: "utf8", background: false, inline: false, canInline: true, oneSided: false, isPlan: false, fixed: false, held: false, effect: "", description: "", asks: "", place: "", notes: [],
      check: undefined, refused: undefined, offer: undefined,
    });
    editor.clock.advance(1234);
    reviews.accept("r1", "button");
    await settled();
    assert.deepEqual(items(answers["a"]?.[0]).slice(0, 2), ["FILE_SAVED", "one\nTWO\n"]);
    assert.deepEqual(details(answers["a"]?.[0]), {
      v: 1, diffId: "r1", outcome: "accepted", reason: "button", userEdited: false,
      finalSha256: sha256("one\nTWO\n"), baseSha256: sha256("one\ntwo\n"),
      file: { eol: "lf", encoding: "utf8", bom: false, finalNewline: true, existed: true },
      stale: false, written: false, comments: [], durationMs: 1234,
    });
    assert.equal(editor.view.tabs("r1"), 0);
    assert.deepEqual(reviews.list(), []);
  });

  it("tells what was changed by hand, and the remarks", async (t) => {
    const { editor, reviews, answers, ask } = window(t);
    ask("a");
    await settled();
    const remark = { side: "modified", startLine: 1, endLine: 1, quote: "one", text: "why?" } as const;
    editor.view.remarks.set("r1", [remark]);
    editor.view.texts.set("r1", "one\n2\n");
    reviews.accept("r1", "command");
    await settled();
    assert.equal(items(answers["a"]?.[0])[1], "one\n2\n");
    const told = details(answers["a"]?.[0]);
    assert.equal(told.userEdited, true);
    assert.equal(told.patch, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-TWO\n+2\n");
    assert.deepEqual(told.stats, { added: 1, removed: 1 });
    assert.deepEqual(told.comments, [remark]);
  });

  it("rejects, with words", async (t) => {
    const { reviews, answers, ask } = window(t);
    ask("a", { tabName: "the tab" });
    await settled();
    reviews.reject("r1", "button", "keep the name");
    await settled();
    assert.deepEqual(items(answers["a"]?.[0]).slice(0, 2), ["DIFF_REJECTED", "the tab"]);
    const told = details(answers["a"]?.[0]);
    assert.deepEqual([told.outcome, told.reason, told.feedback], ["rejected", "button", "keep the name"]);
  });

  it("is given before the screen is touched", async (t) => {
    const { editor, reviews, answers, ask } = window(t);
    ask("a");
    await settled();
    editor.view.closing = "hangs";
    reviews.accept("r1", "button");
    await settled();
    assert.equal(answers["a"]?.length, 1);
    assert.equal(reviews.get("r1")?.state, "resolving");
    editor.clock.advance(5_000);
    await settled();
    assert.equal(reviews.get("r1")?.state, "done");
  });

  it("counts once, however often it is given", async (t) => {
    const { reviews, answers, ask } = window(t);
    ask("a");
    await settled();
    reviews.accept("r1", "button");
    reviews.reject("r1", "command");
    reviews.accept("r1", "command");
    await settled();
    reviews.reject("r1", "button");
    await settled();
    assert.equal(answers["a"]?.length, 1);
    assert.equal(details(answers["a"][0]).reason, "button");
  });
});

describe("closing the tab", () => {
  const cases: { name: string; onClose: "reject" | "keep"; setting: "auto" | "reject" | "keep"; answered: boolean }[] = [
    { name: "rejects if the client says so", onClose: "reject", setting: "auto", answered: true },
    { name: "is no answer if the client says so", onClose: "keep", setting: "auto", answered: false },
    { name: "rejects if the setting says so", onClose: "keep", setting: "reject", answered: true },
    { name: "is no answer if the setting says so", onClose: "reject", setting: "keep", answered: false },
  ];
  for (const { name, onClose, setting, answered } of cases) {
    it(name, async (t) => {
      const { editor, reviews, answers, ask } = window(t);
      editor.settings.onTabClose = setting;
      ask("a", { onClose });
      await settled();
      editor.view.count.set("r1", 0);
      reviews.tabsChanged("r1");
      assert.equal(reviews.get("r1")?.state, "shown");
      editor.clock.advance(50);
      await settled();
      assert.equal(answers["a"]?.map(details)[0]?.reason, answered ? "tab_closed" : undefined);
      assert.equal(reviews.get("r1")?.state, answered ? "done" : "hidden");
    });
  }

  it("and opening it in another group is no closing", async (t) => {
    const { editor, reviews, answers, ask } = window(t);
    ask("a");
    await settled();
    for (const tabs of [2, 1, 0, 1]) {
      editor.view.count.set("r1", tabs);
      reviews.tabsChanged("r1");
    }
    editor.clock.advance(1_000);
    await settled();
    assert.equal(answers["a"]?.length, 0);
    assert.equal(reviews.get("r1")?.state, "shown");
  });

  it("and showing it again keeps the draft", async (t) => {
    const { editor, reviews, ask } = window(t);
    ask("a", { onClose: "keep" });
    await settled();
    reviews.edited("r1", "draft\n");
    editor.view.texts.delete("r1");
    editor.view.count.set("r1", 0);
    reviews.tabsChanged("r1");
    editor.clock.advance(50);
    reviews.show("r1");
    await settled();
    assert.equal(reviews.get("r1")?.state, "shown");
    assert.equal(editor.view.shown.get("r1")?.proposed, "draft\n");
  });
});

describe("what cannot be reviewed", () => {
  const refusals: { name: string; code: string; arrange?: (w: ReturnType<typeof window>) => void; what?: Partial<ReviewRequest> }[] = [
    { name: "a proposal for another text", code: "STALE_BASE", what: { baseSha256: sha256("other") } },
    { name: "a binary file", code: "BINARY_FILE", arrange: ({ file }) => writeFileSync(file, "a\0b") },
    {
      name: "a file with unsaved changes", code: "DIRTY_DOCUMENT", what: { baseSha256: sha256("one\ntwo\n") },
      arrange: ({ file, editor }) => editor.documents.buffers.set(file, { text: "unsaved", isDirty: true, isUntitled: false }),
    },
    {
      name: "the same without knowing the base", code: "DIRTY_DOCUMENT",
      arrange: ({ file, editor }) => editor.documents.buffers.set(file, { text: "unsaved", isDirty: true, isUntitled: false }),
    },
  ];
  for (const { name, code, arrange, what } of refusals) {
    it(name, async (t) => {
      const w = window(t);
      arrange?.(w);
      w.ask("a", what);
      await settled();
      const answer = w.answers["a"]?.[0];
      assert.ok(typeof answer === "object" && answer.isError === true);
      assert.match(answer.content[0]?.text ?? "", new RegExp(`^${code}: `));
      assert.equal((answer.structuredContent as { code: string }).code, code);
      assert.equal(w.editor.view.shown.size, 0);
    });
  }

  const bases: { name: string; base: string; disk: string; buffer?: string }[] = [
    { name: "its bytes", base: sha256("\ufeffa\r\nb"), disk: "\ufeffa\r\nb" },
    { name: "its text", base: sha256("a\r\nb"), disk: "\ufeffa\r\nb" },
    { name: "its text with one kind of line ending", base: sha256("a\nb"), disk: "a\r\nb" },
    { name: "the unsaved buffer", base: sha256("unsaved\n"), disk: "x", buffer: "unsaved\r\n" },
  ];
  for (const { name, base, disk, buffer } of bases) {
    it(`is not a proposal made from ${name}`, async (t) => {
      const { editor, file, reviews, ask } = window(t);
      writeFileSync(file, disk);
      if (buffer !== undefined) editor.documents.buffers.set(file, { text: buffer, isDirty: true, isUntitled: false });
      ask("a", { baseSha256: base });
      await settled();
      assert.equal(reviews.get("r1")?.state, "shown");
      assert.equal(editor.view.shown.get("r1")?.original, buffer ?? disk.replace("\ufeff", ""));
    });
  }
});

describe("a file that changes on disk meanwhile", () => {
  it("is accepted only after a second yes", async (t) => {
    const { editor, reviews, answers, ask, file } = window(t);
    ask("a");
    await settled();
    editor.documents.watchers.get(file)?.();
    await settled();
    assert.equal(reviews.get("r1")?.stale, false, "touched but the same");
    writeFileSync(file, "other\n");
    editor.documents.watchers.get(file)?.();
    await settled();
    assert.equal(editor.view.titles.get("r1"), "f ← The program that asked (⚠ changed on disk)");
    reviews.accept("r1", "button");
    editor.view.staleAnswers.shift()?.(false);
    await settled();
    assert.equal(answers["a"]?.length, 0);
    reviews.accept("r1", "button");
    editor.view.staleAnswers.shift()?.(true);
    await settled();
    assert.deepEqual([details(answers["a"]?.[0]).stale, details(answers["a"]?.[0]).reason], [true, "button"]);
    assert.equal(editor.documents.watchers.size, 0);
  });
});

describe("the client", () => {
  it("closes its own reviews by name, when they are gone from the screen", async (t) => {
    const { editor, reviews, client, answers, ask } = window(t);
    ask("a", { tabName: "tab" });
    await settled();
    assert.equal(await reviews.close(new Client(2), "tab"), 0);
    editor.view.closing = "hangs";
    let closed = -1;
    const closing = reviews.close(client, "tab").then((n) => (closed = n));
    await settled();
    assert.equal(closed, -1);
    assert.deepEqual(items(answers["a"]?.[0])[0], "TAB_CLOSED");
    assert.deepEqual([details(answers["a"]?.[0]).outcome, details(answers["a"]?.[0]).reason], ["closed", "closed_by_client"]);
    editor.clock.advance(5_000);
    await closing;
    assert.equal(closed, 1);
    assert.equal(await reviews.close(client, "tab"), 0);
  });

  it("closes all of its own and nobody else's", async (t) => {
    const { folder, reviews, client, ask } = window(t);
    const file = (name: string): Partial<ReviewRequest> => ({ path: join(folder, name), oldPath: join(folder, name) });
    ask("a", file("a"));
    ask("b", file("b"));
    ask("c", file("c"), new Client(2));
    await settled();
    assert.equal(await reviews.close(client), 2);
    assert.deepEqual(reviews.list().map(({ path }) => path), [join(folder, "c")]);
  });

  it("takes the draft with its answer from the terminal", async (t) => {
    const { editor, reviews, client, answers, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    editor.view.texts.set("r1", "typed\n");
    assert.equal(reviews.resolve(new Client(2), "q1", "accept"), undefined);
    const told = reviews.resolve(client, "q1", "accept")?.told;
    assert.deepEqual([told?.text, told?.reason, told?.userEdited], ["typed\n", "terminal", true]);
    await settled();
    assert.equal(details(answers["a"]?.[0]).reason, "terminal");
    assert.equal(reviews.resolve(client, "q1", "reject")?.told.outcome, "accepted", "the first answer stays");
    assert.equal(reviews.resolve(client, "q2", "accept"), undefined);
  });

  it("may take the draft before the diff is shown", async (t) => {
    const { editor, reviews, client, answers, ask } = window(t);
    let open = (): void => undefined;
    editor.documents.gate = new Promise((done) => (open = done));
    ask("a", { diffId: "q1" });
    assert.equal(reviews.resolve(client, "q1", "accept")?.told.text, "one\nTWO\n");
    open();
    await settled();
    assert.equal(answers["a"]?.length, 1);
    assert.equal(editor.view.shown.size, 0);
  });

  it("holds the diff while the draft is edited elsewhere", async (t) => {
    const { editor, reviews, client, answers, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    assert.equal(reviews.claim(client, "q1", "hold"), true);
    assert.equal(editor.view.titles.get("r1"), "f ← The program that asked (being edited in the terminal)");
    assert.equal(editor.view.readonly.has("r1"), true);
    reviews.accept("r1", "button");
    reviews.reject("r1", "button");
    await settled();
    assert.equal(answers["a"]?.length, 0);
    assert.equal(reviews.claim(client, "q1", "release"), true);
    reviews.accept("r1", "button");
    await settled();
    assert.equal(answers["a"]?.length, 1);
    assert.equal(reviews.claim(client, "q1", "hold"), false);
  });

  it("hears of edits, at most ten times in a second", async (t) => {
    const { editor, reviews, client, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    editor.clock.advance(100);
    client.heard.length = 0;
    for (const text of ["one\nTWO\nx", "one\nTWO\nxy", "one\nTWO\nxyz\n"]) reviews.edited("r1", text);
    editor.clock.advance(100);
    const params = { diffId: "q1", state: "shown", edited: true, added: 1, removed: 0 };
    assert.deepEqual(client.heard, [{ method: "diff_changed", params }]);
    reviews.edited("r1", "one\r\nTWO\r\n");
    editor.clock.advance(100);
    assert.equal(client.heard[1]?.params["edited"], false, "line endings are no edit");
  });

  it("hears of a draft while the person goes on typing", async (t) => {
    const { editor, reviews, client, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    for (let i = 0; i < 20; i++) {
      reviews.edited("r1", "x".repeat(i));
      editor.clock.advance(50);
    }
    assert.ok(client.heard.length >= 9, `heard ${client.heard.length} times in a second`);
  });

  it("can cancel its request, and hears nothing", async (t) => {
    const { editor, reviews, answers, ask } = window(t);
    const { cancel } = ask("a");
    await settled();
    cancel();
    await settled();
    assert.deepEqual(answers["a"], ["silent"]);
    assert.equal(editor.view.tabs("r1"), 0);
    assert.deepEqual(reviews.list(), []);
  });

  it("gets no decision when the time is up", async (t) => {
    const { editor, answers, ask } = window(t);
    ask("a", { timeoutMs: 1_000 });
    await settled();
    editor.clock.advance(1_000);
    await settled();
    assert.deepEqual([details(answers["a"]?.[0]).outcome, details(answers["a"]?.[0]).reason], ["rejected", "timeout"]);
  });
});

describe("a lost client", () => {
  it("that does not come back: its diffs close after three seconds", async (t) => {
    const { editor, reviews, client, answers, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    reviews.ownerGone(client);
    editor.clock.advance(2_999);
    assert.equal(reviews.list().length, 1);
    editor.clock.advance(1);
    await settled();
    assert.deepEqual([reviews.list().length, editor.view.tabs("r1"), answers["a"]], [0, 0, []]);
  });

  it("that comes back goes on with the same diff and draft", async (t) => {
    const { editor, reviews, client, answers, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    reviews.edited("r1", "draft\n");
    editor.view.texts.set("r1", "draft\n");
    reviews.ownerGone(client);
    editor.clock.advance(2_000);
    const back = new Client(2);
    ask("again", { diffId: "q1" }, back);
    editor.clock.advance(10_000);
    assert.deepEqual(reviews.list().map(({ id }) => id), ["r1"]);
    assert.equal(back.heard.at(-1)?.params["edited"], true, "it hears of the draft");
    reviews.accept("r1", "button");
    await settled();
    assert.equal(items(answers["again"]?.[0])[1], "draft\n");
    assert.deepEqual(answers["a"], []);
  });

  it("gets the answer that was given while it was away", async (t) => {
    const { reviews, client, answers, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    reviews.ownerGone(client);
    reviews.accept("r1", "button");
    await settled();
    ask("again", { diffId: "q1" }, new Client(2));
    await settled();
    assert.deepEqual(items(answers["again"]?.[0]).slice(0, 2), ["FILE_SAVED", "one\nTWO\n"]);
    assert.deepEqual(answers["a"], []);
  });

  it("whose connection is not known to be dead is answered once, at the new one", async (t) => {
    const { reviews, answers, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    ask("again", { diffId: "q1" }, new Client(2));
    await settled();
    assert.deepEqual(answers["a"], ["aborted"]);
    reviews.accept("r1", "button");
    await settled();
    assert.equal(answers["again"]?.length, 1);
    assert.equal(answers["a"].length, 1);
  });

  it("whose question comes after its end begins no review, and takes none over", async (t) => {
    const { reviews, client, answers, ask } = window(t);
    reviews.ownerGone(client);
    const back = new Client(2);
    ask("again", { diffId: "q1" }, back);
    ask("late", { diffId: "q1" });
    ask("late", { diffId: "q2" });
    await settled();
    assert.deepEqual([answers["late"], answers["again"]], [["silent", "silent"], []]);
    assert.deepEqual([reviews.list().length, reviews.ownedBy(back).length], [1, 1]);
  });

  it("with another text under the same id asks anew", async (t) => {
    const { reviews, client, answers, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    reviews.accept("r1", "button");
    ask("b", { diffId: "q1", proposal: "other\n" });
    await settled();
    assert.equal(answers["b"]?.length, 0);
    assert.equal(reviews.ownedBy(client).length, 1);
  });

  it("is asked anew by the connection that has had its answer", async (t) => {
    const { reviews, answers, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    reviews.accept("r1", "button");
    await settled();
    ask("b", { diffId: "q1" });
    await settled();
    assert.deepEqual([answers["a"]?.length, answers["b"]?.length, reviews.list().length], [1, 0, 1]);
  });

  it("finds no old answer after a minute", async (t) => {
    const { editor, reviews, answers, ask } = window(t);
    ask("a", { diffId: "q1" });
    await settled();
    reviews.reject("r1", "button");
    editor.clock.advance(60_000);
    ask("b", { diffId: "q1" }, new Client(2));
    await settled();
    assert.equal(answers["b"]?.length, 0);
  });
});

describe("an editor that does not show the diff", () => {
  it("that is asked for again and cannot be shown again says so again, once", async (t) => {
    const { editor, reviews, ask } = window(t);
    editor.settings.open = "onDemand";
    ask("a");
    await settled();
    for (const times of [1, 2]) {
      editor.view.opening = "fails";
      reviews.show("r1");
      await settled();
      editor.clock.advance(60_000);
      assert.equal(editor.warnings.length, times);
    }
    let fail = (): void => undefined;
    editor.view.open = () => new Promise((_, late) => (fail = () => late(new Error("at last"))));
    reviews.show("r1");
    editor.clock.advance(60_000);
    fail();
    await settled();
    assert.deepEqual([editor.warnings.length, reviews.get("r1")?.state], [3, "hidden"]);
  });

  it("is not said of one whose tab is there already, however late the editor is with the rest", async (t) => {
    const { editor, reviews, ask } = window(t);
    editor.view.opening = "hangs";
    ask("a");
    await settled();
    editor.view.count.set("r1", 1);
    editor.clock.advance(5_000);
    await settled();
    assert.deepEqual([editor.warnings, reviews.get("r1")?.state], [[], "shown"]);
  });

  it("is not said of one that a busy editor shows late, and it takes answers meanwhile", async (t) => {
    const { editor, reviews, ask } = window(t);
    editor.view.opening = "hangs";
    ask("a");
    await settled();
    editor.clock.advance(20_000);
    await settled();
    assert.deepEqual([editor.warnings, reviews.get("r1")?.state], [[], "hidden"]);
    editor.view.count.set("r1", 1);
    reviews.tabsChanged("r1");
    editor.clock.advance(60_000);
    await settled();
    assert.deepEqual([editor.warnings, reviews.get("r1")?.state], [[], "shown"]);
  });

  for (const opening of ["fails", "hangs"] as const) {
    it(`because opening ${opening}: it stays in the list and can be answered`, async (t) => {
      const { editor, reviews, answers, ask } = window(t);
      editor.view.opening = opening;
      ask("a");
      await settled();
      editor.clock.advance(60_000);
      await settled();
      assert.equal(reviews.get("r1")?.state, "hidden");
      assert.match(editor.warnings[0] ?? "", /could not be shown/);
      reviews.accept("r1", "command");
      await settled();
      assert.equal(answers["a"]?.length, 1);
    });
  }

  it("until it is too late: the tab is closed again", async (t) => {
    const { editor, reviews, ask } = window(t);
    editor.view.opening = "hangs";
    ask("a");
    await settled();
    reviews.ownedBy(new Client(1)).forEach((review) => reviews.resolve(new Client(1), review.diffId, "reject"));
    await settled();
    editor.view.closes.length = 0;
    editor.view.count.set("r1", 1);
    reviews.tabsChanged("r1");
    assert.deepEqual(editor.view.closes, ["r1"]);
  });

  it("because the person wants to be asked first", async (t) => {
    const { editor, reviews, ask } = window(t);
    editor.settings.open = "onDemand";
    ask("a");
    await settled();
    assert.deepEqual([reviews.get("r1")?.state, editor.view.shown.size, editor.warnings.length], ["hidden", 0, 0]);
    reviews.show("r1");
    await settled();
    assert.equal(reviews.get("r1")?.state, "shown");
  });

  it("because the person wants to be asked first, and then asks in the terminal", async (t) => {
    const { editor, reviews, client, ask } = window(t);
    editor.settings.open = "onDemand";
    ask("a", { diffId: "q1" });
    await settled();
    assert.equal(reviews.present(client, "q2"), false);
    assert.equal(reviews.present(new Client(2), "q1"), false);
    assert.equal(editor.view.shown.size, 0);
    assert.equal(reviews.present(client, "q1"), true);
    await settled();
    assert.equal(reviews.get("r1")?.state, "shown");
  });
});

describe("a review that somebody asks to see", () => {
  it("while it is still in preparation is shown then", async (t) => {
    const { editor, reviews, client, ask } = window(t);
    editor.settings.open = "onDemand";
    ask("a", { diffId: "q1" });
    assert.equal(reviews.get("r1")?.state, "preparing");
    assert.equal(reviews.present(client, "q1"), true);
    await settled();
    assert.equal(reviews.get("r1")?.state, "shown");
  });
});

describe("the end of the window", () => {
  it("answers everybody as aborted and drops contents and timers", async (t) => {
    const { editor, reviews, answers, ask } = window(t);
    ask("a");
    ask("b", {}, new Client(2));
    await settled();
    await reviews.dispose();
    await settled();
    assert.deepEqual([answers["a"], answers["b"]], [["aborted"], ["aborted"]]);
    editor.clock.advance(5_000);
    assert.deepEqual(editor.view.forgotten.sort(), ["r1", "r2"]);
    assert.equal(editor.clock.waiting, 0);
    assert.equal(editor.documents.watchers.size, 0);
  });
});

describe("the list", () => {
  it("follows every change, to the end", async (t) => {
    const { reviews, ask } = window(t);
    const seen: ReviewInfo[] = [];
    const stop = reviews.onChange((review) => seen.push(review));
    ask("a", { description: "because\u202e of\nthis" });
    await settled();
    reviews.accept("r1", "button");
    await settled();
    assert.deepEqual([...new Set(seen.map(({ state }) => state))], ["preparing", "shown", "resolving", "done"]);
    assert.equal(seen[0]?.description, "because of this");
    stop();
  });

  it("names files as they are", async (t) => {
    const { folder, reviews, ask } = window(t);
    mkdirSync(join(folder, "sub"));
    const name = join(folder, "sub", "evil\u202egpj.exe");
    reviews.ask(new Client(2), request(name, "x"), undefined);
    ask("b", { path: join(folder, "new"), proposal: "x" });
    await settled();
    const visible = `${folder}/sub/evil\\u{202e}gpj.exe`;
    assert.deepEqual(reviews.list().map(({ title }) => title), [
      `New: ${visible} (outside the workspace)`,
      "f → f",
    ]);
  });
});
