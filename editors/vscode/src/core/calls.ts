import { messageOf, ToolError } from "./errors";
import { RpcError, rpcCodes } from "./jsonrpc";
import type { Cancel, Clock, Log } from "./ports";
import type { ToolResult } from "./result";
import { isObject } from "./schema";
import { oneLine } from "./text";
import { checkArgs } from "./tools";
import type { ToolClient, ToolTable } from "./tools";

const progressMs = 20_000;

/** The surroundings that a door needs to carry out its clients' calls. */
export interface CallHost {
  readonly clock: Clock;
  readonly log: Log;
  readonly tools: ToolTable;
}

/** One call as a door took it. */
export interface Incoming {
  readonly client: ToolClient;
  /** The params of tools/call. */
  readonly params: Record<string, unknown>;
  readonly cancelled: AbortSignal;
  /** Sends the client a notification that belongs to this call. */
  notify(method: string, params: object): void;
}

/**
 * Does tools/call, for every door alike: finds the tool, checks the arguments,
 * says every 20 seconds that a long call goes on, and turns a failure into a
 * result that the model can read. Undefined: no answer, the client gave up.
 * Rejects with an RpcError where the call as such cannot be answered.
 */
export async function callTool(host: CallHost, incoming: Incoming): Promise<ToolResult | undefined> {
  const { client, params, cancelled } = incoming;
  const name = typeof params["name"] === "string" ? params["name"] : "";
  const tool = host.tools.get(name);
  if (tool === undefined) throw new RpcError(rpcCodes.invalidParams, `Unknown tool: ${oneLine(name, 100)}`, "NOT_FOUND");
  const args = isObject(params["arguments"]) ? params["arguments"] : {};
  const stop = reportProgress(host.clock, incoming);
  try {
    checkArgs(tool, args);
    const answer = await tool.call({ client, args, cancelled });
    if (answer === "aborted") throw new RpcError(rpcCodes.aborted, "the editor gave up the review without a decision", "ABORTED");
    return answer === "silent" ? undefined : answer;
  } catch (err) {
    if (err instanceof RpcError) throw err;
    if (!(err instanceof ToolError)) host.log.error(`${tool.name}: ${messageOf(err)}`);
    return host.tools.failure(err);
  } finally {
    stop();
  }
}

/** Says every 20 seconds that a long call goes on, if the client wants to know. */
function reportProgress(clock: Clock, incoming: Incoming): Cancel {
  const meta = incoming.params["_meta"];
  const token = isObject(meta) ? meta["progressToken"] : undefined;
  if (typeof token !== "string" && typeof token !== "number") return () => undefined;
  let stop: Cancel = () => undefined;
  const tick = (progress: number): void => {
    stop = clock.after(progressMs, () => {
      incoming.notify("notifications/progress", { progressToken: token, progress, message: "waiting for the person" });
      tick(progress + 1);
    });
  };
  tick(1);
  return () => stop();
}
