import type { Cancel, Clock } from "./ports";

/** Resolves when something is so, at the latest after ms. on calls back after each event that may have made it so. */
export async function waitUntil(is: () => boolean, on: (look: () => void) => Cancel, clock: Clock, ms: number): Promise<void> {
  let stops: readonly Cancel[] = [];
  await new Promise<void>((done) => {
    const look = (): void => {
      if (is()) done();
    };
    stops = [on(look), clock.after(ms, done)];
    look();
  });
  for (const stop of stops) stop();
}
