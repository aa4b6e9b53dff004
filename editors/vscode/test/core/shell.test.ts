// Row B4 below the terminal: running a command and reading its output.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemClock } from "../../src/core/clock";
import type { CommandResult } from "../../src/core/ports";
import { Stripper } from "../../src/core/shell/ansi";
import { end, runChild } from "../../src/core/shell/child";
import { climb, Patience } from "../../src/core/shell/ladder";
import type { Rung } from "../../src/core/shell/ladder";
import { withoutNotice } from "../../src/core/shell/notice";
import { Output } from "../../src/core/shell/output";
import { Relay } from "../../src/core/shell/relay";
import { isWrapped, shellCommand, wrapped } from "../../src/core/shell/wrap";
import { atEnd } from "./ending";
import type { Ends } from "./ending";
import { FakeEditor, isAlive, onPath, tempFolder, until } from "./fakes";
import { tooLong, tricky } from "../tricky.mjs";

describe("what a terminal was sent", () => {
  const cases: [string, string, string][] = [
    ["plain text", "a\r\nb", "a\nb"],
    ["colors and cursor moves", "\u001b[1;31mred\u001b[0m \u001b[2K\u001b[10;3Hx\u001b[?25l", "red x"],
    ["titles, links and marks", "\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b\u001b]8;;\u001b\\", "ab"],
    ["other sequences", "\u001b(B\u001b=\u001b>\u001b7x\u001b8\u001bPdcs\u001b\\y", "xy"],
    ["the marks of shell integration", "\u001b]633;C\u0007out\r\n\u001b]633;D;0\u0007$ prompt", "out\n"],
    ["a carriage return of the program", "10%\r20%\r\r\n", "10%\r20%\r\n"],
    ["a lone escape and a carriage return at the end", "a\u001b", "a"],
    ["a mark without a status", "x\u001b]633;D\u0007y", "x"],
  ];
  for (const [what, sent, want] of cases) {
    it(`is read without control sequences: ${what}, cut anywhere`, () => {
      for (let at = 0; at <= sent.length; at++) {
        const stripper = new Stripper("terminal");
        assert.equal(stripper.take(sent.slice(0, at)) + stripper.take(sent.slice(at)), want, `cut at ${at}`);
      }
      const single = new Stripper("terminal");
      assert.equal(Array.from(sent, (c) => single.take(c)).join(""), want, "one by one");
    });
  }

  it("is not held back by a sequence that never ends", () => {
    const stripper = new Stripper("terminal");
    assert.equal(stripper.take("\u001b]" + "x".repeat(5_000)).length > 4_000, true);
  });
});

describe("what a pipe was sent", () => {
  const cases: [string, string, string][] = [
    ["colors, titles and links", "\u001b[1;31mred\u001b[0m\u001b]0;t\u0007 \u001b]8;;http://x\u001b\\b\u001b]8;;\u001b\\", "red b"],
    ["line endings of the program", "a\r\nb\rc\r", "a\r\nb\rc\r"],
    ["a mark that ends nothing here", "x\u001b]633;D;0\u0007y", "xy"],
    ["a sequence that does not end", "a\u001b[31", "a"],
  ];
  for (const [what, sent, want] of cases) {
    it(`is read without control sequences: ${what}, cut anywhere`, () => {
      for (let at = 0; at <= sent.length; at++) {
        const stripper = new Stripper("pipe");
        assert.equal(stripper.take(sent.slice(0, at)) + stripper.take(sent.slice(at)) + stripper.end(), want, `cut at ${at}`);
      }
    });
  }
});

describe("the places to run a command", () => {
  const ran = (output: string): CommandResult => ({ exitCode: 0, output, captured: true, timedOut: false });
  const lost = { exitCode: null, output: "", captured: false, timedOut: false };
  const cases: [string, (runs: string[]) => Rung[], CommandResult, string[]][] = [
    ["the first that can be had", (runs) => [place(runs, "a"), place(runs, "b")], ran("a"), ["a"]],
    ["the next, where one cannot", (runs) => [() => Promise.resolve(undefined), place(runs, "b")], ran("b"), ["b"]],
    ["the next, where one fails before it runs", (runs) => [() => Promise.reject(new Error("no terminal")), place(runs, "b")], ran("b"), ["b"]],
    ["no other, where one fails afterwards", (runs) => [place(runs, "a", true), place(runs, "b")], lost, ["a"]],
    ["none, where none can be had", () => [() => Promise.resolve(undefined)], lost, []],
  ];
  function place(runs: string[], name: string, fails = false): Rung {
    return () =>
      Promise.resolve(() => {
        runs.push(name);
        return fails ? Promise.reject(new Error("it broke")) : Promise.resolve(ran(name));
      });
  }
  for (const [what, rungs, want, which] of cases) {
    it(`are tried in order: ${what}`, async () => {
      const runs: string[] = [];
      assert.deepEqual(await climb(rungs(runs), new FakeEditor().ports.log), want);
      assert.deepEqual(runs, which);
    });
  }

  it("are waited for after one that was slow, not after two in a row, and again once one has told", () => {
    const patience = new Patience();
    const seen = [patience.isWorthWhile];
    for (const step of ["miss", "heard", "miss", "miss", "heard"] as const) {
      patience[step]();
      seen.push(patience.isWorthWhile);
    }
    assert.deepEqual(seen, [true, true, true, true, false, true]);
  });
});

