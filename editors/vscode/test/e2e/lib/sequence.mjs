// Random changes of the files of a folder, by a model and a person, in the integrated
// terminal and in the editor. After each step the files are compared with the expected ones.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { Chance } from "../../flood.mjs";
import { Ledger, snapshot, textIn, withText } from "./ledger.mjs";
import { call, edit } from "./model.mjs";
import { until, within } from "./wait.mjs";

/** The files that are opened in the editor; commands know some more. */
const TEXTS = ["a.txt", "b.txt", "sub/c.txt", "new/deep/d.txt"];
const START = { "a.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\n", "b.txt": "b\n", "sub/c.txt": "c\n", tool: "#!/bin/sh\n" };

/** An agent in the integrated terminal that serves one sequence after the other. */
export class Terminal {
  constructor(scene) {
    this.scene = scene;
    this.marks = 0;
    // Each command is the same line, which a rule allows, and runs this file.
    this.script = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "agent-sequence-")), "step.sh");
    this.command = `sh ${this.script}`;
  }

  static async start(scene) {
    const terminal = new Terminal(scene);
    const config = path.join(scene.session.host.agentHome, "config.yaml");
    const rest = JSON.parse(fs.readFileSync(config, "utf8"));
    fs.writeFileSync(config, JSON.stringify({ ...rest, permissions: { allow: [`run(${terminal.command})`] } }), { mode: 0o600 });
    terminal.agent = await scene.linkedAgent([]);
    return terminal;
  }

  /** Types a line, and ends it once it is at the prompt: what arrives at once is a paste. */
  async type(line) {
    await this.agent.type(line);
    await this.holds(line);
    await this.agent.type("\r");
  }

  /** Waits until the prompt holds a line. */
  async holds(line) {
    const mark = line.startsWith("!") ? "$!" : "❯";
    const typed = mark + line.replace(/^!/, "").replaceAll(/\s+/g, "");
    let seen = "";
    const held = async () => {
      seen = (await this.scene.bench.terminalText()).replaceAll(/\s+/g, "");
      return seen.slice(seen.lastIndexOf(mark)).startsWith(typed);
    };
    await until(`the prompt to show ${line}`, held).catch((error) => {
      throw new Error(`${error.message}; the terminal shows:\n${seen}`);
    });
  }

  /** Waits until the agent has carried out everything typed so far. */
  async settle() {
    await this.holds("default mode"); // the status below an empty prompt
    const mark = `mark-${++this.marks}.`;
    await this.type(`/rename ${mark}`);
    await this.agent.shows(`renamed: ${mark}`);
    this.mark = mark;
  }

  /** Waits until the terminal shows text that is newer than the last settling. */
  async says(text) {
    let seen = "";
    const said = async () => {
      seen = (await this.scene.bench.terminalText()).replaceAll(/\s+/g, " ");
      return seen.slice(seen.lastIndexOf(`renamed: ${this.mark}`) + 1).includes(text);
    };
    await until(`the terminal to say ${JSON.stringify(text)}`, said).catch((error) => {
      throw new Error(`${error.message}; it shows:\n${seen}`);
    });
  }

  /** Waits until the terminal shows a text no longer. */
  async withdraws(text) {
    const gone = async () => !(await this.scene.bench.terminalText()).replaceAll(/\s+/g, " ").includes(text);
    await until(`the terminal to withdraw ${JSON.stringify(text)}`, gone);
  }

  /** Begins a new session; resolves to its model. */
  async renew() {
    await this.type("/clear");
    await this.settle();
    const player = { answers: new Queue(), results: new Queue() };
    const turns = (messages) => {
      if (messages.at(-1).role === "tool") player.results.put(messages.at(-1).content);
      return player.answers.take();
    };
    player.answers.put({ text: "Hello." });
    await this.type(this.scene.conversation(turns));
    await this.settle();
    return player;
  }
}

/** Values that are taken in the order in which they are put. */
class Queue {
  values = [];
  takers = [];

