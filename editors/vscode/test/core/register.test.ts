// Row B10 of the designs: our entry in another client's configuration.
import assert from "node:assert/strict";
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { follow, register, registeredPort, withEntry, withoutEntry } from "../../src/core/register";
import { tempFolder } from "./fakes";

const entry = { url: "http://127.0.0.1:5765/mcp", headers: { Authorization: "Bearer x" } };
const written = { type: "http", ...entry };

/** JSON without comments and commas too many, as a reader of such files reads it. */
function parse(text: string): Record<string, unknown> {
  const plain = text.replace(/\/\*[\s\S]*?\*\/|\/\/ \w+$/gm, "").replace(/,(\s*[}\]])/g, "$1");
  return JSON.parse(plain) as Record<string, unknown>;
}

describe("B10: our entry", () => {
  const texts: [string, string][] = [
    ["an empty object", "{}"],
    ["an object over lines", '{\n  "a": 1\n}\n'],
    ["tabs, comments and a comma too many", '{\n\t// mine\n\t"a": [1, 2,], /* "mcpServers": */\n\t"b": "x // y",\n}\n'],
    ["other servers", '{"mcpServers": {"other": {"command": "x"}}, "z": null}'],
    ["no other servers", '{ "mcpServers": {} }'],
    ["an old entry of ours", '{"mcpServers": {"agent": {"url": "old"}, "other": {}}}'],
    ["an old entry at the end of a line with a comment", '{"mcpServers": {"other": {}, // keep\n"agent": 7}}'],
    ["an old entry at the end", '{\n  "mcpServers": {\n    "other": {}, // keep\n    "agent": 7\n  }\n}'],
  ];
  for (const [what, before] of texts) {
    it(`is put into ${what}, and nothing else changes`, () => {
      const after = withEntry(before, written);
      const [want, got] = [parse(before), parse(after)];
      const servers = (want["mcpServers"] ?? {}) as Record<string, unknown>;
      assert.deepEqual(got, { ...want, mcpServers: { ...servers, agent: written } }, after);
      for (const comment of before.match(/\/\*.*?\*\/|\/\/ \w+$/gm) ?? []) assert.ok(after.includes(comment), after);
      assert.equal(withEntry(after, written), after, "a second time changes nothing");
      const gone = withoutEntry(after, false);
      for (const comment of before.match(/\/\*.*?\*\/|\/\/ \w+$/gm) ?? []) assert.ok(gone.includes(comment), gone);
      const { agent, ...others } = servers;
      void agent;
      assert.deepEqual(parse(gone), { ...want, mcpServers: others }, gone);
    });
  }

  for (const bad of ["", "{", "[]", "7", '{"a": }', '{"a": 1 "b": 2}', '{"a": 1, "a": 2}', '{"mcpServers": []}', "{} x", '{"a": tru}', '{"a": "\n"}']) {
    it(`is not put into ${JSON.stringify(bad)}, which is left as it is`, async (t) => {
      const home = tempFolder(t);
      const file = join(home, "config.json");
      writeFileSync(file, bad);
      const result = await register(file, home, entry);
      assert.equal(result.did, "refused");
      assert.equal(readFileSync(file, "utf8"), bad);
      assert.deepEqual(readdirSync(home), ["config.json"]);
    });
  }

  it("lets nobody else read the token", async (t) => {
    const home = tempFolder(t);
    const file = join(home, "config.json");
    writeFileSync(file, "{}");
    chmodSync(file, 0o644);
    assert.deepEqual(await register(file, home, entry), { did: "wrote" });
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it("keeps the owner's mode, a backup of the first time, and no other trace", async (t) => {
    const home = tempFolder(t);
    const file = join(home, "config.json");
    writeFileSync(file, '{"a": 1}');
    chmodSync(file, 0o700);
    assert.deepEqual(await register(file, home, entry), { did: "wrote" });
    assert.deepEqual(await register(file, home, entry), { did: "nothing" });
    assert.deepEqual(await register(file, home, { ...entry, url: "http://127.0.0.1:1/mcp" }), { did: "wrote" });
    assert.equal(await registeredPort(file), 1);
    assert.equal(statSync(file).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(home).sort(), ["config.json", "config.json.before-agent"]);
    assert.equal(readFileSync(join(home, "config.json.before-agent"), "utf8"), '{"a": 1}');
    assert.deepEqual(await register(file, home, undefined), { did: "removed" });
    assert.deepEqual(await register(file, home, undefined), { did: "nothing" });
    assert.equal(readFileSync(file, "utf8").replaceAll(/\s/g, ""), '{"a":1}', "the list of servers was ours, too");
    assert.equal(await registeredPort(file), undefined);
  });

  it("makes a file that is not there, for its owner alone, but none to take something away", async (t) => {
    const home = tempFolder(t);
    const file = join(home, "config.json");
    assert.deepEqual(await register(file, home, undefined), { did: "nothing" });
    assert.equal(existsSync(file), false);
    assert.deepEqual(await register(file, home, entry), { did: "wrote" });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(parse(readFileSync(file, "utf8")), { mcpServers: { agent: written } });
  });

  it("is written through a link within the home, and not through one that leads out", async (t) => {
    const [home, outside] = [tempFolder(t), tempFolder(t)];
    writeFileSync(join(home, "real.json"), "{}");
    writeFileSync(join(outside, "real.json"), "{}");
    symlinkSync(join(home, "real.json"), join(home, "in.json"));
    symlinkSync(join(outside, "real.json"), join(home, "out.json"));
    assert.equal((await register(join(home, "in.json"), home, entry)).did, "wrote");
    assert.equal(lstatSync(join(home, "in.json")).isSymbolicLink(), true);
    assert.match(readFileSync(join(home, "real.json"), "utf8"), /5765/);
    assert.equal((await register(join(home, "out.json"), home, entry)).did, "refused");
    assert.equal(readFileSync(join(outside, "real.json"), "utf8"), "{}");
  });

  const lists: [string, string, Record<string, unknown>][] = [
    ["that was there before us", '{"mcpServers": {}}', { mcpServers: {} }],
    ["that others are in", '{"mcpServers": {"other": 1}}', { mcpServers: { other: 1 } }],
    ["that there was none of", '{"a": 1}', { a: 1 }],
    ["of a file that there was none of", "", {}],
  ];
  for (const [what, before, after] of lists) {
    it(`is taken out of a list of servers ${what}`, async (t) => {
      const home = tempFolder(t);
      const file = join(home, "config.json");
      if (before !== "") writeFileSync(file, before);
      await register(file, home, entry);
      assert.deepEqual(await register(file, home, undefined), { did: "removed" });
      assert.deepEqual(parse(readFileSync(file, "utf8")), after);
    });
  }

  it("keeps a list of servers that others came into, or a comment, after us", async (t) => {
    const home = tempFolder(t);
    const file = join(home, "config.json");
    writeFileSync(file, "{}");
    await register(file, home, entry);
    writeFileSync(file, readFileSync(file, "utf8").replace('"agent"', '/* mine */ "agent"'));
    await register(file, home, undefined);
    assert.match(readFileSync(file, "utf8"), /mcpServers.*mine/);
  });

  it("follows its window's door, and leaves alone that of another window of ours", async (t) => {
    const home = tempFolder(t);
    const file = join(home, "config.json");
    const others = new Set<number>();
    const isWindow = (port: number): Promise<boolean> => Promise.resolve(others.has(port));
    const open = { url: "http://127.0.0.1:5765/mcp", headers: {} };
    const stored = (): unknown => (parse(readFileSync(file, "utf8"))["mcpServers"] as Record<string, unknown> | undefined)?.["agent"];
    assert.deepEqual(await follow(file, home, { port: 5765, entry }, isWindow), { did: "wrote" });
    assert.deepEqual(await follow(file, home, { port: 5765, entry: open }, isWindow), { did: "wrote" });
    assert.deepEqual(stored(), { type: "http", ...open }, "no token is asked for now");
    assert.deepEqual(await follow(file, home, { port: 5765, entry: undefined }, isWindow), { did: "removed" });
    assert.equal(stored(), undefined, "the door is shut");
    assert.deepEqual(await follow(file, home, { port: 5765, entry: undefined }, isWindow), { did: "nothing" });
    assert.deepEqual(await follow(file, home, { port: 5765, entry }, isWindow), { did: "wrote" });
    others.add(5765);
    for (const theirs of [undefined, { ...entry, url: "http://127.0.0.1:9/mcp" }]) {
      assert.deepEqual(await follow(file, home, { port: 9, entry: theirs }, isWindow), { did: "left", port: 5765 });
    }
    assert.deepEqual(stored(), written);
    others.clear();
    assert.deepEqual(await follow(file, home, { port: 9, entry: { ...entry, url: "http://127.0.0.1:9/mcp" } }, isWindow), { did: "wrote" });
    assert.equal(await registeredPort(file), 9);
  });
});
