import { watch } from "node:fs";
import { unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf } from "./errors";
import { exists, OwnFile } from "./lockfile";
import type { Cancel, Clock, Log } from "./ports";

/** For how long to wait for a port, how often to look, and how long an editor may take to answer. */
const formerMs = 10_000;
const lookMs = 50;
const seenMs = 3_000;

/** The file by which a window asks another of the same folder, which holds its port, to leave it. */
export function requestFile(folder: string, port: number): string {
  return join(folder, `${port}.next`);
}

/** Asks for a port until nobody holds it, the window that does refuses because somebody sees it, or the time is over. */
export async function askForPort(path: string, { pid, clock, holds }: { pid: number; clock: Clock; holds: () => Promise<boolean> }): Promise<void> {
  const end = clock.now() + formerMs;
  const request = new OwnFile(path);
  await request.write({ pid });
  while (clock.now() < end && (await holds()) && (await exists(path))) await new Promise<void>((done) => void clock.after(lookMs, done));
  await request.remove();
}

export interface Seen {
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves when the editor, whose window may be gone, has answered. */
  answered(): Promise<void>;
  /** Nobody sees the window, until the promise resolves. */
  unseen(back: Promise<void>): void;
}

/**
 * Looks for requests for the port of this window. An editor on a server keeps the extensions of a
 * window whose page has crashed, or whose connection broke, for hours: the programs in its terminals
 * would show their edits there, where nobody sees them.
 */
export function watchRequests(path: string, seen: Seen): Cancel {
  const { clock, log } = seen;
  let isAsking = false;
  const asked = async (): Promise<void> => {
    if (isAsking || !(await exists(path))) return;
    isAsking = true;
    try {
      const back = seen.answered();
      const isSeen = await Promise.race([back.then(() => true), new Promise<boolean>((done) => void clock.after(seenMs, () => done(false)))]);
      if (isSeen) return await unlink(path).catch(() => undefined); // the other window has waited long enough, or has ended
      log.info("nobody sees this window, and another window wants its port: it rests until it is seen again");
      seen.unseen(back);
    } finally {
      isAsking = false;
    }
  };
  const failed = (err: unknown): void => log.warn(`requests for the port: ${messageOf(err)}`);
  const watcher = watch(dirname(path), (_, name) => {
    if (name === basename(path)) asked().catch(failed);
  });
  watcher.on("error", failed);
  return () => watcher.close();
}
