import { spawnSync } from "node:child_process";

/**
 * Waits at most ms for a value that is not falsy; the error names the missing value. It looks
 * less often the longer that takes: each look is work for the window that is waited for.
 */
export async function until(what, look, ms = 60_000) {
  const end = Date.now() + ms;
  let last;
  let pause = 20;
  do {
    last = undefined;
    const value = await Promise.resolve()
      .then(look)
      .catch((error) => void (last = error));
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 1.3, 200);
  } while (Date.now() < end);
  throw new Error(`waited ${ms} ms in vain for ${what}${last ? `: ${last}` : ""}`);
}

/** Returns a function that reports whether a promise has been kept or broken. */
export function settled(promise) {
  let is = false;
  promise.finally(() => (is = true)).catch(() => undefined);
  return () => is;
}

/** Waits at most ms for a promise to be kept. */
export function within(what, promise, ms = 60_000) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`waited ${ms} ms in vain for ${what}`)), ms)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Whether a process runs. One that nobody has waited for yet is still listed. */
export function isAlive(pid) {
  return !/^(Z|$)/.test(spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout);
}
