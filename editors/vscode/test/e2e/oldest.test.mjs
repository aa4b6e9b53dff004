// The oldest VS Code that the manifest allows: the whole way once.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, it } from "node:test";

import { Client } from "./lib/client.mjs";
import { unchanged } from "./lib/scene.mjs";
import { startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const BASE = "one\ntwo\n";

describe("the oldest supported VS Code", () => {
  let session;
  before(async () => {
    session = await startSession({ host: "oldest", files: { "a.txt": BASE, "note.md": BASE, "other.txt": BASE } });
  });
  after(() => session?.stop());
  afterEach(async (t) => {
    if (t.passed === false) await session.keep(t.name);
  });

  it("is the one that the manifest names", async () => {
    assert.match(await session.probe("return vscode.version"), /^1\.100\./);
    const { packageJSON } = await session.probe(
      `const { packageJSON } = vscode.extensions.getExtension("bb2d0cf4.agent-ide"); return { packageJSON }`,
    );
    assert.equal(packageJSON.engines.vscode, "^1.100.0");
  });

  it("shows a diff, takes edits, and answers", async () => {
    const client = await Client.connect(await session.lock());
    const accepted = client.openDiff(session.file("note.md"), "one\nTWO\n");
    await session.bench.diffShown();
    await session.bench.typeAtEnd("three");
    await session.bench.press("Accept");
    assert.equal((await accepted)[1], "one\nTWO\nthree");
    await session.noDiffs();
    const rejected = client.openDiff(session.file("note.md"), "one\nTWO\n");
    await session.bench.diffShown();
    await session.bench.press("Reject");
    assert.equal((await rejected)[0], "DIFF_REJECTED");
    await session.noDiffs();
    client.close();
  });

  it("reviews an edit of the agent in the terminal", async () => {
    const turns = [
      { text: "I write it.", calls: [{ tool: "write_file", args: { path: "new.txt", content: "new\n" } }] },
      { expect: [{ result_contains: "Created new.txt" }], text: "The model knows." },
    ];
    await session.startAgent(turns, "please");
    await session.bench.diffShown();
    await session.bench.press("Accept");
    await until("the file", () => session.read("new.txt").toString() === "new\n");
    await session.terminalShows("The model knows.");
  });

  it("shows a proposal in one text with its file, and touches no document", async () => {
    fs.writeFileSync(path.join(session.host.agentHome, "config.yaml"), JSON.stringify({ ide: { review: "inline" } }), { mode: 0o600 });
    const state = (name, scheme) =>
      session.probe(
        `const found = vscode.workspace.textDocuments.find((each) => each.uri.scheme === args[1] && args[0].endsWith(each.uri.path));
         return found && [found.getText(), found.isDirty]`,
        session.file(name),
        scheme,
      );
    const same = unchanged(session.file("a.txt"), assert);
    await session.startAgent([{ calls: [{ tool: "write_file", args: { path: "a.txt", content: "ONE\ntwo\n" } }] }], "louder");
    const reject = session.page.locator(".codelens-decoration a", { hasText: /Reject(?! with)/ });
    await reject.waitFor();
    assert.equal((await state("a.txt", "agent-inline"))[0], "one\nONE\ntwo\n");
    await session.typeInto(session.file("other.txt"), "mine ", 0, { preview: false, viewColumn: -2 }); // beside
    await reject.click();
    await session.terminalShows("Write a.txt · declined");
    await until("no review", () =>
      session.probe(`return vscode.window.tabGroups.all.flatMap((group) => group.tabs).every(({ input }) => input?.uri?.scheme !== "agent-inline")`),
    );
    same();
    assert.equal((await state("a.txt", "file"))?.[1] ?? false, false);
    assert.deepEqual(await state("other.txt", "file"), [`mine ${BASE}`, true]);
  });
});
