// The model servers of other terminal agents, on this machine: one that speaks as Anthropic's and one
// as Google's. Each plays the turns that a test gives it, as the model of our agent does.
import http from "node:http";

/** Text of a message in either protocol. */
const textOf = (content) => (typeof content === "string" ? content : (content ?? []).map(({ text, functionResponse, content: inner }) => text ?? JSON.stringify(functionResponse ?? inner ?? "")).join("\n"));

export class GuestModel {
  constructor(server) {
    this.server = server;
    /** The requests of conversations, each with its messages in one form. */
    this.requests = [];
    this.turns = [];
    server.on("request", (request, response) => void this.serve(request, response));
  }

  static async start() {
    const server = http.createServer();
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new GuestModel(server);
  }

  get url() {
    return `http://127.0.0.1:${this.server.address().port}`;
  }

  /** Sets the answers of the next conversation: the n-th turn answers a request with n answers before it. */
  play(turns) {
    this.turns = turns;
    this.requests = [];
  }

  async serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (request.url.includes("count_tokens") || request.url.includes("countTokens")) return json(response, { input_tokens: 1, totalTokens: 1 });
    const isGoogle = request.url.includes("enerateContent");
    if (!isGoogle && !request.url.includes("/v1/messages")) return json(response, {}, 404);
    const messages = (isGoogle ? body.contents : body.messages).map(({ role, content, parts }) => ({ role: role === "model" ? "assistant" : role, text: textOf(content ?? parts) }));
    const tools = isGoogle ? (body.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? []) : (body.tools ?? []);
    // Titles, summaries and the like have no tools.
    const isMain = tools.some(({ name }) => ["Edit", "replace"].includes(name));
    const at = messages.filter(({ role }) => role === "assistant").length;
    if (isMain) this.requests.push({ at, messages });
    const turn = isMain ? (this.turns[at] ?? { text: `no turn ${at + 1}` }) : { text: isGoogle ? "{}" : "A title" };
    if (isGoogle) google(response, turn, !request.url.includes("streamGenerateContent"));
    else anthropic(response, turn, body.stream !== true);
  }

  /** The results after the n-th answer of the model. */
  told(n) {
    const found = this.requests.find(({ at }) => at === n);
    return found?.messages.slice(found.messages.findLastIndex(({ role }) => role === "assistant") + 1).map(({ text }) => text).join("\n");
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }
}

function json(response, body, status = 200) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

let ids = 0;

function anthropic(response, { text = "", calls = [] }, whole) {
  const content = [{ type: "text", text }, ...calls.map(({ tool, args }) => ({ type: "tool_use", id: `toolu_${++ids}`, name: tool, input: args }))];
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: `msg_${++ids}`, type: "message", role: "assistant", model: "claude-test", stop_sequence: null, usage };
  if (whole) return json(response, { ...message, content, stop_reason });
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send("message_start", { message: { ...message, content: [], stop_reason: null } });
  content.forEach((block, index) => {
    const isText = block.type === "text";
    send("content_block_start", { index, content_block: isText ? { type: "text", text: "" } : { ...block, input: {} } });
    send("content_block_delta", { index, delta: isText ? { type: "text_delta", text } : { type: "input_json_delta", partial_json: JSON.stringify(block.input) } });
    send("content_block_stop", { index });
  });
  send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
  send("message_stop", {});
  response.end();
}

function google(response, { text = "", calls = [] }, whole) {
  const parts = [...(text === "" ? [] : [{ text }]), ...calls.map(({ tool, args }) => ({ functionCall: { name: tool, args } }))];
  const body = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
  if (whole) return json(response, body);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`data: ${JSON.stringify(body)}\n\n`);
}
