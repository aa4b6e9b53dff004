// A window that is loaded again and wants its port back.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { createCore } from "../../src/core/core";
import { FakeEditor, tempFolder, until } from "./fakes";

describe("a window that is loaded again", () => {
  const lockOf = (home: string, port: number, content: object): string => {
    mkdirSync(join(home, "ide"), { mode: 0o700 });
    const file = join(home, "ide", `${port}.lock`);
    writeFileSync(file, JSON.stringify(content));
    return file;
  };
  /** A window starts whose port a process has, as the window of these folders. */
  const begin = async (t: TestContext, pid: number, folders?: string[]): Promise<{ editor: FakeEditor; file: string; port: number; started: Promise<{ port: number }>; held: () => void }> => {
    const [home, editor, taken] = [tempFolder(t), new FakeEditor(), createServer()];
    await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
    t.after(() => taken.close());
    const { port } = taken.address() as { port: number };
    const file = lockOf(home, port, { pid, workspaceFolders: folders ?? editor.ports.workspace.folders().map(({ path }) => path) });
    const core = createCore(editor.ports, { version: "0.1.0", home, port, pid: process.pid, mcpToken: () => Promise.resolve("x") });
    t.after(() => core.stop());
    return { editor, file, port, started: core.start(), held: () => taken.close() };
  };
  const waits = (editor: FakeEditor): Promise<void> => until("the wait", () => editor.clock.waiting > 0);

  it("waits for its port until the window as it was has ended", async (t) => {
    const { editor, file, port, started, held } = await begin(t, process.ppid);
    await waits(editor);
    held();
    rmSync(file);
    editor.clock.advance(50);
    assert.equal((await started).port, port);
  });

  it("waits for ten seconds at most", async (t) => {
    const { editor, port, started } = await begin(t, process.ppid);
    await waits(editor);
    editor.clock.advance(10_000);
    assert.notEqual((await started).port, port);
  });

  /** Two windows of one folder, the second of which wants the port of the first, and waits for it. */
  const both = async (t: TestContext, answered: () => Promise<void>): Promise<{ clocks: FakeEditor["clock"][]; port: number; request: string; started: Promise<{ port: number }>; unseen: Promise<void>[]; stopped: () => Promise<void> | undefined }> => {
    const [home, first, second] = [tempFolder(t), new FakeEditor(), new FakeEditor()];
    const options = { version: "0.1.0", home, mcpToken: () => Promise.resolve("x") };
    const before = createCore(first.ports, { ...options, port: 0, pid: process.ppid });
    t.after(() => before.stop());
    const { port } = await before.start();
    first.view.caughtUp = answered;
    const unseen: Promise<void>[] = [];
    let stopped: Promise<void> | undefined;
    before.onUnseen = (back) => {
      unseen.push(back);
      stopped = before.stop();
    };
    const core = createCore(second.ports, { ...options, port, pid: process.pid });
    t.after(() => core.stop());
    const started = core.start();
    await waits(second);
    return { clocks: [first.clock, second.clock], port, request: join(home, "ide", `${port}.next`), started, unseen, stopped: () => stopped };
  };

  it("gets its port from a window of before that nobody sees, which learns when it is seen again", async (t) => {
    let seen = (): void => undefined;
    const { clocks, port, started, unseen, stopped } = await both(t, () => new Promise((done) => (seen = done)));
    await until("the first to ask its editor", () => clocks[0]?.waiting !== 0);
    clocks[0]?.advance(3_000);
    await until("the first to be told", () => unseen.length === 1);
    await stopped();
    clocks[1]?.advance(50);
    assert.equal((await started).port, port);
    seen();
    await unseen[0];
  });

  it("does not wait on for the port of a window that is seen", async (t) => {
    const { clocks, port, request, started, unseen } = await both(t, () => Promise.resolve());
    await until("the request to be refused", () => !existsSync(request));
    clocks[1]?.advance(50);
    assert.notEqual((await started).port, port);
    assert.equal(unseen.length, 0);
  });

  it("does not wait for a window of other folders", async (t) => {
    const { port, started } = await begin(t, process.ppid, ["/elsewhere"]);
    assert.notEqual((await started).port, port);
  });
});
