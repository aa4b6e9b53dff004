import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { newToken } from "../../src/core/guard";
import { isWindow, lockFolder, OwnFile, sweep, systemLiveness } from "../../src/core/lockfile";
import type { LockContent } from "../../src/core/lockfile";
import { provesItself } from "../../src/core/proof";
import { atEnd } from "./ending";
import { tempFolder, until } from "./fakes";
import { startCore } from "./wsclient";

const content: LockContent = {
  v: 1,
  pid: 4711,
  workspaceFolders: ["/a"],
  realFolders: ["/real/a"],
  ideName: "Test Editor",
  transport: "ws",
  secret: "secret",
  authToken: "token",
  trusted: true,
  startedAt: 1,
  focusedAt: 2,
  extVersion: "0.1.0",
  doors: [{ kind: "mcp", url: "http://127.0.0.1:4711/mcp" }],
};

const mode = (path: string): number => lstatSync(path).mode & 0o777;

describe("the folder", () => {
  it("is made for its owner alone", async (t) => {
    const home = join(tempFolder(t), "home");
    const folder = await lockFolder(home);
    assert.deepEqual([folder, mode(folder), mode(home)], [join(home, "ide"), 0o700, 0o700]);
    assert.equal(await lockFolder(home), folder);
  });

  const bad: [string, (folder: string) => void, RegExp][] = [
    ["others may read", (folder) => { mkdirSync(folder); chmodSync(folder, 0o750); }, /open to other users; run: chmod 700/],
    ["others may write", (folder) => { mkdirSync(folder); chmodSync(folder, 0o702); }, /open to other users/],
    ["is a link", (folder) => { mkdirSync(folder + "2"); symlinkSync(folder + "2", folder); }, /is not a folder/],
    ["is a file", (folder) => writeFileSync(folder, ""), /not a folder|EEXIST/],
  ];
  for (const [name, make, want] of bad) {
    it(`that ${name} is refused`, async (t) => {
      const home = tempFolder(t);
      make(join(home, "ide"));
      await assert.rejects(lockFolder(home), want);
    });
  }
});

describe("the lock file", () => {
  it("has what was written, for its owner alone", async (t) => {
    const lock = new OwnFile(join(tempFolder(t), "1234.lock"));
    await lock.write(content);
    assert.deepEqual(JSON.parse(readFileSync(lock.path, "utf8")), content);
    assert.match(lock.path, /\/1234\.lock$/);
    assert.equal(mode(lock.path), 0o600);
  });

  it("and what comes before it are never open to others, nor found half", async (t) => {
    const folder = tempFolder(t);
    const lock = new OwnFile(join(folder, "1234.lock"));
    const modes = new Set<number>();
    let seen = 0;
    const watcher = watch(folder, () => {
      for (const name of readdirSync(folder)) {
        try {
          modes.add(mode(join(folder, name)));
          seen++;
        } catch (err) {
          assert.equal((err as NodeJS.ErrnoException).code, "ENOENT");
        }
      }
    });
    atEnd(t, () => watcher.close());
    const umask = process.umask(0);
    atEnd(t, () => process.umask(umask));
    let reading = true;
    const reader = (async () => {
      let reads = 0;
      while (reading) {
        if (existsSync(lock.path)) {
          assert.equal((JSON.parse(readFileSync(lock.path, "utf8")) as LockContent).v, 1);
          reads++;
        }
        await new Promise((done) => setImmediate(done));
      }
      return reads;
    })();
    for (let i = 0; i < 100; i++) await lock.write({ ...content, focusedAt: i });
    reading = false;
    assert.ok((await reader) > 20);
    await until("the watcher has looked", () => seen > 20);
    assert.deepEqual([...modes], [0o600]);
    assert.deepEqual(readdirSync(folder), ["1234.lock"]);
  });

  it("keeps the last of writes at once", async (t) => {
    const lock = new OwnFile(join(tempFolder(t), "1.lock"));
    await Promise.all([1, 2, 3].map((focusedAt) => lock.write({ ...content, focusedAt })));
    assert.equal((JSON.parse(readFileSync(lock.path, "utf8")) as LockContent).focusedAt, 3);
  });

  it("takes the place of a link instead of writing through it", async (t) => {
    const folder = tempFolder(t);
    writeFileSync(join(folder, "victim"), "mine");
    symlinkSync(join(folder, "victim"), join(folder, "1.lock"));
    await new OwnFile(join(folder, "1.lock")).write(content);
    assert.equal(readFileSync(join(folder, "victim"), "utf8"), "mine");
    assert.equal(lstatSync(join(folder, "1.lock")).isFile(), true);
  });

  it("is removed, if it is still ours", async (t) => {
    const folder = tempFolder(t);
    const ended = new OwnFile(join(folder, "1.lock"));
    await ended.write(content);
    await ended.remove();
    assert.equal(existsSync(ended.path), false);
    await ended.remove();
    await ended.write(content);
    assert.equal(existsSync(ended.path), false, "a late write brought it back");
    const lock = new OwnFile(join(folder, "1.lock"));
    await lock.write(content);
    writeFileSync(lock.path, JSON.stringify({ ...content, authToken: "another's" }));
    await lock.remove();
    assert.equal(existsSync(lock.path), true);
    writeFileSync(lock.path, "no json");
    await lock.remove();
    assert.equal(existsSync(lock.path), true);
  });

  it("that cannot be written leaves nothing behind", async (t) => {
    const folder = tempFolder(t);
    const lock = new OwnFile(join(folder, "1.lock"));
    mkdirSync(lock.path);
    writeFileSync(join(lock.path, "x"), "");
    await assert.rejects(lock.write(content));
    assert.deepEqual(readdirSync(folder), ["1.lock"]);
    rmSync(lock.path, { recursive: true });
    await lock.write(content);
  });
});

