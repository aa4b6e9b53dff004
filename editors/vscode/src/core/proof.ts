import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";

/** The number of the protocol that agent and this extension must share: the lock holds it, and every proof. */
export const protocolVersion = 1;

/** The headers of the handshake: each side sends a nonce, the server its proof too. */
export const nonceHeader = "x-agent-ide-nonce";
export const proofHeader = "x-agent-ide-proof";

/** The notification by which the client proves; its first message. */
export const proveMethod = "agent/prove";

/** A new nonce: 256 random bits, as text for a header. */
export function newNonce(): string {
  return randomBytes(32).toString("base64url");
}

/** The nonce of the client who asks; undefined without one, with several, or if it has another form. */
export function nonceOf({ headersDistinct }: IncomingMessage): string | undefined {
  const given = headersDistinct[nonceHeader];
  const nonce = given?.length === 1 ? given[0] : undefined;
  return nonce !== undefined && /^[\w-]{43}$/.test(nonce) ? nonce : undefined;
}

/**
 * How both ends show that they know the secret of a lock, which is never sent. A
 * proof is good for one side, on one port, for the nonces of one handshake.
 */
export class Handshake {
  constructor(
    private readonly secret: string,
    private readonly port: number,
    private readonly client: string,
    readonly server = newNonce(),
  ) {}

  serverProof(): string {
    return this.of("server");
  }

  clientProof(): string {
    return this.of("client");
  }

  /** Whether a message of the client's is its proof. */
  isProved(message: string): boolean {
    return message.length < maxProof && sameText(proofIn(message) ?? "", this.clientProof());
  }

  /** Whether the server's answer has its proof. */
  isServer({ headers }: IncomingMessage): boolean {
    const given = headers[proofHeader];
    return typeof given === "string" && sameText(given, this.serverProof());
  }

  private of(role: "server" | "client"): string {
    const text = [`agent-ide ${protocolVersion}`, role, this.port, this.client, this.server].join("\n");
    return createHmac("sha256", this.secret).update(text, "utf8").digest("base64url");
  }
}

const maxProof = 1_000;
const answerMs = 300;

/** Whether what listens on a port of the loopback address knows the secret. It is told nothing but a nonce, and has ms to answer. */
export function provesItself(port: number, secret: string, ms = answerMs): Promise<boolean> {
  return new Promise((done) => {
    const client = newNonce();
    const headers = {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
      [nonceHeader]: client,
    };
    const asked = request({ host: "127.0.0.1", port, headers, agent: false, timeout: ms });
    const end = (proved: boolean): void => {
      clearTimeout(late);
      asked.destroy();
      done(proved);
    };
    const late = setTimeout(() => end(false), ms);
    asked.on("upgrade", (res, socket) => {
      socket.destroy();
      const server = res.headers[nonceHeader];
      end(typeof server === "string" && new Handshake(secret, port, client, server).isServer(res));
    });
    asked.on("response", () => end(false));
    asked.on("error", () => end(false));
    asked.end();
  });
}

function proofIn(message: string): string | undefined {
  try {
    const { method, params } = JSON.parse(message) as { method?: unknown; params?: { proof?: unknown } };
    return method === proveMethod && typeof params?.proof === "string" ? params.proof : undefined;
  } catch {
    return undefined;
  }
}

/** Compares in a time that tells nothing. */
function sameText(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
