// Terminal agents of others, as npm has them, in the integrated terminals of a window.
import fs from "node:fs";
import path from "node:path";

import { VARIABLE } from "./canary.mjs";
import { install } from "./install.mjs";
import { lacks, programOf } from "./others.mjs";
import { until } from "./wait.mjs";

const call = (tool, args) => ({ text: "I do that.", calls: [{ tool, args }] });

function put(home, name, content) {
  const file = path.join(home, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, JSON.stringify(content));
}

/** Each with the turns by which its model edits a file, whether its question outlives the window, the command by which it finds a window again, the files and variables of a person who uses it, and its command. */
export const GUESTS = [
  {
    name: "Claude Code",
    missing: lacks("@anthropic-ai/claude-code", "390 MB"),
    turns: (file, from, to) => [call("Read", { file_path: file }), call("Edit", { file_path: file, old_string: from, new_string: to }), { text: "Done it." }],
    command: () => [programOf("@anthropic-ai/claude-code"), "--permission-mode", "default"],
    home(home, folder) {
      const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
      put(home, ".claude.json", { hasCompletedOnboarding: true, lastOnboardingVersion: "2.1.332", theme: "dark", projects: { [folder]: project } });
    },
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: "none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" }),
    asks: "Do you want to make this edit",
    asksOn: true,
  },
  {
    name: "Gemini CLI",
    missing: lacks("@google/gemini-cli", "100 MB"),
    turns: (file, from, to) => [call("replace", { file_path: file, old_string: from, new_string: to, instruction: "Change the line." }), { text: "Done it." }],
    command: () => [install("current").node, fs.realpathSync(programOf("@google/gemini-cli")), "-m", "gemini-2.5-pro"],
    home(home) {
      const text = "\\\r\n";
      const keys = ["shift+enter", "ctrl+enter"].map((key) => ({ key, command: "workbench.action.terminal.sendSequence", when: "terminalFocus", args: { text } }));
      put(home, ".config/Code/User/keybindings.json", keys);
      const security = { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } };
      put(home, ".gemini/settings.json", { security, ide: { enabled: true, hasSeenNudge: true }, general: { enableAutoUpdate: false }, privacy: { usageStatisticsEnabled: false } });
    },
    env: (url) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_NO_RELAUNCH: "true" }),
    asks: "Apply this change?",
    again: "/ide enable",
    asksOn: false, // a question that has lost its editor may take no answer anymore
  },
];

/** One that runs in a terminal of a session's window, with a model of its own. */
export class RunningGuest {
  constructor(guest, session, model) {
    Object.assign(this, { guest, session, model });
  }

  /** Starts it in a new terminal, waits until the window has it, and lets it edit a file; before that its model plays other turns. */
  static async start(guest, session, model, file, before = []) {
    const running = new RunningGuest(guest, session, model);
    model.play([...before, ...guest.turns(file, "two", "TWO")]);
    guest.home(session.host.env.HOME, session.folder);
    const line = guest.command().map((word) => `'${word}'`).join(" ");
    const env = { ...guest.env(model.url), [VARIABLE]: null };
    await until("the one before to be gone", async () => !(await running.isConnected()));
    const open = `const terminal = vscode.window.createTerminal({ name: args[0], cwd: args[1], env: args[3] });
      terminal.show(); terminal.sendText(args[2]);`;
    await session.probe(open, guest.name, session.folder, line, env);
    await until(`${guest.name} to be connected`, () => running.isConnected());
    await running.say("hello");
    return running;
  }

  async isConnected() {
    const label = await this.session.page.locator(".statusbar-item a[aria-label*='Agent'], .statusbar-item [aria-label*='Port']").evaluateAll((all) => all.map((each) => each.getAttribute("aria-label")).join("\n"));
    return label.includes(`${this.guest.name}: `);
  }

  /** Types a prompt and sends it when it is there: a program that starts takes no keys yet. */
  async say(text) {
    await until("the prompt to be typed", async () => {
      if ((await this.text()).includes(text)) return true;
      await this.type(text);
      return until("it to be painted", async () => (await this.text()).includes(text), 5_000).catch(() => false);
    });
    const asked = this.model.requests.length;
    await until("the prompt to be sent", async () => {
      await this.type("\r");
      return until("the model to be asked", () => this.model.requests.length > asked, 5_000).catch(() => false);
    });
  }

  /** Has it connect by its command, when it has lost the window. */
  async connectAgain() {
    const { again } = this.guest;
    const painted = async () => (await this.text()).split(again).length; // its own advice has the command, too
    const before = await painted();
    await until("the command to be typed", async () => {
      await this.type(again);
      return until("it to be painted", async () => (await painted()) > before, 5_000).catch(() => false);
    });
    await until(`${this.guest.name} to be connected again`, async () => {
      await this.type("\r"); // the first may only complete the command
      return until("the connection", () => this.isConnected(), 5_000).catch(() => false);
    });
  }

  /** Says yes to its question, again if the key was lost in a terminal that the window has just found again. */
  async confirm(isDone) {
    await until("the yes to count", async () => {
      await this.type("\r");
      return until("its effect", isDone, 10_000).catch(() => false);
    });
  }

  async type(text) {
    await this.session.probe(`vscode.window.terminals.find((each) => each.name === args[0]).sendText(args[1], false)`, this.guest.name, text);
  }

  async text() {
    await this.session.probe(`vscode.window.terminals.find((each) => each.name === args[0]).show(true)`, this.guest.name);
    return (await this.session.bench.terminalText()).replaceAll(/\s+/g, " ");
  }

  /** Waits until its terminal asks. */
  asks() {
    return until("its terminal to ask", async () => (await this.text()).includes(this.guest.asks));
  }

  asksNothing() {
    return until("its question to go", async () => !(await this.text()).includes(this.guest.asks));
  }

  /** Waits until its model was told the result of the edit. */
  told() {
    return until("the result to be told", () => this.model.told(this.model.turns.length - 1));
  }
}