describe("the sweep", () => {
  const cases: [string, string, string, { pid: boolean; proof: boolean }, boolean][] = [
    ["the process is dead, whoever listens", "5000.lock", '{"pid":7,"secret":"s"}', { pid: false, proof: false }, true],
    ["what listens knows its secret", "5000.lock", '{"pid":7,"secret":"s"}', { pid: false, proof: true }, false],
    ["it has no secret and its process is dead", "5000.lock", '{"pid":7,"authToken":"t"}', { pid: false, proof: true }, true],
    ["the process lives", "5000.lock", '{"pid":7,"secret":"s"}', { pid: true, proof: false }, false],
    ["no process is named", "5000.lock", "{}", { pid: false, proof: false }, false],
    ["it cannot be read", "5000.lock", "{", { pid: false, proof: false }, false],
    ["the process is nonsense", "5000.lock", '{"pid":-1}', { pid: false, proof: false }, false],
    ["the name is no port", "x.lock", '{"pid":7}', { pid: false, proof: false }, false],
    ["it is another's file", "bridge.json", '{"pid":7}', { pid: false, proof: false }, false],
    ["it is an entry without a lock", "5000.mcp.json", "{}", { pid: true, proof: true }, true],
    ["a write was cut off", ".7-00ff.tmp", "", { pid: false, proof: false }, true],
    ["a write goes on", ".7-00ff.tmp", "", { pid: true, proof: false }, false],
  ];
  for (const [why, name, text, alive, removed] of cases) {
    it(`${removed ? "removes" : "keeps"} a file if ${why}`, async (t) => {
      const folder = tempFolder(t);
      writeFileSync(join(folder, name), text);
      const liveness = { isOurs: () => alive.pid, proves: () => Promise.resolve(alive.proof) };
      assert.deepEqual(await sweep(folder, liveness), { removed: removed ? [name] : [], problems: [] });
      assert.equal(existsSync(join(folder, name)), !removed);
    });
  }

  it("does not follow links and goes on after a failure", async (t) => {
    const folder = tempFolder(t);
    symlinkSync(join(folder, "target"), join(folder, "1.lock"));
    writeFileSync(join(folder, "target"), '{"pid":7}');
    writeFileSync(join(folder, "2.lock"), '{"pid":7,"secret":"s"}');
    writeFileSync(join(folder, "3.lock"), '{"pid":8}');
    const liveness = {
      isOurs: () => false,
      proves: (port: number) => (port === 2 ? Promise.reject(new Error("odd")) : Promise.resolve(false)),
    };
    assert.deepEqual(await sweep(folder, liveness), { removed: ["3.lock"], problems: ["odd"] });
  });

  it("keeps the lock of a window that takes the port meanwhile", async (t) => {
    const folder = tempFolder(t);
    const path = join(folder, "5000.lock");
    writeFileSync(path, '{"pid":7,"secret":"old"}');
    const proves = (): Promise<boolean> => {
      writeFileSync(path, '{"pid":8,"secret":"new"}');
      return Promise.resolve(false);
    };
    assert.deepEqual(await sweep(folder, { isOurs: (pid) => pid === 8, proves }), { removed: [], problems: [] });
    assert.equal(readFileSync(path, "utf8"), '{"pid":8,"secret":"new"}');
  });

  it("removes what a dead window left although somebody accepts on its port", async (t) => {
    const folder = tempFolder(t);
    const stranger = createServer(() => undefined); // accepts, and never answers
    await new Promise<void>((done) => stranger.listen(0, "127.0.0.1", done));
    atEnd(t, () => stranger.close());
    const { port } = stranger.address() as { port: number };
    writeFileSync(join(folder, `${port}.lock`), JSON.stringify({ ...content, pid: 999_999_999 }));
    writeFileSync(join(folder, `${port}.mcp.json`), "{}");
    const { removed } = await sweep(folder, systemLiveness);
    assert.deepEqual(removed, [`${port}.lock`, `${port}.mcp.json`]);
  });

  it("knows the living", async (t: TestContext) => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    atEnd(t, () => child.kill("SIGKILL"));
    assert.ok(child.pid !== undefined);
    assert.equal(systemLiveness.isOurs(child.pid), true);
    const gone = new Promise((done) => child.on("exit", done));
    child.kill("SIGKILL");
    await gone;
    assert.equal(systemLiveness.isOurs(child.pid), false);
  });
});

describe("a window of ours", () => {
  it("has a lock, a living process, and proves itself", async (t) => {
    const { port, lockPath } = await startCore(t, tempFolder(t));
    // A busy machine gets more time to answer, so that a no is never for want of it.
    const alive = { ...systemLiveness, proves: (at: number, secret: string) => provesItself(at, secret, 60_000) };
    const is = (): Promise<boolean> => isWindow(dirname(lockPath), port, alive);
    assert.equal(await is(), true);
    const lock = JSON.parse(readFileSync(lockPath, "utf8")) as LockContent;
    const become = (other: object): void => writeFileSync(lockPath, JSON.stringify(other));
    become({ ...lock, pid: 999_999_999 });
    assert.equal(await is(), false, "its process is gone");
    become({ ...lock, secretSocket: undefined, secret: newToken() });
    assert.equal(await is(), false, "what listens knows another secret");
    become({ ...lock, v: 1, secretSocket: undefined });
    assert.equal(await is(), false, "it has no secret");
    become(lock);
    assert.equal(await is(), true);
    rmSync(lockPath);
    assert.equal(await is(), false, "it has no lock");
    writeFileSync(lockPath, JSON.stringify(lock));
  });
});