  put(value) {
    const taker = this.takers.shift();
    if (taker === undefined) this.values.push(value);
    else taker(value);
  }

  take() {
    return this.values.length > 0 ? Promise.resolve(this.values.shift()) : new Promise((resolve) => this.takers.push(resolve));
  }
}

export class Sequence {
  constructor(terminal, seed, counts) {
    this.terminal = terminal;
    this.seed = seed;
    this.counts = counts;
    this.chance = new Chance(seed * 7_919);
    this.name = `s${seed}`;
    this.folder = terminal.scene.session.file(this.name);
    this.ledger = new Ledger();
    this.unsaved = new Map();
    this.typedOver = new Map(); // the texts in the files when the person began to type
    this.prompts = [];
    this.log = [];
    this.number = 0;
  }

  get session() {
    return this.terminal.scene.session;
  }

  async run(steps) {
    for (const [name, text] of Object.entries(START)) {
      fs.mkdirSync(path.dirname(this.file(name)), { recursive: true });
      fs.writeFileSync(this.file(name), text);
    }
    this.disk = snapshot(this.folder);
    this.player = await this.terminal.renew();
    try {
      for (let i = 0; i < steps; i++) await this.step();
      await this.close();
    } catch (error) {
      throw new Error(`seed ${this.seed}, after ${this.log.join("; ")}: ${error.stack}`);
    }
    fs.rmSync(this.folder, { recursive: true });
  }

  file(name) {
    return path.join(this.folder, name);
  }

  async step() {
    const step = this.chance.pick(STEPS.filter((each) => this.can(each)));
    this.counts[step] = (this.counts[step] ?? 0) + 1;
    this.log.push(step);
    await (CALLS.includes(step) ? this.turn(step) : this[step]());
    await this.compare();
  }

  can(step) {
    if (step === "save") return this.savable().length > 0;
    if (step === "type" || step === "look") return this.texts().length > 0;
    if (step === "revert") return this.unsaved.size > 0;
    if (step === "rewind") return this.prompts.length > 0;
    return true;
  }

  /** Fails unless the files and the unsaved texts are as they must be. */
  async compare() {
    assert.deepEqual(Object.fromEntries(snapshot(this.folder)), Object.fromEntries(this.disk));
    const documents = await this.documents();
    const unsaved = Object.fromEntries(documents.filter((each) => each.dirty).map(({ name, text }) => [name, text]));
    assert.deepEqual(unsaved, Object.fromEntries(this.unsaved), "unsaved texts");
  }

  async documents() {
    const code = `return vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === "file" && uri.fsPath.startsWith(args[0] + "/"))
      .map((each) => ({ name: each.uri.fsPath.slice(args[0].length + 1), dirty: each.isDirty, text: each.getText() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))`;
    return this.session.probe(code, this.folder);
  }

  /** The text files that are there, without links on the way. */
  texts() {
    return TEXTS.filter((name) => this.disk.get(name)?.startsWith("file "));
  }

  textOf(name) {
    return textIn(this.disk.get(name));
  }

  // The person in the editor.

  /** Shows a file; a document that is not dirty is read again. */
  async look() {
    const name = this.chance.pick(this.texts());
    this.log.push(name);
    await this.show(name);
  }

  async show(name) {
    await this.session.probe(
      `await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false });
       if (!args[1]) await vscode.commands.executeCommand("workbench.action.files.revert");`,
      this.file(name),
      this.unsaved.has(name),
    );
    if (!this.unsaved.has(name)) await until(`the document ${name}`, async () => (await this.documents()).find((each) => each.name === name)?.text === this.textOf(name));
  }

  async type(name = this.chance.pick(this.texts())) {
    this.log.push(name);
    await this.show(name);
    const typed = `typed ${++this.number}\n`;
    const before = this.unsaved.get(name) ?? this.textOf(name);
    if (!this.unsaved.has(name)) this.typedOver.set(name, before);
    await this.session.typeInto(this.file(name), typed);
    this.unsaved.set(name, typed + before);
  }

