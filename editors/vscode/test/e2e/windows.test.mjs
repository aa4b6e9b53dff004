// More than one of everything: agents, windows, folders, names of a folder.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";

import { call, edit } from "./lib/model.mjs";
import { startScene, stage } from "./lib/scene.mjs";
import { makeFolder } from "./lib/folder.mjs";
import { Session } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";

describe("two agents in one window", () => {
  const at = stage({ files: { "a.txt": BASE, "b.txt": BASE, "same.txt": BASE } });
  const read = (name) => at.scene.session.read(name).toString();
  /** An agent whose diff is on the screen. */
  const ask = async (turn) => {
    const tabs = (await at.scene.session.tabs()).length;
    const agent = await at.scene.agent([turn, { text: "Good." }]);
    await until("one more diff", async () => (await at.scene.session.tabs()).length === tabs + 1);
    await agent.asks();
    return agent;
  };

  it("have a diff each, which are answered each for itself", async () => {
    const first = await ask(edit("a.txt", "two", "TWO"));
    const second = await ask(edit("b.txt", "two", "TWO"));
    await at.scene.bench.tab("a.txt").click();
    await at.scene.bench.diffShown("/a.txt"); // the diff of b.txt may still be there
    await at.scene.bench.press("Accept");
    assert.match(await first.told(1), /^Wrote a\.txt/);
    assert.equal(read("b.txt"), BASE);
    await second.show();
    await second.asks();
    await at.scene.bench.tab("b.txt").click();
    await at.scene.bench.press("Reject");
    await second.asksNothing();
    assert.equal(read("a.txt"), PROPOSED);
    assert.equal(read("b.txt"), BASE);
  });

  it("that edit the same file are asked about one after the other, and neither overwrites the other", async () => {
    const first = await ask(edit("same.txt", "two", "TWO"));
    const second = await at.scene.agent([edit("same.txt", "three", "THREE"), { text: "I see." }]);
    await second.shows(second.prompt); // until its terminal is painted, that is the question of the first
    await second.asks();
    await at.scene.bench.diffShown();
    assert.equal((await at.scene.session.tabs()).length, 1);
    await at.scene.bench.press("Accept");
    assert.match(await first.told(1), /^Wrote same\.txt/);
    await second.asks();
    await second.yes();
    assert.match(await second.told(1), /changed while the edit was being reviewed: nothing was written/);
    assert.equal(read("same.txt"), PROPOSED);
  });
});

describe("windows", () => {
  const real = makeFolder({ "a.txt": BASE, "b.txt": BASE });
  const link = `${real}-link`;
  fs.symlinkSync(real, link);
  const roots = makeFolder({ "left/a.txt": BASE, "right/a.txt": BASE });
  const workspace = path.join(roots, "both.code-workspace");
  fs.writeFileSync(workspace, JSON.stringify({ folders: [{ path: "left" }, { path: "right" }] }));
  const folders = [real, link, roots];
  let scene;
  const opened = [];

  before(async () => void (scene = await startScene({ files: { "a.txt": BASE } })));
  after(async () => {
    await scene?.stop();
    for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
  });
  afterEach(async (t) => {
    for (const window of opened.splice(0)) {
      if (t.passed === false) await window.keep(t.name);
      await window.bench.page.close({ runBeforeUnload: false });
    }
  });

  /** Opens one more window of a folder or a workspace file. */
  const open = async (what, folder) => {
    const known = scene.session.host.locks().map(({ pid }) => pid);
    const window = new Window(scene.session.host, folder);
    window.bench = await scene.bench.another(scene.session.host.url(what));
    opened.push(window);
    // Now and then this host opens a workspace file as if it named no folder, until it
    // is loaded again.
    const here = ({ pid, workspaceFolders }) => !known.includes(pid) && workspaceFolders.length > 0;
    const find = () => scene.session.host.locks().find(here);
    window.place = await until("the window's lock file", find, 20_000).catch(async () => {
      await window.bench.page.reload();
      return until("the window's lock file, after another try", find, 120_000);
    });
    await window.probe("return vscode.version");
    return window;
  };
  const accept = async (window) => {
    await window.bench.page.bringToFront();
    await window.bench.diffShown();
    await window.bench.press("Accept");
  };
  const text = (folder, name = "a.txt") => fs.readFileSync(path.join(folder, name), "utf8");

  it("on a folder and on a workspace of two: each agent asks in its own, each folder is the workspace's", async () => {
    const one = scene.session.folder;
    const [left, right] = ["left", "right"].map((name) => path.join(roots, name));
    const first = new Window(scene.session.host, one);
    first.bench = scene.bench;
    first.place = await scene.session.lock();
    const second = await open(workspace, right);
    assert.deepEqual(second.place.workspaceFolders, [left, right]);
    for (const cwd of [right, left]) {
      const there = await scene.agent([edit("a.txt", "two", "TWO"), { text: "Good." }], { window: second, cwd });
      await accept(second);
      assert.match(await there.told(1), /^Wrote a\.txt/);
      assert.deepEqual([text(one), text(cwd)], [BASE, PROPOSED]);
    }
    assert.deepEqual(await first.tabs(), []);
    await first.bench.page.bringToFront();
    const here = await scene.agent([edit("a.txt", "three", "3"), { text: "Good." }], { window: first });
    await accept(first);
    assert.match(await here.told(1), /^Wrote a\.txt/);
    assert.deepEqual([text(one), text(right)], ["one\ntwo\n3\n", PROPOSED]);
    await until("the accepted text alone to be shown", async () => (await second.diffs()).length === 0 && (await second.tabs()).includes("a.txt"));
  });

  it("on a folder by another name: the real file is written, and unsaved changes of it are seen", async () => {
    const window = await open(link, link);
    const agent = await scene.agent([edit("a.txt", "two", "TWO"), { text: "Good." }], { window });
    await accept(window);
    assert.match(await agent.told(1), /^Wrote a\.txt/);
    assert.equal(text(real), PROPOSED);
    assert.ok(fs.lstatSync(link).isSymbolicLink());
    const shown = "return vscode.window.tabGroups.activeTabGroup.activeTab?.input.uri?.fsPath";
    await until("the accepted text to be shown, under the folder's own name", async () => (await window.probe(shown)) === path.join(link, "a.txt"));
    await window.typeInto(path.join(link, "b.txt"), "mine\n");
    const next = await scene.linkedAgent([call("append_file", { path: "b.txt", content: "four" }), { text: "Good." }], { window });
    await next.type("go on\r");
    await next.shows("unsaved");
    await next.asks();
    await next.type("y");
    await accept(window);
    assert.match(await next.told(2), /^Wrote b\.txt/);
    assert.equal(text(real, "b.txt"), `mine\n${BASE}four\n`);
  });
});

/** One of several windows of a host. */
class Window extends Session {
  probe(code, ...args) {
    return this.host.probeIn(this.place.pid, code, ...args);
  }
}
