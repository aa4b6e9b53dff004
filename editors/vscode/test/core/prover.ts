// The client's side of the handshake in which both sides prove that they know the
// secret of a lock.
import type { IncomingMessage } from "node:http";
import WebSocket from "ws";
import { Handshake, newNonce, nonceHeader, proveMethod } from "../../src/core/proof";

export interface Door {
  readonly port: number;
  readonly secret: string;
  readonly protocols?: string[];
  readonly options?: WebSocket.ClientOptions;
  /** Changes the proof that is given. */
  readonly forge?: (proof: string) => string;
}

/** Connects, checks the proof of the server and gives ours; the caller closes the socket. */
export async function knock({ port, secret, protocols = ["mcp"], options = {}, forge = (proof) => proof }: Door): Promise<WebSocket> {
  const nonce = newNonce();
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, protocols, {
    perMessageDeflate: false, ...options, headers: { ...options.headers, [nonceHeader]: nonce },
  });
  const answer = new Promise<IncomingMessage>((done) => socket.once("upgrade", done));
  await new Promise<void>((done, fail) => {
    socket.once("open", () => done());
    socket.on("error", fail);
  });
  const answered = await answer;
  const handshake = new Handshake(secret, port, nonce, String(answered.headers[nonceHeader]));
  if (!handshake.isServer(answered)) throw new Error("the server did not prove that it knows the secret");
  socket.send(JSON.stringify({ jsonrpc: "2.0", method: proveMethod, params: { proof: forge(handshake.clientProof()) } }));
  return socket;
}
