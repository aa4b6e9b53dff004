// The search for the model's key: that it finds the key where it must not be.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { escapes, KEY, leaks, traced } from "./lib/canary.mjs";
import { makeFolder } from "./lib/folder.mjs";
import { stage } from "./lib/scene.mjs";

/** A call that sends bytes, as strace writes it. */
const sent = (bytes, to) => `7 write(9<TCP:[127.0.0.1:5->${to}]>, "${[...bytes].map((each) => `\\${each.toString(8).padStart(3, "0")}`).join("")}", 9) = 9`;

describe("the search for the model's key", () => {
  it("finds it in a file, in a child and in what is sent, plain or masked", () => {
    const folder = makeFolder({ "log/a.txt": `the key is ${KEY}.`, "b.txt": "nothing" });
    assert.deepEqual(leaks(folder), [`${folder}/log/a.txt`]);
    fs.rmSync(folder, { recursive: true });
    const [plain, mask] = [Buffer.from(`x ${KEY}`), Buffer.from([1, 200, 30, 4])];
    const masked = plain.map((each, i) => each ^ mask[i % 4]);
    const model = "127.0.0.1:80";
    const found = [sent(plain, "127.0.0.1:81"), sent(masked, "[::1]:81"), `7 connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.1")}, 16) = 0`];
    const fine = [sent(plain, model), sent(Buffer.from("x sk-other-7f3d00"), "127.0.0.1:81"), `7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0`];
    const own = `6 execve("agent", ["agent"], ["K=${KEY}"]) = 0`;
    const child = `7 execve("env", ["env"], ["K=${KEY}"]) = 0`;
    assert.deepEqual(escapes([own, ...fine, ...found, child].join("\n"), [model]), [...found, child]);
  });

  describe("in a scene", () => {
    const at = stage({ files: { "a.txt": "one\n" } });

    it("has the model get it, and finds it where a person puts it", async () => {
      const agent = await at.scene.agent([{ text: "Good." }]);
      await agent.told(0);
      const { session } = at.scene;
      const { host, folder } = session;
      const file = session.file("planted");
      host.searchKey(folder);
      if (process.env.AGENT_TEST_CANARY) assert.match(traced(host.root, []).join(), /POST \/v1\/chat\/completions/);
      fs.writeFileSync(file, KEY);
      assert.throws(() => host.searchKey(folder), /planted/);
      fs.rmSync(file);
    });
  });
});