describe("what the shell itself said after a command", () => {
  const cases: [string, number | null, string, string][] = [
    ["that it was killed", 137, "out\nKilled\n", "out\n"],
    ["that it was ended, with its line", 143, "Terminated              bash -c $'x'\n", ""],
    ["nothing, but the program did", 1, "Killed\n", "Killed\n"],
    ["nothing, but a line in the middle looks like it", 137, "Killed\nout\n", "Killed\nout\n"],
  ];
  for (const [what, code, output, want] of cases) {
    it(`is left out: ${what}`, () => assert.equal(withoutNotice(output, code), want));
  }
});

describe("output", () => {
  it("is kept whole up to twice the bound, then without its middle", () => {
    const output = new Output(10);
    output.add("0123456789abcdefghij");
    assert.equal(output.text, "0123456789abcdefghij");
    for (const c of "klmnopqrstuvwxyz".repeat(5)) output.add(c);
    assert.equal(output.text, "0123456789\n[… 80 characters are left out …]\nqrstuvwxyz");
  });
});

describe("a command as one line", () => {
  it("is tried with 300 different lines, of which the few have some of every kind", () => {
    const [all, few] = [tricky(), tricky(true)];
    assert.deepEqual([all.length, new Set(all).size], [300, 300]);
    assert.ok(few.every((line) => all.includes(line)));
    for (const line of [/<<'?EOF/, /& wait/, /\$!/, /1048576/, /kill -9/, /^\(/, /for n in/, /\| cat/, /x=\$\(/]) assert.ok(few.some((each) => line.test(each)), line.source);
    assert.deepEqual(all.filter((line) => wrapped(line, "/", "bash") === undefined), tooLong);
  });

  it("runs as it would alone in its folder, whatever is in it and wherever it is typed", (t) => {
    const cwd = tempFolder(t);
    for (const command of tricky()) {
      const line = wrapped(command, cwd, "/bin/bash");
      if (line === undefined) continue;
      assert.equal(/[\n\r!\u0000-\u001f]/.test(line), false, line);
      const options = { encoding: "utf8", input: "" } as const;
      const [plain, as] = [spawnSync("bash", ["-c", command], { ...options, cwd }), spawnSync("bash", ["-c", line], { ...options, cwd: "/" })];
      assert.deepEqual([as.status, steady(as.stdout)], [plain.status, steady(plain.stdout)], command);
    }
  });

  it("is made for shells whose end is told, and not of a command that is too long", () => {
    assert.equal(wrapped("it's", "/a/b", "/usr/bin/bash"), `bash -c 'cd -P "$0" && exec bash -c "$1"' /a/b 'it'\\''s'`);
    assert.equal(wrapped("ls", "/a\nb", "bash"), undefined, "a folder that cannot be typed");
    for (const shell of ["/bin/sh", "/bin/zsh", "fish", "pwsh.exe", "C:\\Windows\\System32\\cmd.exe"]) assert.equal(wrapped("ls", "/", shell), undefined);
    assert.equal(wrapped("x".repeat(2_000), "/", "bash"), undefined);
  });

  it("goes to its folder whatever that is called, and does not run without it", (t) => {
    const parent = tempFolder(t);
    for (const name of ["it's", "a b", "$(touch x)", "`y` \"", "-", "ünï\\n"]) {
      const cwd = join(parent, name);
      const line = wrapped("pwd; touch ran", cwd, "bash") ?? "";
      const run = () => spawnSync("bash", ["-c", line], { encoding: "utf8", cwd: parent });
      assert.deepEqual([run().status, existsSync(join(parent, "ran"))], [1, false], name);
      mkdirSync(cwd);
      assert.deepEqual([run().stdout, existsSync(join(cwd, "ran"))], [`${cwd}\n`, true], name);
    }
  });

  it("is reported by bash as it was typed, with and without a history", () => {
    for (const command of tricky()) {
      const line = wrapped(command, "/it's", "bash");
      if (line === undefined) continue;
      const { stdout } = spawnSync("bash", ["-c", `trap 'printf "%s\\0" "$BASH_COMMAND"; exit' DEBUG; ${line}`], { encoding: "utf8" });
      assert.equal(stdout.split("\0")[0], line);
      assert.equal(isWrapped(line), true);
    }
    assert.deepEqual(["", "ls", "bash -c ls"].map(isWrapped), [true, false, false]);
  });

  it("is given to each shell as that takes it", () => {
    assert.deepEqual(shellCommand("/bin/zsh", "a b"), ["/bin/zsh", "-c", "a b"]);
    assert.deepEqual(shellCommand("/usr/bin/nu", "a b"), ["/bin/sh", "-c", "a b"], "no shell that we know");
    assert.deepEqual(shellCommand("C:\\pwsh.exe", "a", "win32"), ["C:\\pwsh.exe", "-NoProfile", "-NonInteractive", "-Command", "a"]);
    assert.deepEqual(shellCommand("C:\\x\\cmd.exe", "a", "win32").slice(1), ["/d", "/s", "/c", "a"]);
    assert.deepEqual(shellCommand("C:\\git\\bash.exe", "a", "win32"), ["C:\\git\\bash.exe", "-c", "a"]);
  });
});

function start(t: Ends, command: string, more: { timeoutMs?: number; cwd?: string; shell?: string; cancelled?: true } = {}) {
  const cancel = new AbortController();
  if (more.cancelled === true) cancel.abort();
  const shown: string[] = [];
  const child = runChild({
    command, cwd: more.cwd ?? "/", timeoutMs: more.timeoutMs ?? 60_000, cancelled: cancel.signal,
    shell: more.shell ?? "/bin/bash", clock: systemClock, env: process.env, shown: (text) => shown.push(text),
  });
  atEnd(t, () => child.kill());
  return { child, cancel, shown };
}

describe("a child", () => {
  for (const shell of ["bash", "sh", "zsh"]) {
    const program = onPath(shell);
    it(`of ${shell} prints and ends exactly as a plain run`, { skip: program === undefined && `no ${shell} here` }, async (t) => {
      let compared = 0;
      for (const command of tricky()) {
        const { child } = start(t, command, { shell: program ?? "" });
        child.input("");
        const plain = spawnSync("/bin/sh", ["-c", 'exec "$@" 2>&1', "sh", program ?? "", "-c", command], { cwd: "/", encoding: "utf8", maxBuffer: 1 << 26 });
        const { exitCode, output } = await child.ended;
        assert.deepEqual([exitCode, steady(output)], [plain.status ?? 128 + constants.signals[plain.signal ?? "SIGKILL"], steady(plain.stdout)], command);
        compared++;
      }
      t.diagnostic(`${compared} command lines compared`);
    });
  }

  it("is read without control sequences, which are shown", async (t) => {
    const { child, shown } = start(t, "printf '\\033[31mred\\033[0m\\r\\n'");
    assert.deepEqual([(await child.ended).output, shown.join("")], ["red\r\n", "\u001b[31mred\u001b[0m\r\n"]);
  });

  it("does not wait for what it leaves in the background", async (t) => {
    const { child } = start(t, "sleep 1000 & echo $!");
    const { exitCode, output } = await child.ended;
    assert.equal(exitCode, 0);
    assert.equal(isAlive(Number(output)), true);
    process.kill(Number(output));
  });

  it("has its output read, even by a process that was held up when it ended", async (t) => {
    const folder = tempFolder(t);
    const [go, printed] = [join(folder, "go"), join(folder, "printed")];
    const script = "until [ -e go ]; do sleep 0.01; done; echo out; : >printed; exec sleep 1000";
    const child = spawn("/bin/sh", ["-c", script], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
    atEnd(t, () => child.kill());
    let output = "";
    child.stdout.on("data", (data: Buffer) => (output += data.toString()));
    // After this phase of the event loop come the timers, and only then readable streams.
    await new Promise((done) => setImmediate(done));
    const ended = end(child, systemClock);
    child.emit("exit", 0, null);
    writeFileSync(go, "");
    const heldUp = Date.now() + 500;
    while (!existsSync(printed) || Date.now() < heldUp) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    assert.deepEqual([await ended, output], [0, "out\n"]);
  });

  it("takes keystrokes, and Ctrl-C", async (t) => {
    const typed = start(t, "read -r line; echo \"got $line\"");
    typed.child.input("hello\n");
    assert.deepEqual((await typed.child.ended).output, "got hello\n");
    const interrupted = start(t, "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done");
    await until("it runs", () => interrupted.shown.join("") === "ready\n");
    interrupted.child.interrupt();
    const { exitCode, output } = await interrupted.child.ended;
    assert.deepEqual([exitCode, output], [5, "ready\ncaught\n"]);
  });

  it("that is cancelled ends with all that it has started, even what has left its group", async (t) => {
    const cwd = tempFolder(t);
    const { child, cancel } = start(t, "setsid sh -c 'echo $$ > far; sleep 1000' & sh -c 'echo $$ > near; sleep 1000'", { cwd });
    const pids = (): number[] => ["far", "near"].map((name) => Number(existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : 0));
    await until("both run", () => pids().every((pid) => pid > 0));
    cancel.abort();
    assert.equal((await child.ended).exitCode, null);
    await until("both have ended", () => !pids().some(isAlive));
  });

  it("that is cancelled before it begins does not run", async (t) => {
    const cwd = tempFolder(t);
    const { child, shown } = start(t, "touch ran; echo ran", { cwd, cancelled: true });
    child.input("x");
    child.interrupt();
    assert.deepEqual(await child.ended, { exitCode: null, output: "", captured: true, timedOut: false });
    assert.deepEqual([existsSync(join(cwd, "ran")), shown], [false, []]);
  });

  it("that does not want to end is killed after two seconds", async (t) => {
    const { child } = start(t, "trap '' TERM; echo ready; while :; do sleep 0.1; done", { timeoutMs: 200 });
    const { exitCode, timedOut, output } = await child.ended;
    assert.deepEqual([exitCode, timedOut, output.startsWith("ready\n")], [null, true, true]);
  });

  it("whose shell is not there fails", async (t) => {
    const cancel = new AbortController();
    const child = runChild({
      command: "true", cwd: "/does/not/exist", timeoutMs: 1_000, cancelled: cancel.signal, shell: "/bin/sh", clock: systemClock, env: {}, shown: () => undefined,
    });
    atEnd(t, () => child.kill());
    await assert.rejects(child.ended, /ENOENT/);
  });
});

/** Without what differs from run to run: process numbers. */
function steady(text: string): string {
  return text.replace(/\b\d{2,7}\b(?= (Killed|Terminated|Segmentation|Aborted|Hangup|Interrupt|User))/g, "PID").replace(/line \d+: +\d+ /g, "line N: PID ");
}

describe("the output passed on as it comes", () => {
  const relayed = () => {
    const [sent, timers]: [string[], (() => void)[]] = [[], []];
    const clock = { now: () => 0, after: (_: number, run: () => void) => (timers.push(run), () => void timers.splice(timers.indexOf(run), 1)) };
    return { sent, timers, relay: new Relay(clock, (text) => sent.push(text)) };
  };

  it("comes at once, then at a pace, and all of it before the end", () => {
    const { sent, timers, relay } = relayed();
    relay.add("a");
    relay.add("b");
    relay.add("c");
    assert.deepEqual(sent, ["a"]);
    timers.shift()?.();
    assert.deepEqual(sent, ["a", "bc"]);
    relay.add("d");
    relay.end();
    assert.deepEqual(sent, ["a", "bc", "d"]);
    assert.equal(timers.length, 0);
  });

  it("of a flood is the newest part, in whole lines, and takes no room", () => {
    const { sent, timers, relay } = relayed();
    relay.add("first\n");
    for (let n = 0; n < 100_000; n++) relay.add(`line ${n}\n`);
    timers.shift()?.();
    assert.equal(sent.length, 2);
    assert.match(sent[1] ?? "", /^…\nline \d+\n/);
    assert.match(sent[1] ?? "", /\nline 99999\n$/);
    assert.ok((sent[1] ?? "").length <= 8 * 1024 + 2);
  });

  it("cuts no character in two", () => {
    const { sent, relay } = relayed();
    relay.add("x");
    relay.add(`${"😀".repeat(5_000)}y`);
    relay.end();
    assert.match(sent[1] ?? "", /^…\n(😀)+y$/u);
  });
});
