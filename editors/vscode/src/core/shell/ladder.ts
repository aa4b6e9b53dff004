import { messageOf } from "../errors";
import type { CommandResult, Log } from "../ports";

/** A place to run a command. Undefined: it cannot be had, and the next one is tried. */
export type Rung = () => Promise<(() => Promise<CommandResult>) | undefined>;

/**
 * Runs a command at the first available place. It runs at most once: a place that fails before the
 * command has begun is skipped, a later failure is final.
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
 * Whether to wait for a new shell to announce that it reports the end of commands. A slow start
 * says nothing about the next one; after two shells in a row that did not report, nobody waits
 * until one has.
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
