// The editor's knowledge reaches the model: new errors with the edit that caused them, open
// files, the selection; and an editor that is stuck delays nothing.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, describe, it } from "node:test";

import { edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const SUM = "export const sum = (a: number, b: number): number => a + b;\n";
const TURN_MS = 300;
// A bound of behaviour, not of speed: a busy machine gets five times of it, and some turns.
const SLACK = 5;
const TURNS = 10;

describe("what the editor knows", () => {
  after(() => probe("globalThis.found?.dispose(); delete globalThis.found"));
  const at = stage({ files: { "sum.ts": SUM, "other.txt": "one\ntwo\nthree\n" }, settings: { "agent.diagnosticDelay": 1_500 } });
  const probe = (code, ...args) => at.scene.session.probe(code, ...args);
  const open = (name, from, to) =>
    probe(
      `const editor = await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false });
       if (args[1] !== null) editor.selection = new vscode.Selection(args[1], 0, args[2], 0);`,
      at.scene.session.file(name),
      from,
      to,
    );
  const errors = (name) =>
    probe(
      `return vscode.languages.getDiagnostics(vscode.Uri.file(args[0])).filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error).length`,
      at.scene.session.file(name),
    );
  /** The editor's part of a prompt. */
  const block = (asked) => /\n\n\[(IDE connected: [^]*)\]$/.exec(asked)?.[1] ?? "";

  it("a type error that an edit makes is in the result of the edit", async (t) => {
    await at.scene.session.typeInto(at.scene.session.file("sum.ts"), "const wrong: number = '';", 1);
    await until("the TypeScript server", async () => (await errors("sum.ts")) === 1, 120_000);
    await probe(`await vscode.commands.executeCommand("workbench.action.files.revert")`);
    await until("the TypeScript server to be satisfied", async () => (await errors("sum.ts")) === 0, 120_000);
    // A result waits for a second and a half; on a busy machine the server may take longer.
    for (let left = 20; left > 0; left--) {
      const agent = await at.scene.linkedAgent([edit("sum.ts", "a + b", "`${a}${b}`"), { text: "Oh." }]);
      await agent.type("go on\r");
      await at.scene.bench.diffShown();
      await at.scene.bench.press("Accept");
      const told = await agent.told(2);
      if (left === 1 || told.includes("New diagnostics")) {
        assert.match(told, /New diagnostics since the edit:\n.*\[error\] sum\.ts:1 — .*'string' is not assignable to type 'number'/);
        return;
      }
      t.diagnostic(`a result came before the TypeScript server: ${told}`);
      await until("the TypeScript server to see it", async () => (await errors("sum.ts")) === 1, 120_000);
      fs.writeFileSync(at.scene.session.file("sum.ts"), SUM);
      await until("the TypeScript server to be satisfied again", async () => (await errors("sum.ts")) === 0, 120_000);
      await agent.end(); // the editor takes no more than 16
    }
  });

  it("open tabs, the selection and errors go with the next prompt", async () => {
    const agent = await at.scene.linkedAgent([{ text: "I see." }]);
    await open("sum.ts");
    await open("other.txt", 0, 2);
    await probe(
      `globalThis.found ??= vscode.languages.createDiagnosticCollection("test");
       globalThis.found.set(vscode.Uri.file(args[0]), [new vscode.Diagnostic(new vscode.Range(2, 0, 2, 5), "three is too many", vscode.DiagnosticSeverity.Error)]);`,
      at.scene.session.file("other.txt"),
    );
    await agent.shows("other.txt:1-2");
    await agent.type("what is open?\r");
    const told = block(await at.scene.model.asked(agent.prompt, 1));
    assert.match(told, /^IDE connected: code-server\n {2}Open tabs: .*sum\.ts.*other\.txt.*\n/);
    assert.match(told, /^ {2}Diagnostics: \d+ errors?, \d+ warnings?\n(?: {4}.*\n)* {4}other\.txt:3: three is too many$/m);
    assert.match(told, /^ {2}Active: other\.txt$/m);
    assert.match(told, /^ {2}Selection: other\.txt:1-2$/m);
  });

  it("they are in the system prompt as a conversation begins, which stays while they change", async () => {
    const agent = await at.scene.linkedAgent([]);
    await open("sum.ts");
    await open("other.txt", 0, 2);
    await agent.shows("other.txt:1-2");
    const prompt = at.scene.conversation([{ text: "I see." }, { text: "I see again." }]);
    await agent.type("/clear\r");
    await agent.shows("Started a new session.");
    await agent.type(`${prompt} what is open?\r`);
    const block = async (n) => /\n(IDE connected: [^]*)$/.exec(await at.scene.model.system(prompt, n))?.[1] ?? "";
    const told = await block(0);
    assert.match(told, /^IDE connected: code-server\n {2}Open tabs: .*sum\.ts.*other\.txt.*\n[^]*^ {2}Active: other\.txt\n {2}Selection: other\.txt:1-2\n$/m);
    assert.doesNotMatch(await at.scene.model.asked(prompt, 0), /IDE connected/);
    await agent.shows("I see.");
    await open("other.txt", 2, 3);
    await agent.shows("other.txt:3");
    await agent.type("and now?\r");
    assert.match(await at.scene.model.asked(prompt, 1), /\[IDE connected: [^]* {2}Selection: other\.txt:3-3\]$/);
    assert.equal(await block(1), told);
  });

  it("800 characters of it at most, however much there is", async () => {
    const agent = await at.scene.linkedAgent([{ text: "I see." }]);
    await open("other.txt", 0, 2);
    await probe(
      `globalThis.found ??= vscode.languages.createDiagnosticCollection("test");
       const range = new vscode.Range(0, 0, 0, 3);
       globalThis.found.set(vscode.Uri.file(args[0]), Array.from({ length: 200 }, (_, n) => new vscode.Diagnostic(range, "error number " + n)));`,
      at.scene.session.file("other.txt"),
    );
    await agent.shows("other.txt:1-2");
    await agent.type("what is wrong?\r");
    const told = block(await at.scene.model.asked(agent.prompt, 1));
    assert.match(told, /^ {4}other\.txt:1: error number 0$/m);
    assert.match(told, /\.\.\./);
    assert.ok(told.trimEnd().length <= 800, `${told.length} characters:\n${told}`);
    assert.match(told, /^ {2}Selection: other\.txt:1-2$/m);
    await probe(`globalThis.found.clear()`);
  });

  it("the selected lines get into the prompt by a key, and their text by @selection", async () => {
    const agent = await at.scene.linkedAgent([{ text: "I see." }]);
    await open("other.txt", 0, 2);
    await agent.shows("other.txt:1-2");
    await at.scene.bench.page.keyboard.press("Control+Alt+K");
    await agent.shows("@other.txt#L1-2");
    await agent.type("and @selection ");
    await agent.shows("and @selection");
    await agent.type("\r");
    const { messages } = await at.scene.model.request(agent.prompt, 1);
    const said = JSON.stringify(messages.findLast(({ role }) => role === "user").content);
    assert.match(said, /@other\.txt#L1-2 and @selection/);
    assert.match(said, /one\\ntwo/);
    assert.doesNotMatch(said, /three/);
  });

  it("an editor that is stuck holds a turn up for a moment only", async (t) => {
    const agent = await at.scene.linkedAgent(Array.from({ length: TURNS }, (_, n) => ({ text: `Still here ${n}.` })));
    const { pid } = await at.scene.session.lock();
    const took = [];
    for (let n = 1; n <= TURNS && !took.some((ms) => ms <= TURN_MS * SLACK); n++) {
      await at.scene.bench.typeInTerminal(`go on ${n}`);
      await agent.shows(`go on ${n}`);
      process.kill(pid, "SIGSTOP");
      try {
        const from = performance.now();
        await at.scene.bench.page.keyboard.press("Enter");
        await at.scene.model.request(agent.prompt, n);
        took.push(Math.round(performance.now() - from));
      } finally {
        process.kill(pid, "SIGCONT");
      }
      await agent.shows(`Still here ${n - 1}.`);
      await agent.idle();
      await agent.shows("· code-server");
    }
    t.diagnostic(`the request was there after ${took.join(", ")} ms`);
    assert.ok(Math.min(...took) <= TURN_MS * SLACK, `${took.join(", ")} ms`);
  });
});
