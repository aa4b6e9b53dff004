import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import type { CommandResult, CommandRun, Clock } from "../ports";
import { Stripper } from "./ansi";
import { Output } from "./output";
import { endTree } from "./tree";
import { shellCommand } from "./wrap";

/** How long output may come after the end of the shell: something in the background may keep it open for ever. */
const drainMs = 250;

/** The result of a command that was cancelled before it began. */
export const notRun: CommandResult = { exitCode: null, output: "", captured: true, timedOut: false };

/** A command that runs as a child of ours. */
export interface Child {
  readonly ended: Promise<CommandResult>;
  /** The person's keystrokes go to its input. */
  input(text: string): void;
  /** As Ctrl-C does. */
  interrupt(): void;
  kill(): void;
}

export interface ChildOptions extends CommandRun {
  readonly shell: string;
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  /** Each piece of output as it comes, with its control sequences. */
  shown(text: string): void;
}

/**
 * Runs a command exactly, in a shell of its own: returns its output as printed but without control
 * sequences, both streams in order, and its status. It ends with the shell; processes left in the
 * background run on. Timeout and cancellation end everything that it started; a command that is
 * cancelled already does not run.
 */
export function runChild(options: ChildOptions): Child {
  if (options.cancelled.aborted) {
    const nothing = (): void => undefined;
    return { ended: Promise.resolve(notRun), kill: nothing, input: nothing, interrupt: nothing };
  }
  const child = start(options);
  const output = new Output();
  const stripper = new Stripper("pipe");
  const printed = (text: string): void => {
    output.add(text);
    if (text !== "") options.printed?.(text);
  };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    options.shown(text);
    printed(stripper.take(text));
  });
  let timedOut = false;
  const kill = (): void => {
    if (child.pid !== undefined) void endTree(child.pid, true, options.clock);
  };
  const stop = options.clock.after(options.timeoutMs, () => {
    timedOut = true;
    kill();
  });
  options.cancelled.addEventListener("abort", kill);
  child.stdin?.on("error", () => undefined); // it need not read
  const ended = end(child, options.clock).then((exitCode): CommandResult => {
    stop();
    options.cancelled.removeEventListener("abort", kill);
    printed(stripper.end());
    const killed = timedOut || options.cancelled.aborted;
    return { exitCode: killed ? null : exitCode, output: output.text, captured: true, timedOut };
  });
  return { ended, kill, input: (text) => child.stdin?.write(text), interrupt: () => interrupt(child) };
}

function start({ shell, command, cwd, env }: ChildOptions): ChildProcess {
  const [program, ...args] = shellCommand(shell, command);
  if (process.platform === "win32") return spawn(program, args, { cwd, env, windowsVerbatimArguments: program.endsWith("cmd.exe") });
  // One pipe for both streams, so that their order is kept.
  return spawn("/bin/sh", ["-c", 'exec "$@" 2>&1', "sh", program, ...args], { cwd, env, detached: true });
}

/** The status as a shell gives it, 128 and the signal's number for who was killed, when its output has been read. */
export function end(child: ChildProcess, clock: Clock): Promise<number | null> {
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("exit", (code, signal) => {
      const status = code ?? (signal === null ? null : 128 + (signals[signal] ?? 0));
      const stop = clock.after(drainMs, () => {
        // A process that was suspended that long has read nothing meanwhile: read first.
        setImmediate(() => {
          child.stdout?.destroy();
          done(status);
        });
      });
      child.on("close", () => {
        stop();
        done(status);
      });
    });
  });
}

const signals: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGPIPE: 13, SIGTERM: 15 };

function interrupt(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGINT");
  } catch {
    // It has ended by itself.
  }
}
