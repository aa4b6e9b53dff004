import { messageOf } from "../errors";
import type { CommandResult, Log } from "../ports";

/** A place to run a command. Undefined: it cannot be had, and the next one is tried. */
export type Rung = () => Promise<(() => Promise<CommandResult>) | undefined>;

/**
 * Runs a command at the first place that can be had. It runs at most once: a place
 * that fails before it has begun to run is left for the next one, one that fails
 * afterwards is not.
 */
export async function climb(rungs: readonly Rung[], log: Log): Promise<CommandResult> {
  for (const rung of rungs) {
    const run = await rung().catch((error: unknown) => {
      log.warn(`a terminal cannot be had: ${messageOf(error)}`);
      return undefined;
    });
    if (run === undefined) continue;
    return run().catch((error: unknown) => {
      log.error(`a command in a terminal: ${messageOf(error)}`);
      return nothing;
    });
  }
  return nothing;
}

const nothing: CommandResult = { exitCode: null, output: "", captured: false, timedOut: false };

const maxMissed = 2;

/**
 * Whether to wait until a new shell says that it tells the end of commands. One
 * that is slow once says nothing of the next; where two in a row have not told,
 * nobody waits again before one has.
 */
export class Patience {
  private missed = 0;

  get isWorthWhile(): boolean {
    return this.missed < maxMissed;
  }

  /** One has not told in time. */
  miss(): void {
    this.missed++;
  }

  /** One has told, however late. */
  heard(): void {
    this.missed = 0;
  }
}
