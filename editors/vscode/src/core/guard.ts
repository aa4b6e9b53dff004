import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The header that carries the token, raw. */
export const tokenHeader = "x-agent-ide-authorization";

/** 256 random bits, as text for a header. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Decides who may talk to the server: programs of this user that have read the
 * token, and nothing that a browser sends. Any Origin is refused, because no
 * program of ours has one; the Host must be the loopback address with our port,
 * which a rebound name is not.
 */
export class Guard {
  private readonly digest: Buffer;

  constructor(token: string) {
    this.digest = digestOf(token);
  }

  /** The status to refuse a request with, or undefined: it may pass. */
  refusal(request: IncomingMessage, port: number): 401 | 403 | undefined {
    const { headers } = request;
    if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined) return 403;
    if (!isOurHost(request, port)) return 403;
    const given = headers[tokenHeader];
    // Of equal length whatever was given, so that the comparison tells nothing.
    return typeof given === "string" && timingSafeEqual(digestOf(given), this.digest) ? undefined : 401;
  }
}

function isOurHost(request: IncomingMessage, port: number): boolean {
  const hosts = request.headersDistinct["host"] ?? [];
  return hosts.length === 1 && (hosts[0] === `127.0.0.1:${port}` || hosts[0] === `localhost:${port}`);
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}
