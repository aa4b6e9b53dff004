/** Lines from..to (exclusive) of the old text become lines from..to of the new one. */
export interface Change {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

// Beyond this many differing lines the shortest script is not worth its cost
// (quadratic); the differing middle is then one change.
const maxDistance = 2000;

/** The text's lines, each with its line ending; "" has none. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let from = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
    lines.push(text.slice(from, at + 1));
    from = at + 1;
  }
  if (from < text.length) lines.push(text.slice(from));
  return lines;
}

/** The changes that turn a into b, in order, none touching the next. */
export function diffLines(a: readonly string[], b: readonly string[]): Change[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [left, right] = intern(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  if (left.length === 0 && right.length === 0) return [];
  const changes = shortest(left, right) ?? [{ oldFrom: 0, oldTo: left.length, newFrom: 0, newTo: right.length }];
  return changes.map((c) => ({
    oldFrom: c.oldFrom + head,
    oldTo: c.oldTo + head,
    newFrom: c.newFrom + head,
    newTo: c.newTo + head,
  }));
}

/** Numbers for lines, so that comparing two is cheap. */
function intern(a: readonly string[], b: readonly string[]): [Int32Array, Int32Array] {
  const ids = new Map<string, number>();
  const number = (line: string): number => {
    const known = ids.get(line);
    if (known !== undefined) return known;
    ids.set(line, ids.size);
    return ids.size - 1;
  };
  return [Int32Array.from(a, number), Int32Array.from(b, number)];
}

/**
 * Myers' greedy algorithm: the furthest point reached on each diagonal k = x - y
 * for each number of edits d. Undefined if more than maxDistance are needed.
 */
function shortest(a: Int32Array, b: Int32Array): Change[] | undefined {
  const limit = Math.min(a.length + b.length, maxDistance);
  const reached = new Int32Array(2 * limit + 3);
  const mid = limit + 1;
  const trail: Int32Array[] = [];
  for (let d = 0; d <= limit; d++) {
    trail.push(reached.slice(mid - d, mid + d + 1));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && at(reached, mid + k - 1) < at(reached, mid + k + 1));
      let x = down ? at(reached, mid + k + 1) : at(reached, mid + k - 1) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      reached[mid + k] = x;
      if (x >= a.length && y >= b.length) return backtrack(trail, a.length, b.length);
    }
  }
  return undefined;
}

/** Walks the furthest points back from the end; trail[d] is the state before step d. */
function backtrack(trail: readonly Int32Array[], endX: number, endY: number): Change[] {
  const changes: Change[] = [];
  let x = endX;
  let y = endY;
  for (let d = trail.length - 1; d > 0; d--) {
    const before = trail[d] as Int32Array;
    const k = x - y;
    const down = k === -d || (k !== d && at(before, d + k - 1) < at(before, d + k + 1));
    const fromX = down ? at(before, d + k + 1) : at(before, d + k - 1);
    const fromY = down ? fromX - k - 1 : fromX - k + 1;
    join(changes, { oldFrom: fromX, oldTo: down ? fromX : fromX + 1, newFrom: fromY, newTo: down ? fromY + 1 : fromY });
    x = fromX;
    y = fromY;
  }
  return changes.reverse();
}

/** Adds a change found before the last one, as one with it where they touch. */
function join(changes: Change[], earlier: Change): void {
  const next = changes.at(-1);
  if (next !== undefined && next.oldFrom === earlier.oldTo && next.newFrom === earlier.newTo) {
    changes[changes.length - 1] = { ...earlier, oldTo: next.oldTo, newTo: next.newTo };
  } else {
    changes.push(earlier);
  }
}

function at(values: Int32Array, index: number): number {
  return values[index] ?? 0;
}
