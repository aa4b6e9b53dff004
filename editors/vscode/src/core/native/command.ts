import { stat } from "node:fs/promises";
import { ToolError } from "../errors";
import type { CommandResult, CommandVerdict, Ports } from "../ports";
import { json } from "../result";
import type { ToolResult } from "../result";
import type { Answer } from "../review";
import { Relay } from "../shell/relay";
import { integer, text } from "../tools";
import type { Tool, ToolCall } from "../tools";
import { escaped, replaceHidden } from "../hidden";
import { needTrust, placeOf } from "./access";
import { guarded } from "./guarded";

const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 60 * 60_000;
/** A person who is typing when a question appears has not read it. */
const readingMs = 400;
/** A larger question may not fit on the screen, and hidden text is not read. */
const maxRows = 30;
const rowUnits = 80;

const timeout = { type: "integer", description: "milliseconds; 120000 if absent", minimum: 1, maximum: maxTimeoutMs } as const;

/** Runs a command for any client, after the person has agreed. */
export function commandTool(ports: Ports): Tool {
  const approvals = new Approvals(ports);
  return {
    name: "execute_command",
    description:
      "Runs a command in a visible terminal of the editor, after the person has agreed, and waits for its end. Answers " +
      "{exit_code, output, cwd, output_captured}, or {status: rejected, command}.",
    annotations: { destructiveHint: true },
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string" },
        cwd: { type: "string", description: "the workspace folder if absent" },
        timeout_ms: timeout,
      },
      required: ["command"],
    },
    call: guarded("command", async (call) => {
      const request = await toRequest(ports, call, text(call.args, "cwd") ?? ".");
      if (asks(ports)) {
        const answer = await approvals.ask(call, request);
        if (answer === "silent") return "silent";
        if (!answer.run) return json({ status: "rejected", command: request.command, ...(answer.feedback === "" ? {} : { feedback: answer.feedback }) });
      }
      return run(ports, call, request);
    }),
  };
}

/** Runs a command that the agent's own controller has had approved. */
export function terminalTool(ports: Ports): Tool {
  return {
    name: "runInTerminal",
    description: "Runs a command, which the client has had approved, in a visible terminal, and waits for its end.",
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string" },
        cwd: { type: "string", description: "absolute" },
        timeout_ms: timeout,
        run_id: { type: "string", description: "The client's name for the run: its output is told as it comes, as terminal_output {run_id, text}.", maxLength: 200 },
      },
      required: ["command", "cwd"],
    },
    call: guarded("command", async (call) => {
      const request = await toRequest(ports, call, text(call.args, "cwd") ?? "");
      const runId = text(call.args, "run_id");
      const relay = runId === undefined ? undefined : new Relay(ports.clock, (more) => call.client.notify("terminal_output", { run_id: runId, text: more }));
      const answer = await run(ports, call, relay === undefined ? request : { ...request, printed: (more) => relay.add(more) }).finally(() => relay?.end());
      // That a command was ended is an account of it like any other.
      return typeof answer === "string" ? answer : { content: answer.content };
    }),
  };
}

/** Reports whether the person is asked: with a setting that we do not know, too. */
function asks({ settings }: Ports): boolean {
  const mode = settings.approvalMode();
  return mode !== "write-only" && mode !== "never";
}

interface Request {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly printed?: (text: string) => void;
}

async function toRequest(ports: Ports, { args }: ToolCall, cwd: string): Promise<Request> {
  needTrust(ports.workspace);
  const command = text(args, "command") ?? "";
  if (command.trim() === "") throw new ToolError("INVALID_PARAMS", "the command is empty");
  if (command.includes("\0")) throw new ToolError("INVALID_PARAMS", "the command contains a NUL");
  const place = await placeOf(ports.workspace, cwd);
  if (!(await stat(place.path)).isDirectory()) throw new ToolError("INVALID_PARAMS", "cwd is no folder");
  return { command, cwd: place.path, timeoutMs: integer(args, "timeout_ms") ?? defaultTimeoutMs };
}

async function run(ports: Ports, { cancelled }: ToolCall, request: Request): Promise<Answer> {
  if (cancelled.aborted) return "silent";
  const result = await ports.terminals.run({ ...request, cancelled });
  // A call that was given up meanwhile gets no answer.
  return (cancelled.aborted as boolean) ? "silent" : answerOf(result, request);
}

function answerOf({ exitCode, output, captured, timedOut }: CommandResult, { cwd, timeoutMs }: Request): ToolResult {
  const more = timedOut ? { timed_out: true, error: `the command was ended after ${timeoutMs} ms` } : {};
  const answer = json({ exit_code: exitCode, output, cwd, output_captured: captured, ...more });
  return timedOut ? { ...answer, isError: true } : answer;
}

/** Asks the person, one question at a time. */
class Approvals {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly ports: Ports) {}

  /** Silent: the call was cancelled before there was an answer. */
  ask(call: ToolCall, { command, cwd }: Request): Promise<CommandVerdict | "silent"> {
    const question = { client: call.client.name, command: visible(command), cwd };
    if (rows(question.command) > maxRows) {
      throw new ToolError("INVALID_PARAMS", "the command is too long to be shown whole to the person, who has to agree; write a script, and run that");
    }
    const turn = this.last.then(() => this.question(call, question));
    // A question below another is not seen, but its time to be read would pass.
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async question({ cancelled }: ToolCall, question: { client: string; command: string; cwd: string }): Promise<CommandVerdict | "silent"> {
    const { clock, notices } = this.ports;
    while (!cancelled.aborted) {
      const asked = clock.now();
      const answer = await notices.mayRun(question, cancelled);
      if (cancelled.aborted as boolean) break;
      if (!answer.run || clock.now() - asked >= readingMs) return answer;
    }
    return "silent";
  }
}

/** How many rows of a question a text takes. */
function rows(text: string): number {
  const lengths = text.split("\n").map((line) => line.replaceAll("\t", " ".repeat(8)).length);
  return lengths.reduce((sum, length) => sum + Math.max(1, Math.ceil(length / rowUnits)), 0);
}

/** The command as it is, with every character visible that a terminal or a reader would not see, or would take for a blank. */
export function visible(command: string): string {
  return replaceHidden(command, escaped);
}
