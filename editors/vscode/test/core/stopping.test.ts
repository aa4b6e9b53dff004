// A start of the core during which the window is told to stop.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createCore, Stopped } from "../../src/core/core";
import { atEnd } from "./ending";
import { FakeEditor, tempFolder, until } from "./fakes";
import { WsClient } from "./wsclient";

describe("a start", () => {
  for (const moment of ["its token is awaited", "its lock is written"] as const) {
    it(`that is stopped while ${moment} leaves nothing, and another may follow at once`, async (t) => {
      const home = tempFolder(t);
      const editor = new FakeEditor();
      let stopped: Promise<void> | undefined;
      const at = (now: typeof moment): void => {
        if (now === moment) stopped ??= core.stop();
      };
      const tokens: ((token: string) => void)[] = [];
      const folders = (): [] => {
        if (tokens.length > 0) at("its lock is written"); // before, it looks for other windows of its folders
        return [];
      };
      const mcpToken = (): Promise<string> => new Promise((done) => tokens.push(done));
      const core = createCore({ ...editor.ports, workspace: { ...editor.ports.workspace, folders } }, { version: "0.1.0", home, port: 0, pid: process.pid, mcpToken });
      atEnd(t, () => core.stop());
      const failed = assert.rejects(core.start(), Stopped);
      await until("the first start", () => tokens.length === 1);
      at("its token is awaited");
      tokens[0]?.("x");
      await failed;
      await stopped;
      assert.deepEqual([core.port, readdirSync(join(home, "ide"))], [undefined, []]);
      const again = core.start();
      await until("the second start", () => tokens.length === 2);
      tokens[1]?.("x");
      const { lockPath } = await again;
      assert.deepEqual((await (await WsClient.connect(t, lockPath)).request("ping", {})).result, {});
    });
  }

  it("that is stopped and begun again listens", async (t) => {
    const tokens: ((token: string) => void)[] = [];
    const mcpToken = (): Promise<string> => new Promise((done) => tokens.push(done));
    const core = createCore(new FakeEditor().ports, { version: "0.1.0", home: tempFolder(t), port: 0, pid: process.pid, mcpToken });
    atEnd(t, () => core.stop());
    const failed = assert.rejects(core.start(), Stopped);
    await until("the first start", () => tokens.length === 1);
    await core.stop();
    const again = core.start();
    tokens[0]?.("x");
    await failed;
    await until("the second start", () => tokens.length === 2);
    tokens[1]?.("x");
    const { lockPath } = await again;
    assert.deepEqual((await (await WsClient.connect(t, lockPath)).request("ping", {})).result, {});
  });
});
