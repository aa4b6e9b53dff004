// A model server on this machine: it plays the turns that a test gives it and keeps every
// request, so that a test can read them.
import http from "node:http";

import { KEY } from "./canary.mjs";
import { until } from "./wait.mjs";

/** A turn that calls one tool. */
export const call = (tool, args, text = "I do that.") => ({ text, calls: [{ tool, args }] });

/** A turn that puts one text in the place of another. */
export const edit = (path, from, to) => call("edit_file", { path, old_string: from, new_string: to }, "I change a line.");

export class Model {
  constructor(server) {
    this.server = server;
    this.requests = [];
    this.plays = new Map();
    server.on("request", (request, response) => void this.serve(request, response));
  }

  static async start() {
    const server = http.createServer();
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Model(server);
  }

  get url() {
    return `http://127.0.0.1:${this.server.address().port}/v1`;
  }

  /**
   * Sets the answers in the conversation that begins with prompt: the n-th turn answers the
   * request with n answers before it. turns can also be a function of the request's
   * messages, which returns the turn or a promise of it.
   */
  play(prompt, turns) {
    this.plays.set(prompt, turns);
  }

  async serve(request, response) {
    const came = performance.now();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.headers.authorization !== `Bearer ${KEY}`) return void response.writeHead(401).end("{}");
    if (!request.url.endsWith("/chat/completions")) return void response.writeHead(404).end("{}");
    const raw = Buffer.concat(chunks).toString("utf8");
    const body = JSON.parse(raw);
    const prompt = promptOf(body);
    const at = body.messages.filter(({ role }) => role === "assistant").length;
    this.requests.push({ prompt, at, body, raw, came });
    const turns = this.plays.get(prompt);
    const turn = typeof turns === "function" ? await turns(body.messages) : turns?.[at];
    if (turn === undefined) {
      const message = `no turn ${at + 1} for the prompt ${prompt}`;
      return void response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: { message } }));
    }
    stream(response, turn, `${prompt}-${at}`);
  }

  /** The n-th request of a conversation, from 0; waits for it. */
  async request(prompt, n, ms = 60_000) {
    const found = () => this.requests.find((request) => request.prompt === prompt && request.at === n);
    return (await until(`request ${n + 1} of ${prompt}`, found, ms)).body;
  }

  /** When the n-th request of a conversation came, on the clock of performance.now. */
  came(prompt, n) {
    return this.requests.find((request) => request.prompt === prompt && request.at === n).came;
  }

  /** The tools' results just before the n-th request. */
  async told(prompt, n, ms) {
    const { messages } = await this.request(prompt, n, ms);
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    return messages.slice(last + 1).filter(({ role }) => role === "tool").map(contentOf).join("\n");
  }

  /** The newest prompt of the n-th request. */
  async asked(prompt, n) {
    const { messages } = await this.request(prompt, n);
    return contentOf(messages.findLast(({ role }) => role === "user"));
  }

  /** The system prompt of the n-th request of the conversation that begins with prompt. */
  async system(prompt, n) {
    const { messages } = await this.request(prompt, n);
    return contentOf(messages.find(({ role }) => role === "system"));
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }
}

function contentOf({ content }) {
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");
}

/** A conversation is known by the first word of its first prompt, after the words in brackets about the mode. */
function promptOf({ messages }) {
  const first = messages.find(({ role }) => role === "user");
  return first === undefined ? "" : contentOf(first).replace(/^\[Permission mode: [^\]]*\]\s*/, "").split(/\s/)[0];
}

function stream(response, { text, calls = [] }, id) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta, finish = null) =>
    response.write(`data: ${JSON.stringify({ id, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  send({ role: "assistant", content: text ?? "" });
  const asked = calls.map(({ tool, args }, index) => ({
    index,
    id: `${id}-${index}`,
    type: "function",
    function: { name: tool, arguments: JSON.stringify(args) },
  }));
  if (asked.length > 0) send({ tool_calls: asked });
  send({}, asked.length > 0 ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
}
