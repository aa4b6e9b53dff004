// A window, a model and agents in its integrated terminals: the setting of a scenario.
import fs from "node:fs";
import path from "node:path";
import { after, afterEach, before } from "node:test";

import { VARIABLE } from "./canary.mjs";
import { Model } from "./model.mjs";
import { keepSettings, startSession } from "./session.mjs";
import { until } from "./wait.mjs";

/** The keys that the terminal's panel offers during a question. */
const PANEL = "y yes ·";

/** Starts a window (see startSession) and a model server that its agents use. */
export async function startScene(options = {}) {
  const model = await Model.start();
  try {
    const session = await startSession(options);
    return new Scene(session, model);
  } catch (error) {
    await model.stop();
    throw error;
  }
}

export class Scene {
  constructor(session, model) {
    this.session = session;
    this.model = model;
    this.started = 0;
    fs.mkdirSync(session.host.agentHome, { recursive: true, mode: 0o700 });
    const config = { model: "scene/any", providers: { scene: { base_url: model.url, api_key_env: VARIABLE } } };
    session.host.models.push(new URL(model.url).host);
    fs.writeFileSync(path.join(session.host.agentHome, "config.yaml"), JSON.stringify(config), { mode: 0o600 });
  }

  get bench() {
    return this.session.bench;
  }

  /** A new conversation, whose turns the model plays; its name is the prompt to begin with. */
  conversation(turns) {
    const prompt = `scene-${++this.started}`;
    this.model.play(prompt, turns);
    return prompt;
  }

  /** Starts an agent in a new integrated terminal; the model plays turns. options: cwd, flags, env. */
  async agent(turns, options = {}) {
    const agent = new Agent(this, this.conversation(turns), options.window ?? this.session);
    const words = ["agent", ...(options.flags ?? []), agent.prompt];
    await agent.window.probe(
      `const terminal = vscode.window.createTerminal({ name: args[0], cwd: args[1], env: args[3] });
       terminal.show(); terminal.sendText(args[2]);`,
      agent.prompt,
      options.cwd ?? agent.window.folder,
      words.map((word) => `'${word}'`).join(" "),
      options.env ?? {},
    );
    return agent;
  }

  /** The agent that the person starts in the terminal of this name, for the conversation of prompt. */
  agentOf(prompt, terminal) {
    return new Agent(this, prompt, this.session, terminal);
  }

  /** The same as agent with a first answer, "Hello.", when that is given and the editor is linked: turns answer the prompts after it. */
  async linkedAgent(turns, options) {
    const agent = await this.agent([{ text: "Hello." }, ...turns], options);
    await agent.shows("· code-server");
    await agent.shows("Hello.");
    await agent.idle();
    return agent;
  }

  /** Puts the window back as it was: no question, no agent, no editor, no diff. */
  async clean() {
    if (this.session.host.hasEnded) return;
    await this.bench.leaveQuestions();
    await this.session.probe(
      `for (const terminal of vscode.window.terminals) terminal.dispose();
       for (const document of vscode.workspace.textDocuments.filter((each) => each.isDirty && each.uri.scheme === "file")) {
         await vscode.window.showTextDocument(document);
         await vscode.commands.executeCommand("workbench.action.files.revert");
       }`,
    );
    await this.session.noDiffs();
    await this.session.closeEditors();
  }

  async stop() {
    try {
      await this.session.stop();
    } finally {
      await this.model.stop();
    }
  }
}

/** A scene for the tests of a file; at.scene is there while they run. */
export function stage(options) {
  const at = { scene: undefined };
  before(async () => void (at.scene = await startScene(options)));
  after(() => at.scene?.stop());
  keepSettings(() => at.scene.session);
  afterEach(async (t) => {
    if (t.passed === false) await at.scene.session.keep(t.name);
    await at.scene.clean().catch(async (error) => {
      if (t.passed !== false) await at.scene.session.keep(t.name);
      throw new Error(`${error.message}; ${await at.scene.bench.state()}`);
    });
  });
  return at;
}

