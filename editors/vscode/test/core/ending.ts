/** A test, or a suite: something that ends. */
export interface Ends {
  after(done: () => unknown): void;
}

const endings = new WeakMap<Ends, (() => unknown)[]>();

/**
 * Runs end when t ends. What began last ends first, so a server stops before its
 * folder goes; an ending that fails keeps no other from running.
 */
export function atEnd(t: Ends, end: () => unknown): void {
  const known = endings.get(t);
  if (known !== undefined) return void known.push(end);
  const all = [end];
  endings.set(t, all);
  t.after(() => endAll(all));
}

async function endAll(all: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (let end = all.pop(); end !== undefined; end = all.pop()) {
    try {
      await end();
    } catch (err) {
      failures.push(err);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 0) throw new AggregateError(failures, "several endings failed");
}
