import type { IncomingMessage, ServerResponse } from "node:http";

/** A request that is answered at once, with a status and a reason for programs. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly rpcCode = -32_000,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "HttpError";
  }
}

/**
 * Reads the body of a request as JSON, at most max bytes. A body that announces more is not read at
 * all; one that turns out longer is read no further.
 */
export async function readJson(req: IncomingMessage, max: number): Promise<unknown> {
  if (Number(req.headers["content-length"] ?? 0) > max) throw tooLarge(max);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > max) throw tooLarge(max);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw new HttpError(400, "the body is not JSON", -32_700);
  }
}

function tooLarge(max: number): HttpError {
  return new HttpError(413, `the body may have ${max} bytes at most`, -32_000, { Connection: "close" });
}

/** The request as the SDK takes it; its body goes beside it, parsed. */
export function toRequest(req: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values] of Object.entries(req.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  // The body has been read.
  for (const name of ["content-length", "transfer-encoding", "content-encoding"]) headers.delete(name);
  return new Request(`http://127.0.0.1${req.url ?? "/"}`, { method: req.method ?? "GET", headers, signal });
}

/** Sends a response, streamed as it comes and no faster than the client reads. */
export async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  res.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) return void res.end();
  const reader = response.body.getReader();
  // Stop producing when the reader disconnects.
  res.on("close", () => void reader.cancel().catch(() => undefined));
  res.flushHeaders();
  for (;;) {
    const piece = (await reader.read()) as { done: boolean; value?: Uint8Array };
    if (piece.done) return void res.end();
    if (!res.write(piece.value)) await drained(res);
  }
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((done) => {
    const go = (): void => {
      res.off("drain", go).off("close", go);
      done();
    };
    res.on("drain", go).on("close", go);
  });
}

export function sendError(res: ServerResponse, err: HttpError): void {
  if (res.headersSent) return void res.destroy();
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code: err.rpcCode, message: err.message }, id: null });
  res.writeHead(err.status, { "Content-Type": "application/json", ...err.headers });
  res.end(body);
}
