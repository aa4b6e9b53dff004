import type { Cancel } from "./ports";

/** First come, first served locks by name. */
export class Locks {
  private readonly queues = new Map<string, (() => void)[]>();

  /**
   * Calls granted once nobody before us holds or waits for the lock; at once if
   * it is free. The returned function gives it back, or leaves the queue.
   */
  acquire(name: string, granted: () => void): Cancel {
    const queue = this.queues.get(name) ?? [];
    this.queues.set(name, queue);
    queue.push(granted);
    if (queue.length === 1) granted();
    return () => this.leave(name, queue, granted);
  }

  /** The same for several names; they are waited for in one order, so that no two callers wait for each other. */
  acquireAll(names: readonly string[], granted: () => void): Cancel {
    const held: Cancel[] = [];
    const next = ([name, ...rest]: readonly string[]): void => {
      if (name === undefined) return granted();
      held.push(this.acquire(name, () => next(rest)));
    };
    next([...new Set(names)].sort());
    return () => held.forEach((giveBack) => giveBack());
  }

  private leave(name: string, queue: (() => void)[], granted: () => void): void {
    const place = queue.indexOf(granted);
    if (place < 0) return;
    queue.splice(place, 1);
    if (queue.length === 0) this.queues.delete(name);
    else if (place === 0) queue[0]?.();
  }
}
