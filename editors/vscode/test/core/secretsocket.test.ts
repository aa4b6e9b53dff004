import assert from "node:assert/strict";
import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { sweep } from "../../src/core/lockfile";
import { secretOf, SecretSocket } from "../../src/core/secretsocket";
import { atEnd } from "./ending";
import type { Ends } from "./ending";
import { tempFolder } from "./fakes";

const patientMs = 60_000;

async function opened(t: Ends, folder: string, port = 5765): Promise<SecretSocket> {
  const socket = await SecretSocket.open(folder, port, () => "the secret");
  atEnd(t, () => socket.close());
  return socket;
}

describe("the socket with the secret", () => {
  it("gives it to everybody of the user, again and again, until it is closed", async (t) => {
    const folder = tempFolder(t);
    const socket = await opened(t, folder);
    assert.equal(socket.path, join(folder, "5765.sock"));
    assert.equal(lstatSync(socket.path).mode & 0o777, 0o600);
    const ask = (): Promise<string | undefined> => secretOf({ secretSocket: socket.path, secret: "another" }, patientMs);
    assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ["the secret", "the secret", "the secret"]);
    await socket.close();
    assert.equal(await ask(), undefined);
    assert.deepEqual(readdirSync(folder), []);
  });

  it("takes the place of one that a killed window left", async (t) => {
    const folder = tempFolder(t);
    const dead = await opened(t, folder, 1);
    const path = join(folder, "5765.sock");
    writeFileSync(join(folder, "x"), "");
    const server = createServer().listen(path);
    await new Promise((done) => server.once("listening", done));
    atEnd(t, () => server.close());
    const socket = await opened(t, folder);
    assert.deepEqual([socket.path, existsSync(dead.path)], [path, true]);
    assert.equal(await secretOf({ secretSocket: path }, patientMs), "the secret");
  });

  for (const [why, folderIn] of [
    ["too long", (home: string) => join(home, "x".repeat(100))],
    ["occupied", (home: string) => home],
  ] as const) {
    it(`is in a folder of its own if the path is ${why}, which goes with it`, async (t) => {
      const folder = folderIn(tempFolder(t));
      mkdirSync(join(folder, "5765.sock"), { recursive: true });
      const socket = await opened(t, folder);
      assert.notEqual(dirname(socket.path), folder);
      assert.equal(lstatSync(dirname(socket.path)).mode & 0o777, 0o700);
      assert.equal(await secretOf({ secretSocket: socket.path }, patientMs), "the secret");
      await socket.close();
      assert.equal(existsSync(dirname(socket.path)), false);
    });
  }

  it("is asked in vain without an answer, and with one that is cut off or too long", async (t) => {
    for (const [i, text] of ["", "cut", `${"x".repeat(501)}\n`].entries()) {
      const path = join(tempFolder(t), `${i}.sock`);
      const server = createServer((client) => client.end(text)).listen(path);
      await new Promise((done) => server.once("listening", done));
      atEnd(t, () => server.close());
      assert.equal(await secretOf({ secretSocket: path }, patientMs), undefined);
    }
    assert.equal(await secretOf({ secret: "in the lock" }), "in the lock");
    assert.equal(await secretOf({}), undefined);
  });

  it("is swept without a window, and kept while one listens, even before its lock is written", async (t) => {
    const folder = tempFolder(t);
    const alive = { isOurs: () => false, proves: () => Promise.resolve(false) };
    const socket = await opened(t, folder);
    writeFileSync(join(folder, "1.sock"), "");
    assert.deepEqual(await sweep(folder, alive), { removed: ["1.sock"], problems: [] });
    assert.equal(await secretOf({ secretSocket: socket.path }, patientMs), "the secret");
  });
});
