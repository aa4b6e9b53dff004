import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { nonceOf } from "./proof";

/** The header that carries the token of /bridge, raw. */
export const tokenHeader = "x-agent-ide-authorization";

/** 256 random bits, as text for a header. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Takes the token out of a request; undefined without one, or with several. */
type Credential = (request: IncomingMessage) => string | undefined;

/** The whole value of a header. */
export function raw(header: string): Credential {
  return ({ headersDistinct }) => only(headersDistinct[header]);
}

const rawHeader = raw(tokenHeader);

export const bearer: Credential = ({ headersDistinct }) => /^Bearer +(\S+)$/i.exec(only(headersDistinct["authorization"]) ?? "")?.[1];

export interface GuardOptions {
  /** How a request carries the token; raw in the header of ours, if absent. */
  readonly credential?: Credential;
  /** Whether the token is asked for; true, if absent. */
  required?(): boolean;
  /** Both sides prove instead that they know a secret: a request has a nonce. */
  readonly proves?: boolean;
}

/**
 * Decides who may talk to the server: programs of this user that have read the
 * token, and nothing that a browser sends. Any Origin is refused, because no
 * program of ours has one; the Host must be the loopback address with our port,
 * which a rebound name is not.
 */
export class Guard {
  private digest: Buffer | undefined;

  /** Without a token nobody passes until there is one. */
  constructor(
    token: string | undefined,
    private readonly options: GuardOptions = {},
  ) {
    if (token !== undefined) this.use(token);
  }

  use(token: string): void {
    this.digest = digestOf(token);
  }

  /** The status to refuse a request with, or undefined: it may pass. */
  refusal(request: IncomingMessage, port: number): 401 | 403 | undefined {
    const { headers } = request;
    if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined) return 403;
    if (!isOurHost(request, port)) return 403;
    if (this.options.proves === true) return nonceOf(request) === undefined ? 401 : undefined;
    if (this.options.required?.() === false) return undefined;
    return this.isFor(request) ? undefined : 401;
  }

  /** Whether a request has the token. */
  isFor(request: IncomingMessage): boolean {
    const given = (this.options.credential ?? rawHeader)(request);
    // Of equal length whatever was given, so that the comparison tells nothing.
    return given !== undefined && this.digest !== undefined && timingSafeEqual(digestOf(given), this.digest);
  }
}

function only(values: readonly string[] | undefined): string | undefined {
  return values?.length === 1 ? values[0] : undefined;
}

function isOurHost(request: IncomingMessage, port: number): boolean {
  const host = only(request.headersDistinct["host"]);
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}