  /** The unsaved documents that VS Code saves: their files are there, of the size that they had when the person began to type. */
  savable() {
    return [...this.unsaved.keys()].filter((name) => this.disk.has(name) && this.textOf(name).length === this.typedOver.get(name).length);
  }

  async save() {
    const name = this.chance.pick(this.savable());
    this.log.push(name);
    const code = `return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "file" && uri.fsPath === args[0]).save()`; // not that of a review
    assert.equal(await this.session.probe(code, this.file(name)), true, `${name} is saved`);
    this.isSaved(name);
  }

  /** Throws unsaved text away. */
  async revert() {
    const name = this.chance.pick([...this.unsaved.keys()]);
    if (!this.texts().includes(name)) return;
    this.log.push(name);
    this.unsaved.delete(name);
    await this.show(name);
  }

  /** Notes that unsaved text was saved; a file that was gone is there again. */
  isSaved(name) {
    this.ledger.makeFolders(this.disk, path.dirname(name));
    this.disk.set(name, withText(this.disk.get(name), this.unsaved.get(name)));
    this.unsaved.delete(name);
  }

  /** Another program writes. */
  other() {
    const name = this.chance.pick(["a.txt", "b.txt", "other.txt"]);
    this.log.push(name);
    const write = name === "a.txt" ? fs.appendFileSync : fs.writeFileSync;
    if (!this.disk.has(name) || this.disk.get(name).startsWith("file ")) write(this.file(name), `other ${++this.number}\n`);
    this.disk = snapshot(this.folder);
  }

  // The model and the person in the terminal.

  /** A turn of the model of several calls. */
  several() {
    return this.turn(...Array.from({ length: 2 + this.chance.below(2) }, () => this.chance.pick(CALLS)));
  }

  /** A turn of the model: calls one after the other, until one is refused. */
  async turn(...calls) {
    this.log.push(calls.join("+"));
    this.now = { prompt: `prompt ${this.seed}-${String(++this.number).padStart(3, "0")}.`, isOver: false };
    this.prompts.push({ text: this.now.prompt, point: this.ledger.now });
    this.player.results = new Queue();
    for (const each of calls) {
      if (!this.now.isOver) await this[each]();
    }
    if (!this.now.isOver) this.player.answers.put({ text: "Good." });
    await this.terminal.settle();
  }

  /** Has the model make a call; resolves to the result. */
  async make(made) {
    this.player.answers.put(made);
    if (!this.now.isBegun) await this.terminal.type(this.now.prompt);
    this.now.isBegun = true;
    return this.player.results.take();
  }

  /** A command of the model. */
  async command() {
    this.write();
    await soon(this.make(call("execute_command", { command: this.terminal.command })));
    this.happened("command", this.now.prompt);
  }

  /** A command of the person. */
  async bang() {
    this.write();
    await this.terminal.type(`!${this.terminal.command}`);
    await this.terminal.settle();
    this.happened("command");
  }

  /** Writes the next command's script. */
  write() {
    const lines = Array.from({ length: 1 + this.chance.below(3) }, () => line(this.chance, ++this.number));
    this.log.push(...lines);
    fs.writeFileSync(this.terminal.script, `cd '${this.folder}' || exit 1\n${lines.join("\n")}\ntrue\n`);
  }

  /** Notes the changes of a command. */
  happened(by, turn) {
    const now = snapshot(this.folder);
    this.ledger.record(this.disk, now, by, turn);
    this.disk = now;
  }

  /** Notes the changes of an edit, a removal or a move: the state of each path after it. */
  hasWritten(states) {
    const after = new Map(this.disk);
    for (const [name, state] of Object.entries(states)) {
      if (state === undefined) after.delete(name);
      else {
        this.ledger.makeFolders(after, path.dirname(name));
        after.set(name, state);
      }
    }
    this.ledger.record(this.disk, after, "edit", this.now.prompt);
    this.disk = after;
  }

