// The agent in a terminal that belongs to no editor.
import { spawn } from "node:child_process";
import { once } from "node:events";

import { until } from "./wait.mjs";

export class Pty {
  constructor(child) {
    this.child = child;
    this.output = "";
    this.closed = once(child, "close");
    child.stdout.on("data", (data) => (this.output += data.toString("utf8")));
  }

  /** Runs words on a terminal of 110 columns and 40 lines. */
  static start(words, { cwd, env }) {
    const line = `stty cols 110 rows 40; exec ${words.map((word) => `'${word}'`).join(" ")}`;
    const child = spawn("script", ["-qfec", line, "/dev/null"], { cwd, env: { ...env, TERM: "xterm-256color", SHELL: "/bin/sh" } });
    return new Pty(child);
  }

  /** Waits until text was painted since the last mark. */
  paints(text, ms = 60_000) {
    const plain = () => this.output.replaceAll(/\x1b\[[0-9;?>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)/g, "").replaceAll(/\s+/g, " ");
    return until(`the terminal to paint ${JSON.stringify(text)}`, () => plain().includes(text), ms).catch((error) => {
      throw new Error(`${error.message}; it painted:\n${plain().slice(-2_000)}`);
    });
  }

  mark() {
    this.output = "";
  }

  type(text) {
    this.child.stdin.write(text);
  }

  async stop() {
    this.child.kill("SIGKILL");
    await this.closed;
  }
}
