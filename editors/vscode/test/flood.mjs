// Requests to /mcp that nobody may send, of every kind, over real sockets: for the
// core with its fake editor and for a window of VS Code alike.
import { Agent, request } from "node:http";

const MAX_BODY = 16 * 1024 * 1024;
const PARALLEL = 20;
const HUGE = Buffer.alloc(1024 * 1024, "x");
/** One in so many is a body that turns out to be too large: 16 MiB each are a load of their own. */
const ENDLESS_EACH = 100;

const rpc = (method, params) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const CALL = rpc("tools/call", { name: "write_file", arguments: { path: "served", content: "x" } });
const HELLO = rpc("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "flood", version: "1" } });

/** Numbers that look random and are the same in each run. */
export class Chance {
  constructor(seed) {
    this.state = seed;
  }

  below(n) {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * n);
  }

  pick(from) {
    return from[this.below(from.length)];
  }
}

/**
 * Every kind of request that must be refused, with the right answers. session is replaced
 * by a living session: nothing else keeps these out.
 */
function wrongs({ port, token, session }, chance) {
  const noise = Array.from({ length: 43 }, () => String.fromCharCode(33 + chance.below(94))).join("");
  const json = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  const auth = { ...json, Authorization: `Bearer ${token}` };
  const living = { "Mcp-Session-Id": session };
  const foreign = ["evil.example", "127.0.0.1", `127.0.0.1:${port + 1}`, `[::1]:${port}`, `evil.example:${port}`];
  const origins = ["null", "http://localhost", "https://evil.example", `http://127.0.0.1:${port}`];
  return [
    { what: "no token", headers: { ...json, ...living }, body: CALL, statuses: [401] },
    { what: "a hello without a token", headers: json, body: HELLO, statuses: [401] },
    { what: "a wrong token", headers: { ...json, ...living, Authorization: `Bearer ${noise}` }, body: CALL, statuses: [401] },
    { what: "half of the token", headers: { ...json, ...living, Authorization: `Bearer ${token.slice(0, chance.below(token.length))}` }, body: CALL, statuses: [401] },
    { what: "another scheme", headers: { ...json, ...living, Authorization: `Basic ${token}` }, body: CALL, statuses: [401] },
    { what: "the token in the address", path: `/mcp?token=${token}`, headers: { ...json, ...living }, body: CALL, statuses: [401] },
    { what: "an Origin", headers: { ...auth, ...living, Origin: chance.pick(origins) }, body: CALL, statuses: [403] },
    { what: "a browser", headers: { ...auth, ...living, "Sec-Fetch-Site": chance.pick(["same-origin", "cross-site", "none"]) }, body: CALL, statuses: [403] },
    { what: "a foreign Host", headers: { ...auth, ...living, Host: chance.pick(foreign) }, body: CALL, statuses: [403] },
    { what: "a body that says it is too large", headers: { ...auth, ...living, "Content-Length": String(MAX_BODY + 1 + chance.below(1e9)) }, statuses: [413] },
    { what: "no JSON", headers: { ...auth, ...living }, body: chance.pick(["", "{", "[1,", "\u0000", noise, CALL.slice(0, -1)]), statuses: [400] },
    { what: "JSON that is no message", headers: { ...auth, ...living }, body: chance.pick(["null", "7", "[]", "{}", '"x"', '{"jsonrpc":"1.0","id":1,"method":"initialize"}', '{"method":7}']), statuses: [400] },
    { what: "a deep body", headers: { ...auth, ...living }, body: "[".repeat(100_000), statuses: [400] },
    { what: "another type", headers: { ...auth, ...living, "Content-Type": "text/plain" }, body: CALL, statuses: [415] },
    { what: "no session", headers: auth, body: CALL, statuses: [400] },
    { what: "an unknown session", headers: { ...auth, "Mcp-Session-Id": noise }, body: CALL, statuses: [404] },
    { what: "another method", method: chance.pick(["PUT", "PATCH", "OPTIONS", "HEAD"]), headers: { ...auth, ...living }, statuses: [405] },
    { what: "a megabyte without a token", headers: { ...json, ...living }, body: HUGE, statuses: [401], cut: true },
  ];
}

/** A body in pieces, whose length nobody has said before. */
const endless = ({ token, session }) => ({
  what: "a body that turns out to be too large",
  headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", Authorization: `Bearer ${token}`, "Mcp-Session-Id": session },
  statuses: [413, 408], // on a busy machine its time is up first
  endless: true,
  cut: true,
});

/** How many kinds there are. */
export const kinds = wrongs({ port: 1, token: "t", session: "s" }, new Chance(1)).length + 1;

/**
 * Sends count wrong requests to a door, 20 at a time; at: { port, token, session },
 * middle is awaited when half of them have been answered and none is on its way.
 * Resolves to how many there were of each kind, and how many connections were cut
 * in the middle of a body without a status that could be read. Rejects at the first
 * that gets another answer than it should.
 */
export async function flood(at, count, middle) {
  const agent = new Agent({ keepAlive: true, maxSockets: PARALLEL });
  const chance = new Chance(20_261_121);
  const seen = new Map();
  let cut = 0;
  const some = async (number) => {
    let left = number;
    const worker = async () => {
      while (left-- > 0) {
        const wrong = left % ENDLESS_EACH === 0 ? endless(at) : chance.pick(wrongs(at, chance));
        const status = await ask(at.port, agent, wrong);
        if (status === 0 && wrong.cut === true) cut++;
        else if (!wrong.statuses.includes(status)) throw new Error(`${wrong.what}: ${status}`);
        seen.set(wrong.what, (seen.get(wrong.what) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
  };
  try {
    await some(Math.floor(count / 2));
    await middle();
    await some(count - Math.floor(count / 2));
    return { seen, cut };
  } finally {
    agent.destroy();
  }
}

/** The status that a request gets, 0 if the connection ended without one; it is sent as it is, however wrong. */
export function ask(port, agent, wrong) {
  return new Promise((done, fail) => {
    let status = 0;
    const promised = wrong.headers["Content-Length"] !== undefined;
    const options = { host: "127.0.0.1", port, path: wrong.path ?? "/mcp", method: wrong.method ?? "POST", headers: wrong.headers, agent };
    const req = request(options, (res) => {
      status = res.statusCode ?? 0;
      res.resume().on("close", () => done(status));
      // A client that promised a body that will not come, or sends one without an end, must
      // go.
      if (promised || wrong.endless === true) req.destroy();
    });
    // The server answers and closes without reading unwanted data.
    req.on("error", (err) => (status > 0 || wrong.cut === true ? done(status) : fail(new Error(`${wrong.what}: ${err.message}`))));
    if (promised) req.flushHeaders();
    else if (wrong.endless === true) pour(req);
    else req.end(wrong.body);
  });
}

/** Writes until nobody accepts it. */
function pour(req) {
  const more = () => {
    while (!req.destroyed) {
      if (!req.write(HUGE)) return void req.once("drain", more);
    }
  };
  more();
}