  /** A new text by the model, accepted in the diff or in the terminal, or refused. */
  async edit() {
    const { agent } = this.terminal;
    const name = this.chance.pick(TEXTS.filter((each) => this.writable(each)));
    this.log.push(name);
    const text = `edit ${++this.number}\n`;
    const told = this.make(call("write_file", { path: `${this.name}/${name}`, content: text }));
    await agent.asks();
    if (this.unsaved.has(name)) {
      await this.terminal.says("unsaved");
      if (this.chance.below(2) === 0) return this.refuse();
      await agent.type("y");
      await this.terminal.withdraws("it has unsaved changes there"); // the next panel is the edit's
      const isWritten = this.disk.has(name) && !this.savable().includes(name); // by another program
      if (isWritten) return assert.match(await soon(told), /could not be saved .*nothing was changed/);
      this.isSaved(name);
    }
    if (await this.isAccepted(told, /^(Wrote|Created) /, name)) this.hasWritten({ [name]: withText(this.disk.get(name), text) });
  }

  /** A change of one line by the model. */
  async change() {
    const name = this.chance.pick(this.texts().filter((each) => !this.unsaved.has(each) && onceIn(this.textOf(each)).length > 0));
    if (name === undefined) return this.edit();
    const text = this.textOf(name);
    const [from, to] = [this.chance.pick(onceIn(text)), `line ${++this.number}`];
    this.log.push(`${name} ${from}`);
    const told = this.make(edit(`${this.name}/${name}`, from, to));
    if (await this.isAccepted(told, /^Wrote /, name)) this.hasWritten({ [name]: withText(this.disk.get(name), text.replace(from, to)) });
  }

  /** A removal by the model. */
  async remove() {
    const name = this.chance.pick(this.texts());
    if (name === undefined) return this.edit();
    this.log.push(name);
    const told = this.make(call("delete_file", { path: `${this.name}/${name}` }));
    if (this.unsaved.has(name)) return assert.match(await soon(told), /unsaved changes in .*nothing was changed/);
    if (await this.isAccepted(told, /^Deleted /, name)) this.hasWritten({ [name]: undefined });
  }

  /** A move by the model, to a place that may be taken. */
  async move() {
    const [name, to] = [this.chance.pick(this.texts()), this.chance.pick([...TEXTS, "new/moved.txt"].filter((each) => this.writable(each)))];
    if (name === undefined) return this.edit();
    this.log.push(`${name} to ${to}`);
    const told = this.make(call("move_file", { path: `${this.name}/${name}`, to: `${this.name}/${to}` }));
    if (this.unsaved.has(name) || this.unsaved.has(to)) return assert.match(await soon(told), /unsaved changes in .*nothing was changed/);
    if (this.disk.has(to)) return assert.match(await soon(told), /nothing was changed: .* exists/);
    if (await this.isAccepted(told, /^Moved /)) this.hasWritten({ [to]: this.disk.get(name), [name]: undefined });
  }

  /**
   * Answers the question about a change in the diff or in the terminal; reports whether with a
   * yes. changed names the file whose text changes: for a program, the diff asks once more.
   */
  async isAccepted(told, result, changed) {
    const { agent, scene } = this.terminal;
    await agent.asks();
    await scene.bench.diffShown();
    const answer = this.chance.below(5);
    if (answer === 0) {
      await this.refuse();
      return false;
    }
    if (answer < 3) {
      const isProgram = changed !== undefined && this.isProgram(changed);
      await scene.bench.press("Accept");
      if (isProgram) await scene.bench.answer("Accept");
    } else {
      await agent.asks();
      await agent.yes();
    }
    assert.match(await soon(told), result);
    await this.isGone();
    return true;
  }

  isProgram(name) {
    const found = fs.statSync(this.file(name), { throwIfNoEntry: false });
    return found?.isFile() === true && (found.mode & 0o111) !== 0;
  }

  /** Waits until an answered question is nowhere any more: the next one is another. */
  async isGone() {
    await this.terminal.agent.asksNothing();
    await this.session.noDiffs();
  }

