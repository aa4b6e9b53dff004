// A client of the extension that speaks the protocol by hand, for messages that the real
// agent would not send on demand.
import { createHmac, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { text as textOf } from "node:stream/consumers";

import WebSocket from "ws";

/** The secret of the window with this lock, from its socket. */
export async function secretOf(lock) {
  return (await textOf(connect(lock.secretSocket))).trimEnd();
}

export class Client {
  constructor(socket) {
    this.socket = socket;
    this.notifications = [];
    this.waiting = new Map();
    this.lastId = 0;
    socket.on("message", (data) => this.take(JSON.parse(data.toString("utf8"))));
    socket.on("close", () => {
      for (const { reject } of this.waiting.values()) reject(new Error("the connection was closed"));
      this.waiting.clear();
    });
  }

  /** Connects to the window of a lock file and says hello. */
  static async connect(lock, name = "test") {
    const secret = await secretOf(lock);
    const nonce = randomBytes(32).toString("base64url");
    const headers = { "x-agent-ide-nonce": nonce };
    const socket = new WebSocket(`ws://127.0.0.1:${lock.port}/`, ["mcp"], { headers, perMessageDeflate: false });
    const answer = new Promise((resolve) => socket.once("upgrade", resolve));
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    const theirs = (await answer).headers;
    const proof = (role) => {
      const text = ["agent-ide 1", role, lock.port, nonce, theirs["x-agent-ide-nonce"]].join("\n");
      return createHmac("sha256", secret).update(text).digest("base64url");
    };
    if (theirs["x-agent-ide-proof"] !== proof("server")) throw new Error("the window did not prove that it wrote its lock");
    socket.send(JSON.stringify({ jsonrpc: "2.0", method: "agent/prove", params: { proof: proof("client") } }));
    const client = new Client(socket);
    const clientInfo = { name, version: "1" };
    client.hello = await client.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    client.notify("notifications/initialized", {});
    client.notify("ide_connected", { pid: process.pid });
    return client;
  }

  take(message) {
    if (message.method !== undefined && message.id === undefined) return void this.notifications.push(message);
    if (message.method !== undefined) return this.send({ id: message.id, result: {} });
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) waiting?.reject(Object.assign(new Error(message.error.message), message.error));
    else waiting?.resolve(message.result);
  }

  send(message) {
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  notify(method, params) {
    this.send({ method, params });
  }

  request(method, params) {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      if (this.socket.readyState !== WebSocket.OPEN) return reject(new Error("the connection is closed"));
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  /** Calls a tool; resolves with the texts of its result. */
  async call(name, args = {}) {
    const result = await this.request("tools/call", { name, arguments: args });
    const texts = result.content.map((item) => item.text);
    if (result.isError) throw Object.assign(new Error(texts.join("\n")), { texts });
    return texts;
  }

  /** Asks for a review of text as the new contents of file. */
  openDiff(file, text, more = {}) {
    return this.call("openDiff", {
      old_file_path: file,
      new_file_path: file,
      new_file_contents: text,
      tab_name: `✻ [Agent] ${file} (${++this.lastId}) ⧉`,
      ...more,
    });
  }

  close() {
    this.socket.close();
  }
}
