import { basename } from "node:path";
import type { Review } from "./review";

/** How many diffs of one client are opened without being asked for; of an answer with more edits it is one. */
const tabsMax = 3;

/** Reviews with those of one answer together, in its order. */
export function inTurns(reviews: readonly Review[]): Review[] {
  const turns = new Map<string, Review[]>();
  for (const review of reviews) {
    const key = review.turn?.key ?? review.id;
    turns.set(key, [...(turns.get(key) ?? []), review]);
  }
  return [...turns.values()].flatMap((turn) => turn.sort((a, b) => (a.turn?.index ?? 0) - (b.turn?.index ?? 0)));
}

/** Whether the client of a review has as many diffs on the screen as a person looks at: the list has the others. own: the client's reviews. */
export function isOneOfMany(review: Review, own: readonly Review[]): boolean {
  const shown = own.filter(({ machine: { state } }) => state === "preparing" || state === "shown");
  return shown.indexOf(review) >= ((review.turn?.total ?? 1) > tabsMax ? 1 : tabsMax);
}

/** Whether another file of the same name waits. */
export function hasNamesake(path: string, reviews: readonly Review[]): boolean {
  return reviews.some(({ request }) => request.path !== path && basename(request.path) === basename(path));
}