  /** Says no without a reason, which ends the turn. */
  async refuse() {
    this.log.push("no");
    this.now.isOver = true;
    await this.terminal.agent.asks();
    await this.terminal.agent.type("n");
    await this.isGone();
  }

  /** Whether a file is a file, or can be made. */
  writable(name) {
    if (this.disk.has(name)) return this.disk.get(name).startsWith("file ");
    const folder = path.dirname(name);
    return folder === "." || !this.disk.has(folder) || this.disk.get(folder).startsWith("folder ");
  }

  async undo() {
    await this.takeBack("undo", this.ledger.undo(this.disk, this.unsaved), "undone");
  }

  async undoTurn() {
    await this.takeBack("undo turn", this.ledger.undo(this.disk, this.unsaved, "turn"), "undone");
  }

  async undoFile() {
    const name = this.chance.pick([...TEXTS, "tool"]);
    await this.takeBack(`undo ${this.name}/${name}`, this.ledger.undo(this.disk, this.unsaved, name), "undone");
  }

  async redo() {
    await this.takeBack("redo", this.ledger.redo(this.disk, this.unsaved), "redone");
  }

  async takeBack(command, plan, done) {
    this.log.push(describe(plan));
    await this.terminal.type(`/${command}`);
    if (plan.empty) await this.terminal.says(`there is nothing to ${command.split(" ")[0]}`);
    else if (plan.changes.length === 0) await this.refuses(plan, "undone");
    else await this.answer(plan, done);
    await this.terminal.settle();
  }

  /** Goes back to before a prompt: the files, or the conversation too. */
  async rewind() {
    const at = this.chance.below(this.prompts.length);
    const { text, point } = this.prompts[at];
    const plan = this.ledger.rewind(point, this.disk, this.unsaved);
    this.log.push(text, describe(plan));
    await this.terminal.type("/rewind");
    await this.terminal.says("Go back to before which prompt?");
    await this.terminal.agent.type(text);
    await this.terminal.says(`${text}▏ 1 of `);
    await this.terminal.agent.type("\r");
    await this.terminal.says("What to restore?");
    await this.refuses(plan, "restored");
    const both = this.chance.below(3) === 0;
    if (plan.changes.length === 0) {
      await this.terminal.agent.type("\x07");
      await until("the list to go", async () => !(await this.terminal.scene.bench.terminalText()).includes("What to restore?"));
    } else {
      await this.terminal.agent.type(both ? "\r" : "\x1b[B\r");
      if ((await this.answer(plan, "put back")) && both) {
        this.prompts.splice(at);
        await this.terminal.says("The conversation is back before that prompt");
        await this.terminal.holds(text);
        await this.terminal.agent.type("\x15");
      }
    }
    await this.terminal.settle();
  }

  /** Answers the question of an undo; reports whether it was carried out. */
  async answer(plan, done) {
    const { agent } = this.terminal;
    const asked = async () => {
      if (plan.changes.length === 1) return agent.asks();
      await until("the whole list of files to be seen", async () => {
        const text = await this.terminal.scene.bench.terminalText();
        if (text.includes("scroll to the end before")) {
          await agent.type("\x1b[6~");
          await this.terminal.scene.bench.page.waitForTimeout(500); // a key that comes early restarts the 400 ms before keys count
        }
        return text.includes("y accept the files");
      });
      return agent.asks(60_000, "y accept the files");
    };
    await asked();
    for (const { path: name } of plan.refused) await this.terminal.says(`${this.name}/${name} is unchanged: `);
    for (const name of plan.merged.keys()) await this.terminal.says(`${this.name}/${name} was changed since: this is merged with the later changes`);
    const answer = this.chance.below(8);
    const typed = plan.changes.map(([{ path: name }]) => name).find((name) => this.texts().includes(name));
    if (answer === 0) {
      this.log.push("no");
      await agent.type("n");
      await this.terminal.says(`nothing was ${done}`);
      await this.isGone();
      return false;
    }
    if (answer === 1 && typed !== undefined) {
      await this.type(typed);
      await asked();
      await agent.yes();
      await this.terminal.says(`nothing was ${done}: ${this.name}/${typed} cannot be undone: it has unsaved changes`);
      await this.isGone();
      return false;
    }
    if (answer < 5 && this.hasDiff(plan)) {
      this.log.push("in the diff");
      await this.terminal.scene.bench.diffShown();
      await this.terminal.scene.bench.press("Accept");
    } else await agent.yes();
    const before = this.ledger.now + plan.voids.length;
    this.disk = this.ledger.carryOut(plan, this.disk);
    const restored = this.ledger.now > before;
    await this.terminal.says(restored ? `${done}: ` : `nothing was ${done}; `); // but for folders in use
    await this.isGone();
    return restored;
  }

