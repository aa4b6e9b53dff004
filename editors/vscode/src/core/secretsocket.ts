import { chmod, lstat, mkdtemp, rm, unlink } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Bytes of a socket's path that every system takes. */
const maxPath = 100;
const maxSecret = 500;
const answerMs = 300;

/** The part of a lock by which a client learns the secret: itself, or the Unix socket that gives it. */
export type Known = { readonly secret: string } | { readonly secretSocket: string };

/**
 * Gives the secret of a window to programs of its user that connect to a Unix socket. It is in no
 * file: a command in agent's sandbox can read all files of the user, but open no Unix socket.
 */
export class SecretSocket {
  private constructor(
    readonly path: string,
    private readonly server: Server,
    /** A folder made for it, or undefined. */
    private readonly made: string | undefined,
  ) {}

  /** Listens beside the lock of the port; in a temporary folder, if that path is too long or its file system has no sockets. */
  static async open(folder: string, port: number, secret: () => string): Promise<SecretSocket> {
    const beside = socketOf(folder, port);
    const stat = await lstat(beside).catch(() => undefined);
    if (stat?.isSocket() === true) await unlink(beside); // of an earlier owner of the port
    if (Buffer.byteLength(beside) <= maxPath) {
      const server = await listen(beside, secret).catch(() => undefined);
      if (server !== undefined) return new SecretSocket(beside, server, undefined);
    }
    const made = await mkdtemp(join(tmpdir(), "agent-ide-"));
    const path = join(made, "s");
    try {
      return new SecretSocket(path, await listen(path, secret), made);
    } catch (err) {
      await rm(made, { recursive: true, force: true });
      throw err;
    }
  }

  /** Stops listening and removes the socket. */
  async close(): Promise<void> {
    await new Promise((done) => this.server.close(done));
    if (this.made !== undefined) await rm(this.made, { recursive: true, force: true });
  }
}

function socketOf(folder: string, port: number): string {
  return join(folder, `${port}.sock`);
}

/** Whether a name is that of a socket beside a lock. */
export function isSocketName(name: string): boolean {
  return /^\d{1,5}\.sock$/.test(name);
}

async function listen(path: string, secret: () => string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined); // the client is gone
    socket.end(`${secret()}\n`, () => socket.destroy());
  });
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(path, done);
  });
  server.on("error", () => undefined); // of one connection
  await chmod(path, 0o600);
  return server;
}

/** The secret of a lock's content; undefined without one, or if the socket does not give it in time. */
export async function secretOf(lock: Readonly<Record<string, unknown>>, ms = answerMs): Promise<string | undefined> {
  const { secret, secretSocket } = lock;
  if (typeof secretSocket !== "string") return typeof secret === "string" ? secret : undefined;
  const given = await ask(secretSocket, ms).catch(() => "");
  return given.endsWith("\n") && given.length > 1 ? given.slice(0, -1) : undefined;
}

/** Whether somebody listens on a socket. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = createConnection(path);
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
    socket.once("connect", () => socket.destroy());
  });
}

function ask(path: string, ms: number): Promise<string> {
  return new Promise((done, failed) => {
    const socket = createConnection(path);
    const late = setTimeout(() => socket.destroy(new Error("no answer")), ms);
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (data: string) => {
      text += data;
      if (text.length > maxSecret + 1) socket.destroy(new Error("too long"));
    });
    socket.on("error", failed);
    socket.on("close", () => {
      clearTimeout(late);
      done(text);
    });
  });
}
