// A window, a model and agents in its integrated terminals: what a scenario needs.
import fs from "node:fs";
import path from "node:path";

import { Model } from "./model.mjs";
import { startSession } from "./session.mjs";
import { until } from "./wait.mjs";

/** What the terminal's panel offers while a question stands there. */
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
    const config = { model: "scene/any", providers: { scene: { base_url: model.url } } };
    fs.writeFileSync(path.join(session.host.agentHome, "config.yaml"), JSON.stringify(config), { mode: 0o600 });
  }

  get bench() {
    return this.session.bench;
  }

  /** Starts an agent in a new integrated terminal; the model plays turns. options: cwd, flags. */
  async agent(turns, options = {}) {
    const agent = new Agent(this, `scene-${++this.started}`);
    this.model.play(agent.prompt, turns);
    const words = ["agent", ...(options.flags ?? []), agent.prompt];
    await this.session.probe(
      `const terminal = vscode.window.createTerminal({ name: args[0], cwd: args[1] });
       terminal.show(); terminal.sendText(args[2]);`,
      agent.prompt,
      options.cwd ?? this.session.folder,
      words.map((word) => `'${word}'`).join(" "),
    );
    return agent;
  }

  /** Puts the window back as it was: no agent, no editor, no diff. */
  async clean() {
    await this.session.probe(
      `for (const terminal of vscode.window.terminals) terminal.dispose();
       for (const document of vscode.workspace.textDocuments.filter((each) => each.isDirty && each.uri.scheme === "file")) {
         await vscode.window.showTextDocument(document);
         await vscode.commands.executeCommand("workbench.action.files.revert");
       }`,
    );
    await this.session.noDiffs();
    await this.session.probe(`await vscode.commands.executeCommand("workbench.action.closeAllEditors")`);
  }

  async stop() {
    await this.session.stop();
    await this.model.stop();
  }
}

/** An agent in an integrated terminal, known by its prompt. */
export class Agent {
  constructor(scene, prompt) {
    this.scene = scene;
    this.prompt = prompt;
  }

  /** What the model was told before its n-th answer; waits for it. */
  told(n, ms) {
    return this.scene.model.told(this.prompt, n, ms);
  }

  /** Types into the terminal, whatever has the focus. */
  type(text) {
    return this.scene.session.probe(
      `vscode.window.terminals.find((terminal) => terminal.name === args[0]).sendText(args[1], false)`,
      this.prompt,
      text,
    );
  }

  /** Brings the terminal to the front of the panel. */
  show() {
    return this.scene.session.probe(
      `vscode.window.terminals.find((terminal) => terminal.name === args[0]).show(true)`,
      this.prompt,
    );
  }

  shows(text, ms) {
    return this.scene.session.terminalShows(text, ms);
  }

  /** Waits until the terminal asks. */
  asks(ms) {
    return this.shows(PANEL, ms);
  }

  /** Waits until the terminal does not ask any more. */
  asksNothing(ms = 5_000) {
    return until("the terminal's panel to go", async () => !(await this.scene.bench.terminalText()).includes(PANEL), ms);
  }
}

/** What must not change when nothing is written; the returned function checks it. */
export function unchanged(file, assert) {
  const look = () => {
    const { ino, mtimeNs, size } = fs.statSync(file, { bigint: true });
    return { ino, mtimeNs, size, bytes: fs.readFileSync(file).toString("hex") };
  };
  const before = look();
  return () => assert.deepEqual(look(), before);
}