  /** Whether the editor shows a plan as a diff: a single file. */
  hasDiff({ changes }) {
    const isText = (state) => state === undefined || state.startsWith("file ");
    return changes.length === 1 && TEXTS.includes(changes[0][0].path) && isText(this.disk.get(changes[0][0].path)) && isText(changes[0][0].before);
  }

  async refuses({ refused }, done) {
    for (const { path: name, why } of refused) {
      const reason = why === "unsaved" ? "it has unsaved changes" : "";
      await this.terminal.says(`${this.name}/${name} ${why === "back" ? "needs no change" : `cannot be ${done}: ${reason}`}`);
    }
  }

  /** Closes all documents, whose unsaved texts are the person's to throw away. */
  async close() {
    await this.session.probe(
      `for (const document of vscode.workspace.textDocuments.filter((each) => each.isDirty)) {
         await vscode.window.showTextDocument(document);
         await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
       }
       await vscode.commands.executeCommand("workbench.action.closeAllEditors");`,
    );
    this.unsaved.clear();
    await this.compare();
  }
}

/** The calls of the model. */
const CALLS = ["edit", "edit", "change", "change", "remove", "move", "move", "command"];

const UNDOS = ["undo", "undo", "undoTurn", "undoTurn", "undoFile", "redo", "redo", "rewind", "rewind"];

const STEPS = ["edit", "change", "remove", "move", "several", "several", "several", "command", "bang", ...UNDOS, "revert", "look", "type", "type", "save", "other", "other"];

/** The result of a call, which comes soon after its answer. */
const soon = (told) => within("the result of a call", told);

/** The lines that a text holds exactly once, as a part of a line too. */
const onceIn = (text) => text.split("\n").filter((line) => line !== "" && text.split(line).length === 2);

const describe = ({ changes, refused }) => `(${changes.map(([{ path: name }]) => name)}; not ${refused.map(({ path: name, why }) => `${name}: ${why}`)})`;

/** A random line of a command; none fails. */
function line(chance, number) {
  const [a, b] = [chance.pick([...TEXTS, "tool", "e.bin"]), chance.pick([...TEXTS, "moved"])];
  return chance.pick([
    `mkdir -p $(dirname ${a}); echo made ${number} >> ${a}`,
    `[ -f ${a} ] && sed -i 's/e/E/' ${a}`,
    `[ -f ${a} ] && : > ${a}`,
    `[ -f ${a} ] && sed -i '1s/^/top ${number} /' ${a}`,
    `[ -f ${a} ] && echo more ${number} >> ${a}`,
    `rm -f ${a}`,
    `rm -rf sub`,
    `[ -f ${a} ] && [ -d $(dirname ${b}) ] && mv -f ${a} ${b}`,
    `[ -d sub ] && mv -T sub moved${number}`,
    `[ -f ${a} ] && chmod 7${chance.below(6)}4 ${a}`,
    `[ -d sub ] && chmod 750 sub`,
    `ln -sfn ${a} link${number}`,
    `ln -sfn nowhere dangling`,
    `mkdir -p empty/${number}`,
    `mkdir -p out && for i in 1 2 3 4 5; do echo $i ${number} > out/$i; done`,
    `printf 'a\\0b${number}' > nul`,
  ]);
}
