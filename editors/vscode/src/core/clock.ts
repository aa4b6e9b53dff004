import type { Cancel, Clock } from "./ports";

/** The real time. Its timers keep no process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms: number, run: () => void): Cancel {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
