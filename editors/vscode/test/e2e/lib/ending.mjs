// Actions for the end of a process that has run all its tests.
import { after } from "node:test";

const endings = [];

/** Has end run at the end, before earlier ones. */
export function atEnd(end) {
  endings.unshift(end);
}

export async function endAll() {
  for (const end of endings.splice(0)) await end();
}

// A lane has several files, and runs the hooks of the first after the first.
if (process.env.AGENT_TEST_LANES === undefined) after(endAll);