/** An agent in an integrated terminal of a window, known by its prompt; so is the terminal, unless it is named. */
export class Agent {
  constructor(scene, prompt, window, terminal = prompt) {
    this.scene = scene;
    this.prompt = prompt;
    this.window = window;
    this.terminal = terminal;
  }

  /** The tools' results before the model's n-th answer; waits for it. */
  async told(n, ms) {
    try {
      return await this.scene.model.told(this.prompt, n, ms);
    } catch (error) {
      throw new Error(`${error.message}; ${await this.window.bench.state()}`);
    }
  }

  /** Types into the terminal, wherever the focus is; a window that was loaded again gets it back after a while. */
  type(text) {
    if (text === "y") text = `${"\x1b[6~".repeat(12)}y`; // it counts once the end of the diff was on the screen
    const code = `const terminal = vscode.window.terminals.find((each) => each.name === args[0]);
      terminal?.sendText(args[1], false); return terminal !== undefined`;
    return until(`the terminal ${this.terminal}`, () => this.window.probe(code, this.terminal, text));
  }

  /** Brings the terminal to the front of the panel. */
  show() {
    return this.window.probe(`vscode.window.terminals.find((terminal) => terminal.name === args[0]).show(true)`, this.terminal);
  }

  /** Ends the agent by closing its terminal. */
  end() {
    return this.window.probe(`vscode.window.terminals.find((terminal) => terminal.name === args[0]).dispose()`, this.terminal);
  }

  /** Waits until the terminal, which is at the front, shows text. */
  shows(text, ms) {
    return this.window.terminalShows(text, ms);
  }

  /** Waits until the window leaves the agent's keys to it, in the terminal at the front. */
  hasKeys() {
    return this.window.agentHasKeys();
  }

  /** Waits until the terminal asks and takes answers, which it says by color. */
  async asks(ms = 60_000, offer = PANEL) {
    await this.shows(offer, ms);
    await until("the terminal's panel to take keys", () => this.window.page.evaluate(isArmed, offer), ms);
  }

  /** Answers yes, and once more if the editor, on a busy machine, was too slow to report whether the text was changed there. */
  async yes() {
    const again = /Say\s+yes\s+again/;
    const shown = await this.window.diffs();
    await this.window.keepsUp();
    await this.type("y");
    const text = () => this.window.bench.terminalText();
    // The panel goes while the editor is asked, and comes again if it does not answer; the diffs go with the question.
    const isTaken = async () => !(await text()).includes(PANEL) && !(await this.window.diffs()).some((each) => shown.includes(each));
    await until("the answer to be taken", async () => again.test(await text()) || (await isTaken()));
    if (!again.test(await text())) return;
    await this.asks();
    await this.window.keepsUp();
    await this.type("y");
  }

  /** Waits until the agent, whose terminal is at the front, has nothing to do. */
  idle(ms = 60_000) {
    const busy = /Esc stops/;
    return until("the agent to be done", async () => !busy.test((await this.window.bench.terminalText()).replaceAll(/\s+/g, " ")), ms);
  }

  /** Waits until the terminal no longer asks. */
  asksNothing(ms) {
    return until("the terminal's panel to go", async () => !(await this.window.bench.terminalText()).includes(PANEL), ms);
  }
}

/** Runs in the page: whether the line that offers the keys is blue, and not grey. */
function isArmed(offer) {
  const rows = [...document.querySelectorAll(".terminal-wrapper.active .xterm-rows > div")];
  const row = rows.findLast((each) => each.textContent.replaceAll("\u00a0", " ").includes(offer));
  const span = [...(row?.querySelectorAll("span") ?? [])].find((each) => each.textContent.includes(offer.split(" ")[1]));
  if (span === undefined) return false;
  const [red, , blue] = getComputedStyle(span).color.match(/\d+/g).map(Number);
  return blue - red > 80;
}

/** Files that must not change when nothing is written; the returned function checks them. */
export function unchanged(file, assert) {
  const look = () => {
    const { ino, mtimeNs, size } = fs.statSync(file, { bigint: true });
    return { ino, mtimeNs, size, bytes: fs.readFileSync(file).toString("hex") };
  };
  const before = look();
  return () => assert.deepEqual(look(), before);
}
