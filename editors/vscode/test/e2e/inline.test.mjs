// The agent's proposals in one text with their file (ide.review: inline).
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { before, describe, it } from "node:test";

import { call } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";
import { watchFile } from "./lib/watch.mjs";

const BASE = "one\ntwo\nthree\nfour\nfive\n";
const BOTH = "ONE\ntwo\nthree\nfour\nFIVE\n";
const MERGED = "one\nONE\ntwo\nthree\nfour\nfive\nFIVE\n";
const NAMES = ["lenses", "keys", "all", "enter", "soon", "terminal", "undo", "saved", "other", "close", "disk", "link", "reload", "kill", "focus", "again", "toggle", "typed", "red", "contrast", "late"];
/** Files of which the lines before and after an edit are no program together. */
const CODE = {
  "total.ts": ["export function total(a: number): number {\n  return a;\n}\n", "export function total(a: number, b: number): number {\n  return a + b;\n}\n"],
  "data.json": ['{\n  "a": 1\n}\n', '{\n  "a": 2\n}\n'],
  "page.css": ["a {\n  color: red;\n}\n", "b {\n  color: red;\n}\n"],
};
const louder = (name, why = "I make it louder.") => call("write_file", { path: `${name}.txt`, content: BOTH }, why);

describe("the agent's proposals in one text with their file", () => {
  const at = stage({ files: { ...Object.fromEntries(NAMES.map((name) => [`${name}.txt`, BASE])), "mine.txt": "mine\n", "format.json": '{"a":1}\n', "broken.ts": "const x = ;\n", "broken.json": '{"a" 1}\n', ...Object.fromEntries(Object.entries(CODE).map(([name, [before]]) => [name, before])) } });
  const read = (name) => at.scene.session.read(`${name}.txt`).toString();
  const file = (name) => at.scene.session.file(`${name}.txt`);
  const lens = (title, nth = 0) => at.scene.session.page.locator(".codelens-decoration a", { hasText: new RegExp(`${title}(?! All| with)`) }).nth(nth);
  const press = (key) => at.scene.session.page.keyboard.press(key);
  const inText = async () => {
    await at.scene.session.page.locator(".part.editor .editor-instance .view-lines").first().click();
    await at.scene.session.page.locator(".part.editor .editor-instance .monaco-editor.focused").waitFor();
  };
  /** Switches the review from one text to a diff. Keys for the diff, which come before it is there, would go nowhere. */
  const switchToDiff = async () => {
    await at.scene.bench.press("Show Inline or as Diff");
    await at.scene.session.page.locator(".monaco-diff-editor .editor.modified .view-line").first().waitFor();
    await at.scene.bench.diffShown();
  };
  const find = (scheme) => `vscode.workspace.textDocuments.find((each) => each.uri.scheme === "${scheme}" && args[0].endsWith(each.uri.path))`;
  const shown = (name) => at.scene.session.probe(`return ${find("agent-inline")}?.getText()`, file(name));
  const shows = (name, text) => until(`the review of ${name} to show ${JSON.stringify(text)}`, async () => (await shown(name)) === text);
  const tabs = () => at.scene.session.probe(`return vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(({ input }) => input?.uri?.scheme === "agent-inline").length`);
  const gone = () => until("the review to go", async () => (await tabs()) === 0);
  const answer = (key) => at.scene.bench.answerByKey(key, async () => (await tabs()) === 0);
  const configure = (name, value) => at.scene.session.configure({ [name]: value });

  before(() => {
    const config = path.join(at.scene.session.host.agentHome, "config.yaml");
    fs.writeFileSync(config, JSON.stringify({ ...JSON.parse(fs.readFileSync(config, "utf8")), ide: { review: "inline" } }), { mode: 0o600 });
  });

  /** An agent whose proposal is shown, and asked about in the terminal; the file is not touched. */
  const asked = async (name, why) => {
    const same = unchanged(file(name), assert);
    const agent = await at.scene.agent([louder(name, why), { text: "Good." }]);
    await lens("Accept", 1).waitFor({ timeout: 120_000 });
    await agent.asks();
    assert.equal(await shown(name), MERGED);
    same();
    return { agent, same };
  };

  it("one change is rejected, the other accepted: the agent writes the rest and learns of it", async () => {
    const { agent, same } = await asked("lenses");
    await until("Accept before Reject, in one line", async () => {
      const [accept, reject] = [await lens("Accept").boundingBox(), await lens("Reject").boundingBox()];
      return accept.x < reject.x && Math.abs(accept.y - reject.y) < 2;
    });
    await lens("Reject", 1).click();
    await shows("lenses", "one\nONE\ntwo\nthree\nfour\nfive\n");
    await agent.shows("edited in");
    same();
    await lens("Accept").click();
    const told = await agent.told(1);
    assert.match(told, /^Wrote lenses\.txt: 1 added, 1 removed/);
    assert.match(told, /^-FIVE$/m);
    assert.equal(read("lenses"), "ONE\ntwo\nthree\nfour\nfive\n");
    await gone();
    await agent.asksNothing();
  });

  it("removed lines are red, added ones green, and git's own button is not among ours", async () => {
    const { agent } = await asked("red");
    const drawn = () => at.scene.session.page.evaluate(() => {
      const backs = [...document.querySelectorAll(".part.editor .view-overlays > div > .cdr")].map((each) => ({ color: getComputedStyle(each).backgroundColor, top: each.getBoundingClientRect().top }));
      const found = backs.map(({ color, top }) => ({ top, parts: color.match(/[\d.]+/g).map(Number) })).filter(({ parts }) => parts.length === 4 && parts[3] > 0 && Math.abs(parts[0] - parts[1]) > 1 && Math.max(parts[0], parts[1]) - parts[2] > 20);
      return found.sort((a, b) => a.top - b.top).map(({ parts: [red, green] }) => (red > green ? "red" : "green"));
    });
    assert.deepEqual(await until("four lines with a color", async () => {
      const colors = await drawn();
      return colors.length === 4 && colors;
    }), ["red", "green", "red", "green"]);
    const labels = await until("the buttons", async () => {
      const all = await at.scene.bench.titleButtons();
      return all.length >= 3 && all;
    });
    assert.match(labels[0], /^Accept/);
    assert.match(labels[1], /^Reject/);
    assert.match(labels[2], /^Show Inline or as Diff/);
    await agent.type("n");
    await gone();
  });

  for (const [name, [, after]] of Object.entries(CODE)) {
    it(`the lines of ${name} before and after the edit are not checked as one program, and have their colors`, async () => {
      const { session } = at.scene;
      const { page } = session;
      const kind = name.split(".").at(-1);
      const problems = (of) => session.probe(`return vscode.languages.getDiagnostics().filter(([uri]) => uri.toString().split("?")[0].endsWith(args[0])).flatMap(([uri, all]) => all.map(({ message }) => uri.scheme + ": " + message))`, of);
      const agent = await at.scene.agent([call("write_file", { path: name, content: after }), { text: "Good." }]);
      await lens("Accept", 0).waitFor({ timeout: 120_000 });
      await until("colors", async () => (await page.locator(".part.editor .editor-instance .view-line").evaluateAll((lines) => new Set(lines.flatMap((line) => [...line.querySelectorAll("span > span")].map((each) => each.className))).size)) > 2);
      // A server that reports on a later text has looked at this one, too.
      const broken = { ts: "const x = ;\n", json: '{"a" 1}\n', css: "a {\n" }[kind];
      fs.writeFileSync(session.file(`broken.${kind}`), broken);
      await session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false })`, session.file(`broken.${kind}`));
      await until("the problems of a broken file", async () => (await problems(`/broken.${kind}`)).length > 0, 120_000);
      assert.deepEqual(await problems(`/${name}`), []);
      await agent.type("n");
      await gone();
    });
  }

  it("its tab is told from that of its file, also in a high-contrast theme, where lines have borders", async () => {
    await configure("workbench.colorTheme", "Default High Contrast");
    await at.scene.session.probe("await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false })", file("contrast"));
    const { agent } = await asked("contrast");
    assert.deepEqual(await at.scene.session.tabs(), ["contrast.txt", "contrast.txt ← agent"]);
    const borders = () => at.scene.session.page.evaluate(() => {
      const drawn = [...document.querySelectorAll(".part.editor .view-overlays > div > .cdr")].filter((each) => getComputedStyle(each).borderTopStyle === "dashed");
      const found = drawn.map((each) => ({ top: each.getBoundingClientRect().top, parts: getComputedStyle(each).borderTopColor.match(/[\d.]+/g).map(Number) }));
      return found.sort((a, b) => a.top - b.top).map(({ parts: [red, green, , alpha = 1] }) => (alpha === 0 ? "none" : red > green ? "red" : "green"));
    });
    assert.deepEqual(await until("four lines with a border", async () => {
      const seen = await borders();
      return seen.length === 4 && !seen.includes("none") && seen;
    }), ["red", "green", "red", "green"]);
    await agent.type("n");
    await gone();
  });

  it("keys decide change by change, in order", async () => {
    const { agent, same } = await asked("keys");
    await inText();
    const line = (wanted) => until(`the cursor in line ${wanted}`, async () => (await at.scene.session.probe("return vscode.window.activeTextEditor.selection.active.line")) === wanted);
    await press("Control+Home");
    await line(0);
    await press("Alt+F5");
    await line(5);
    await press("Shift+Alt+F5");
    await line(0);
    await press("Alt+n");
    await shows("keys", "one\ntwo\nthree\nfour\nfive\nFIVE\n");
    await line(5 - 1);
    same();
    await press("Alt+y");
    await agent.told(1);
    assert.equal(read("keys"), "one\ntwo\nthree\nfour\nFIVE\n");
    await gone();
  });

  it("Ctrl+Enter accepts all that is left, and inserts no line", async () => {
    const { agent } = await asked("enter");
    await inText();
    await answer("Control+Enter");
    assert.doesNotMatch(await agent.told(1), /changed the proposal/);
    assert.equal(read("enter"), BOTH);
    await gone();
  });

  it("keys that come before the review could be seen answer nothing, and do not reach the text", async () => {
    const { agent, same } = await asked("soon");
    await inText();
    await at.scene.bench.titleButton("Accept").and(at.scene.session.page.locator(":not(.disabled)")).waitFor();
    const fresh = (is) => at.scene.session.probe(`await vscode.commands.executeCommand("setContext", "agent.freshReview", args[0])`, is);
    await fresh(true);
    for (const key of ["Control+Enter", "Control+Shift+Backspace", "Control+s"]) {
      await press(key);
      await at.scene.session.page.locator(".statusbar-item", { hasText: "The review has just appeared" }).waitFor();
      assert.equal(await shown("soon"), MERGED, key);
      await until("the message to go", async () => (await at.scene.session.page.locator(".statusbar-item", { hasText: "The review has just appeared" }).count()) === 0);
    }
    same();
    await agent.asks();
    await fresh(false);
    await answer("Control+Enter");
    assert.match(await agent.told(1), /^Wrote soon\.txt/);
    assert.equal(read("soon"), BOTH);
  });

  it("everything is rejected from the title bar", async () => {
    const { agent, same } = await asked("all");
    await at.scene.bench.press("Reject");
    await agent.asksNothing();
    same();
    await gone();
  });

  it("the terminal answers: typing in the text counts; a removed line cannot be changed", async () => {
    const { agent } = await asked("terminal");
    await inText();
    await press("Control+End");
    await at.scene.session.page.keyboard.type("six");
    await shows("terminal", `${MERGED}six`);
    await press("Control+Home");
    await at.scene.session.page.keyboard.type("x");
    await shows("terminal", `${MERGED}six`);
    await agent.shows("y takes that text");
    await agent.yes();
    assert.match(await agent.told(1), /^Wrote terminal\.txt/);
    assert.equal(read("terminal"), `${BOTH}six`);
    await gone();
  });

  it("the terminal says no: another file's unsaved text stays as it is", async () => {
    const { agent, same } = await asked("focus");
    await at.scene.session.typeInto(file("mine"), "still ");
    await agent.type("n");
    await agent.asksNothing();
    await gone();
    same();
    assert.equal(await at.scene.session.probe(`return ${find("file")}.getText()`, file("mine")), "still mine\n");
    assert.equal(await at.scene.session.probe("return vscode.window.activeTextEditor.document.uri.fsPath"), file("mine"));
  });

  it("undo takes back what was decided of a change", async () => {
    const { agent } = await asked("undo");
    await inText();
    await press("Control+Home");
    await until("the cursor to be there", async () => (await at.scene.session.probe("return vscode.window.activeTextEditor.selection.active.line")) === 0);
    await press("Alt+n");
    await shows("undo", "one\ntwo\nthree\nfour\nfive\nFIVE\n");
    await press("Control+z");
    await shows("undo", MERGED);
    await lens("Accept", 1).waitFor();
    await answer("Control+Enter");
    await agent.told(1);
    assert.equal(read("undo"), BOTH);
  });

  it("Ctrl+S accepts the rest", async () => {
    const { agent } = await asked("saved");
    await inText();
    await answer("Control+s");
    assert.match(await agent.told(1), /^Wrote saved\.txt/);
    assert.equal(read("saved"), BOTH);
    await gone();
  });

  it("no save of any kind, and no automatic one, writes an undecided byte or answers", async () => {
    const { agent, same } = await asked("other");
    const watched = watchFile(file("other"));
    const uri = `vscode.Uri.file(args[0])`;
    const saves = [
      () => at.scene.session.probe(`await vscode.commands.executeCommand("workbench.action.files.saveAll")`),
      () => at.scene.session.probe(`await vscode.commands.executeCommand("workbench.action.files.saveWithoutFormatting")`),
      () => at.scene.session.probe(`await vscode.workspace.saveAll()`),
      () => at.scene.session.probe(`await ${find("agent-inline")}.save()`, file("other")),
      () => at.scene.session.probe(`await (await vscode.workspace.openTextDocument(${uri})).save()`, file("other")),
    ];
    for (const mode of ["off", "afterDelay", "onFocusChange"]) {
      await configure("files.autoSave", mode);
      await configure("files.autoSaveDelay", 50);
      for (const save of saves) {
        await inText();
        await press("Control+End");
        await at.scene.session.page.keyboard.type("x");
        await shows("other", `${MERGED}x`);
        await save();
        await press("Backspace");
        await shows("other", MERGED);
      }
      await at.scene.session.probe(`await vscode.window.showTextDocument(${uri}, { preview: false })`, file("mine"));
      await at.scene.bench.statusItem("1 to review").click();
      await lens("Accept", 1).waitFor();
    }
    await configure("files.autoSave", "off");
    assert.equal(await tabs(), 1);
    await agent.asks();
    assert.deepEqual(await watched.stop(), []);
    same();
    await agent.yes();
    assert.match(await agent.told(1), /^Wrote other\.txt/);
    assert.equal(read("other"), BOTH);
  });

  it("its tab is closed: that is no answer, and it can be seen again", async () => {
    const { agent, same } = await asked("close");
    await at.scene.bench.closeActiveTab();
    await gone();
    await agent.asks();
    same();
    await at.scene.bench.statusItem("1 to review").click();
    await lens("Accept", 1).waitFor();
    await agent.yes();
    assert.match(await agent.told(1), /^Wrote close\.txt/);
    await gone();
  });

  it("the file is changed by somebody else: that stays, and a yes writes nothing", async () => {
    const { agent } = await asked("disk");
    fs.writeFileSync(file("disk"), "other\n");
    await agent.yes();
    assert.match(await agent.told(1), /^disk\.txt changed while the edit was being reviewed/);
    assert.equal(read("disk"), "other\n");
    await gone();
  });

  it("one review is switched to a diff and back, with what was typed", async () => {
    const { agent } = await asked("toggle");
    await inText();
    await press("Control+End");
    await at.scene.session.page.keyboard.type("six");
    await shows("toggle", `${MERGED}six`);
    await switchToDiff();
    await at.scene.bench.typeAtEnd("\nseven");
    await at.scene.bench.press("Show Inline or as Diff");
    await lens("Accept", 1).waitFor();
    await until("both typed lines", async () => /^one\nONE\ntwo\nthree\nfour\nfive\n[^]*FIVE\nsix\nseven$/.test((await shown("toggle")) ?? ""));
    await switchToDiff();
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(1), /^Wrote toggle\.txt/);
    assert.equal(read("toggle"), `${BOTH}six\nseven`);
  });

  it("a change that was decided stays so after a look at the diff", async () => {
    const { agent } = await asked("again");
    await lens("Accept").click();
    await until("one change to be left", async () => (await at.scene.session.page.locator(".codelens-decoration a", { hasText: /Accept\s+(Ctrl|⌘)/ }).count()) === 1);
    const decided = await shown("again");
    await switchToDiff();
    await at.scene.bench.press("Show Inline or as Diff");
    await until("the review in one text", async () => (await tabs()) === 1);
    await shows("again", decided);
    await agent.type("n");
    await agent.asksNothing();
  });

  it("what is typed while a review is switched to the other view goes along", async () => {
    const { agent } = await asked("typed");
    /** Switches the view, and types a letter while the text is saved, which comes before its tab is closed. */
    const switchTyping = (from, letter) => at.scene.session.probe(`
      const left = ${find(from)};
      const saving = vscode.workspace.onWillSaveTextDocument((event) => {
        if (event.document !== left) return;
        saving.dispose();
        event.waitUntil(vscode.commands.executeCommand("type", { text: args[1] }));
      });
      const typed = new Promise((resolve) => {
        const changing = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
          if (document === left && contentChanges[0]?.text === args[1]) resolve(changing.dispose());
        });
      });
      await Promise.all([vscode.commands.executeCommand("agent.toggleView"), typed]);
    `, file("typed"), letter);
    await inText();
    await press("Control+End");
    await at.scene.session.page.keyboard.type("si");
    await switchTyping("agent-inline", "x");
    await at.scene.bench.diffShown();
    assert.equal(await at.scene.session.probe(`return ${find("agent-proposed")}.getText()`, file("typed")), `${BOTH}six`);
    await at.scene.bench.typeAtEnd("\nseve");
    await switchTyping("agent-proposed", "n");
    await shows("typed", "one\nONE\ntwo\nthree\nfour\nfive\nFIVE\nsix\nseven");
    await agent.type("n");
    await agent.asksNothing();
  });

  it("its tab is reported after the answer: it closes", async () => {
    const { agent } = await asked("late");
    const uri = await at.scene.session.probe(`return ${find("agent-inline")}.uri.toString()`, file("late"));
    await agent.type("n");
    await agent.asksNothing();
    await gone();
    await at.scene.session.probe(`await vscode.commands.executeCommand("vscode.open", vscode.Uri.parse(args[0]))`, uri);
    await gone();
  });

  it("the agent's link is lost: the review goes, and the file is as it was", async () => {
    const { same } = await asked("link");
    await at.scene.session.probe(`for (const terminal of vscode.window.terminals) terminal.dispose()`);
    await gone();
    same();
  });

  it("the window is reloaded: the review comes again", async () => {
    const { agent, same } = await asked("reload");
    await inText();
    await press("Control+End");
    await at.scene.session.page.keyboard.type("six");
    // VS Code restores as unsaved the text that it has kept.
    const kept = path.join(at.scene.session.host.root, "data/User/Backups");
    const isKept = (name) => !fs.statSync(path.join(kept, name)).isDirectory() && fs.readFileSync(path.join(kept, name), "utf8").endsWith("six");
    await until("the typed text to be kept", () => fs.readdirSync(kept, { recursive: true }).some(isKept));
    const { pid } = await at.scene.session.lock();
    await at.scene.bench.command("Developer: Reload Window");
    await at.scene.session.backAfter(pid);
    await lens("Accept", 1).waitFor({ timeout: 120_000 });
    same();
    await until("one review, and no tab of the earlier window", async () => (await tabs()) === 1);
    await agent.type("n");
    await agent.asksNothing();
    same();
    await gone();
  });

  it("the extension host is killed: the same", async () => {
    const { agent, same } = await asked("kill");
    const { pid } = await at.scene.session.lock();
    process.kill(pid, "SIGKILL");
    await at.scene.session.backAfterKill(pid);
    await lens("Accept", 1).waitFor({ timeout: 120_000 });
    same();
    await agent.type("n");
    await agent.asksNothing();
    same();
  });
});
