// Files that are not UTF-8: an edit changes no byte outside of it, for every client and writer.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";

import WebSocket from "ws";

import { Chance } from "../flood.mjs";
import { Client } from "./lib/client.mjs";
import { connect } from "./lib/door.mjs";
import { call, edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const bytes = (text) => Buffer.from(text, "latin1");
const CAFE = bytes("caf\xe9 \x93quoted\x94\nsecond\nthird\n");
const CAFE_AFTER = bytes("caf\xe9 \x93quoted\x94\nSECOND\nthird\n");
const KOI8 = Buffer.concat([Buffer.from([0xd0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4]), bytes("\nsecond\n")]); // привет
/** UTF-8 with a byte that is not. */
const STRAY = Buffer.concat([Buffer.from("naïve über\nsecond\n"), bytes("\xe9\n")]);
const SAMPLES = {
  utf8: "naïve 日本", utf8bom: "naïve 日本", utf16le: "naïve 日本", utf16be: "naïve 日本", windows1252: "café €5", iso88591: "café",
  iso885915: "café €5", macroman: "café", cp437: "café", windows1250: "žluťoučký", windows1251: "привет", koi8r: "привет", koi8u: "привіт",
  iso88595: "привет", cp866: "привет", windows1253: "γειά", windows1254: "ağaç", windows1255: "שלום", windows1256: "سلام", windows1257: "ąžuolas",
  shiftjis: "日本語", eucjp: "日本語", euckr: "한국어", gbk: "汉语", gb18030: "汉语", cp950: "漢語",
};
const ENDS = { lf: ["\n", "\n"], crlf: ["\r\n", "\r\n"], mixed: ["\r\n", "\n"], cr: ["\r", "\n"] };
const FULL = process.env.AGENT_TEST_FULL === "1";
const COUNT = Number(process.env.AGENT_TEST_EDITS ?? (FULL ? 2_000 : 8));
const SEED = Number(process.env.AGENT_TEST_SEED ?? (FULL ? Date.now() % 1_000_000 : 1)); // a failure names it
const block = (search, replace) => `<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`;

/** The arguments of assert.equal for an answer that is to be a yes; the message has all of it. */
const accepted = (answer) => [answer.status, "accepted", JSON.stringify(answer)];

describe("a file that is not UTF-8", () => {
  const names = ["mcp", "inline", "bridge", "applied", "foreign", "lossy", "typed", "agent", "unsaved", "shown", "reopened"];
  const at = stage({
    files: {
      ...Object.fromEntries(names.map((name) => [`${name}.txt`, CAFE])),
      "mark.txt": Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), CAFE]), "koi8.txt": KOI8, "setting.txt": KOI8, "ascii.txt": "first\nsecond\n", "hand.txt": "first\nsecond\n", "stray.txt": STRAY, "packed.bin": Buffer.from(Array.from({ length: 400 }, (_, n) => 1 + ((n * 7) % 255))),
    },
  });
  let door;
  before(async () => void (door = await connect(at.scene.session)));
  after(() => door?.close());
  const file = (name) => at.scene.session.file(name);
  const read = (name) => at.scene.session.read(name);
  const same = (name, expected) => assert.equal(read(name).toString("latin1"), expected.toString("latin1"));
  const configure = (section, key, value) => at.scene.session.configure({ [`${section}.${key}`]: value });
  const textOf = (scheme, name) =>
    until(`the ${scheme} of ${name}`, () => at.scene.session.probe(
      `return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === args[0] && uri.path.endsWith(args[1]))?.getText()`, scheme, `/${name}`));
  /** Once: with files.encoding set to some encodings, VS Code cannot read its own settings to change them. */
  const openBridge = async () => {
    const isOpen = await at.scene.session.probe(`return vscode.workspace.getConfiguration("agent.bridge").get("enabled")`);
    if (!isOpen) await configure("agent.bridge", "enabled", true);
  };
  const bridge = async () => {
    await openBridge();
    const found = await until("bridge.json", () => JSON.parse(fs.readFileSync(path.join(at.scene.session.host.agentHome, "ide/bridge.json"), "utf8")));
    const socket = new WebSocket(found.url, { headers: { "x-agent-ide-authorization": found.authToken } });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return {
      close: () => socket.close(),
      ask: (message) => new Promise((resolve) => {
        socket.once("message", (data) => resolve(JSON.parse(data.toString("utf8"))));
        socket.send(JSON.stringify(message));
      }),
    };
  };
  /** Clicks the lens until it answers: it does not count at once, and VS Code draws it anew. */
  const acceptInline = async () => {
    const lens = at.scene.session.page.locator(".codelens-decoration a", { hasText: "Accept" }).first();
    await lens.waitFor(); // before its tab is there, no review is as if it were answered
    return until("the lens to answer", async () => {
      await lens.click({ timeout: 1_000 }).catch(() => undefined);
      return (await at.scene.session.diffs()).length === 0;
    });
  };
  const second = [{ range: { start: { line: 1, character: 0 }, end: { line: 1, character: 6 } }, oldText: "second", newText: "SECOND" }];

  it("any MCP client edits a line of it, and reads it", async () => {
    assert.match(await door.text("read_file", { path: "mcp.txt" }), /^1 \| café “quoted”\n2 \| second/);
    const answer = door.json("apply_diff", { path: "mcp.txt", diff: block("second", "SECOND") });
    await at.scene.bench.diffShown();
    assert.match(await textOf("agent-original", "mcp.txt"), /^café “quoted”\n/);
    await at.scene.bench.press("Accept");
    assert.equal(...accepted(await answer));
    same("mcp.txt", CAFE_AFTER);
    await until("the written file, as it is", async () => /^café/.test(await textOf("file", "mcp.txt")));
  });

  it("in one text, too", async () => {
    await configure("agent", "review", "inline");
    const answer = door.json("apply_diff", { path: "inline.txt", diff: block("second", "SECOND") });
    assert.match(await textOf("agent-inline", "inline.txt"), /^café “quoted”\nsecond\nSECOND\n/);
    await acceptInline();
    assert.equal(...accepted(await answer));
    same("inline.txt", CAFE_AFTER);
  });

  it("what it cannot store is refused before the review, and not accepted from the person", async () => {
    const refused = await door.json("write_file", { path: "lossy.txt", content: "caf\u00e9 \u65e5\nsecond\nthird\n" });
    assert.equal(refused.code, "ENCODING");
    assert.match(refused.error, /line 1 .*日.*windows1252/);
    const answer = door.json("apply_diff", { path: "typed.txt", diff: block("second", "SECOND") });
    await at.scene.bench.diffShown();
    await at.scene.bench.typeAtEnd("日");
    await at.scene.bench.press("Accept");
    await at.scene.session.page.locator(".notification-toast", { hasText: "日" }).first().waitFor();
    assert.equal((await at.scene.session.diffs()).length, 1, "the review stands");
    same("typed.txt", CAFE);
    await at.scene.session.page.keyboard.press("Backspace");
    await at.scene.bench.press("Accept");
    assert.equal(...accepted(await answer));
    same("typed.txt", CAFE_AFTER);
    same("lossy.txt", CAFE);
  });

  it("whose mark says UTF-8, or that is no text at all, is left alone", async () => {
    const marked = read("mark.txt");
    for (const [tool, args] of [["read_file", {}], ["apply_diff", { diff: block("second", "SECOND") }], ["write_file", { content: "x" }]]) {
      assert.equal((await door.json(tool, { path: "mark.txt", ...args })).code, "ENCODING", tool);
      assert.equal((await door.json(tool, { path: "packed.bin", ...args })).code, "BINARY_FILE", tool);
    }
    same("mark.txt", marked);
  });

  it("unsaved changes in an editor that shows it as UTF-8 are not saved over it", async () => {
    await at.scene.session.probe(`const document = await vscode.workspace.openTextDocument(args[0]);
      await vscode.window.showTextDocument(document, { preview: false });
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, new vscode.Position(2, 0), "mine");
      await vscode.workspace.applyEdit(edit);`, file("unsaved.txt"));
    assert.match(await textOf("file", "unsaved.txt"), /\ufffd/);
    assert.equal((await door.json("apply_diff", { path: "unsaved.txt", diff: block("second", "SECOND") })).code, "ENCODING");
    const client = await Client.connect(await at.scene.session.lock());
    await assert.rejects(client.call("saveDocument", { filePath: file("unsaved.txt") }), /ENCODING|encoding/);
    client.close();
    same("unsaved.txt", CAFE);
  });

  it("a program of the bridge edits it in one text, and in its document", async () => {
    const program = await bridge();
    const decision = program.ask({ type: "proposeDiff", file: file("bridge.txt"), edits: second });
    assert.match(await textOf("agent-inline", "bridge.txt"), /^café “quoted”\nsecond\nSECOND\n/);
    await acceptInline();
    assert.deepEqual([(await decision).type, (await decision).content.split("\n")[0]], ["diffAccepted", "café “quoted”"]);
    same("bridge.txt", CAFE_AFTER);
    const applied = program.ask({ type: "applyDiff", file: file("applied.txt"), edits: second });
    await at.scene.bench.diffShown("applied.txt");
    await at.scene.bench.press("Accept");
    assert.equal((await applied).type, "diffAccepted");
    assert.match(await textOf("file", "applied.txt"), /^café “quoted”\nSECOND/);
    await at.scene.session.probe(`await vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "file" && uri.fsPath === args[0]).save()`, file("applied.txt"));
    same("applied.txt", CAFE_AFTER);
    program.close();
  });

  it("openDiff shows it as it is, and refuses the proposal of a program that has read it as UTF-8", async () => {
    const client = await Client.connect(await at.scene.session.lock());
    const answer = client.openDiff(file("foreign.txt"), "café “quoted”\nSECOND\nthird\n");
    await at.scene.bench.diffShown("foreign.txt");
    assert.match(await textOf("agent-original", "foreign.txt"), /^café “quoted”\n/);
    await at.scene.bench.press("Accept");
    assert.deepEqual((await answer).slice(0, 2), ["FILE_SAVED", "café “quoted”\nSECOND\nthird\n"]);
    await assert.rejects(client.openDiff(file("foreign.txt"), CAFE_AFTER.toString("utf8")), /windows1252/);
    client.close();
  });

  it("a linked agent reads and edits it, in the encoding of its own setting", async () => {
    const agent = await at.scene.linkedAgent([call("read_file", { path: "agent.txt" }), edit("agent.txt", "second", "SECOND"), { text: "Good." }]);
    await agent.type("go on\r");
    assert.match(await agent.told(2), /café/);
    await at.scene.bench.diffShown("agent.txt");
    assert.match(await textOf("agent-original", "agent.txt"), /^café/);
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(3), /^Wrote agent\.txt/);
    same("agent.txt", CAFE_AFTER);
    await until("the written file, as it is", async () => /^café/.test(await textOf("file", "agent.txt")));
  });

  it("is UTF-8 but for a byte: a linked agent edits it, and the byte stays", async () => {
    const agent = await at.scene.linkedAgent([edit("stray.txt", "second", "SECOND"), { text: "Good." }]);
    await agent.type("go on\r");
    await at.scene.bench.diffShown("stray.txt");
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(2), /^Wrote stray\.txt/);
    same("stray.txt", Buffer.concat([Buffer.from("naïve über\nSECOND\n"), bytes("\xe9\n")]));
  });

  it("encoding: counts while the editor is linked, until the editor knows better", async () => {
    const config = path.join(at.scene.session.host.agentHome, "config.yaml");
    const before = fs.readFileSync(config, "utf8");
    fs.writeFileSync(config, JSON.stringify({ ...JSON.parse(before), encoding: "koi8-r" }));
    try {
      const agent = await at.scene.linkedAgent([edit("koi8.txt", "привет", "приветы"), { text: "Good." }]);
      await agent.type("go on\r");
      await at.scene.bench.diffShown("koi8.txt");
      assert.match(await textOf("agent-original", "koi8.txt"), /^привет\n/);
      await at.scene.bench.press("Accept");
      assert.match(await agent.told(2), /^Wrote koi8\.txt/);
      same("koi8.txt", Buffer.concat([KOI8.subarray(0, 6), Buffer.from([0xd9]), KOI8.subarray(6)]));
    } finally {
      fs.writeFileSync(config, before);
    }
    await configure("files", "encoding", "koi8r");
    const agent = await at.scene.linkedAgent([edit("setting.txt", "привет", "приветы"), { text: "Good." }]);
    await agent.type("go on\r");
    await at.scene.bench.diffShown("setting.txt");
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(2), /^Wrote setting\.txt/);
    same("setting.txt", Buffer.concat([KOI8.subarray(0, 6), Buffer.from([0xd9]), KOI8.subarray(6)]));
  });

  it("is nothing but ASCII, and gets its first letters in the encoding in which the editor reads it", async () => {
    await configure("files", "encoding", "koi8r");
    const hello = KOI8.subarray(0, 6);
    const agent = await at.scene.linkedAgent([edit("ascii.txt", "second", "привет"), call("write_file", { path: "fresh.txt", content: "привет\n" }), edit("hand.txt", "second", "SECOND"), { text: "Good." }]);
    await agent.type("go on\r");
    for (const name of ["ascii.txt", "fresh.txt", "hand.txt"]) {
      await at.scene.bench.diffShown(name);
      if (name === "hand.txt") await at.scene.bench.typeAtEnd("привет");
      await at.scene.bench.press("Accept");
      await agent.told(["ascii.txt", "fresh.txt", "hand.txt"].indexOf(name) + 2);
    }
    same("ascii.txt", Buffer.concat([Buffer.from("first\n"), hello, Buffer.from("\n")]));
    same("fresh.txt", Buffer.concat([hello, Buffer.from("\n")]));
    same("hand.txt", Buffer.concat([Buffer.from("first\nSECOND\n"), hello]));
  });

  const encode = (text, encoding) =>
    at.scene.session.probe(`return Buffer.from(await vscode.workspace.encode(args[0], { encoding: args[1] })).toString("hex")`, text, encoding).then((hex) => Buffer.from(hex, "hex"));

  it("in any encoding and with any line endings keeps each byte outside of the edit, known to the editor or not", async () => {
    await configure("agent", "approvalMode", "never");
    await configure("agent", "diff.showAccepted", false);
    const failures = [];
    let turn = 0;
    for (const known of [false, true]) {
      for (const [encoding, sample] of Object.entries(SAMPLES)) {
        if (known) await configure("files", "encoding", encoding);
        const kinds = Object.entries(ENDS);
        for (const [kind, ends] of FULL ? kinds : [kinds[turn++ % kinds.length]]) {
          const text = (middle) => `${sample}${ends[0]}${middle}${ends[1]}${sample}${ends[1]}`;
          const name = `all-${known}-${encoding}-${kind}.txt`;
          fs.writeFileSync(file(name), await encode(text("second"), encoding));
          const answer = await door.json("apply_diff", { path: name, diff: block("second", "SECOND") });
          const wanted = await encode(text("SECOND"), encoding);
          if (answer.status !== "accepted" || !read(name).equals(wanted)) failures.push(`${name}: ${JSON.stringify(answer)} ${read(name).toString("hex")}, not ${wanted.toString("hex")}`);
        }
      }
    }
    assert.deepEqual(failures, []);
  });

  it("that somebody shows as UTF-8 again and again is edited in its own encoding", async () => {
    await configure("agent", "approvalMode", "never");
    const again = at.scene.session.probe(
      `for (let n = 0; globalThis.reopened !== "enough" && n < 2_000; n++)
         await vscode.workspace.openTextDocument(args[0], { encoding: n % 2 === 0 ? "utf8" : "windows1252" }).then(undefined, () => undefined);`, file("reopened.txt"));
    let from = "second";
    for (let n = 0; n < 20; n++) {
      assert.equal(...accepted(await door.json("apply_diff", { path: "reopened.txt", diff: block(from, `second ${n + 1}`) })));
      same("reopened.txt", bytes(CAFE.toString("latin1").replace("second", `second ${n + 1}`)));
      from = `second ${n + 1}`;
    }
    await at.scene.session.probe(`globalThis.reopened = "enough"`);
    await again;
  });

  /** For each who edits: how an edit of the file is asked for; resolves to a function that waits for its end. */
  const editors = {
    agent: async (name, from, to) => {
      const agent = await at.scene.linkedAgent([edit(name, from, to), { text: "Good." }]);
      await agent.type("go on\r");
      return async () => {
        assert.match(await agent.told(2), /^Wrote/);
        await agent.end(); // a window serves sixteen programs at most
      };
    },
    mcp: (name, from, to) => {
      const answer = door.json("apply_diff", { path: name, diff: block(from, to) });
      return async () => assert.equal((await answer).status, "accepted", JSON.stringify(await answer));
    },
    bridge: async (name, from, to, text) => {
      const program = await bridge();
      const line = text.slice(0, text.indexOf(from)).split(/\r\n|\r|\n/).length - 1;
      const range = { start: { line, character: 0 }, end: { line, character: from.length } };
      const answer = program.ask({ type: "proposeDiff", file: file(name), edits: [{ range, oldText: from, newText: to }] });
      return async () => {
        assert.equal((await answer).type, "diffAccepted", JSON.stringify(await answer));
        program.close();
      };
    },
    openDiff: async (name, from, to, text, encoding) => {
      const client = await Client.connect(await at.scene.session.lock());
      const answer = client.openDiff(file(name), text.replace(from, to));
      return async () => {
        const [word, accepted] = await answer;
        assert.equal(word, "FILE_SAVED");
        fs.writeFileSync(file(name), await encode(accepted, encoding)); // it is the program that writes
        client.close();
      };
    },
  };

  it(`${COUNT} random edits, by anybody and in either view, change no byte outside of the edit`, { timeout: 180 * 60_000 }, async (t) => {
    await openBridge();
    await configure("agent", "approvalMode", undefined);
    await configure("agent", "diff.showAccepted", false);
    const failures = [];
    const counts = {};
    const settings = {};
    const setOnce = async (section, key, value) => {
      if (settings[key] !== value) await configure(section, key, value);
      settings[key] = value;
    };
    for (let seed = SEED; seed < SEED + COUNT && failures.length < 4; seed++) {
      const chance = new Chance(seed * 7_919);
      // Of each encoding the eight ways at a time: to write the settings takes as long as an edit.
      const encoding = new Chance(Math.floor(seed / 8) * 104_729).pick(Object.keys(SAMPLES));
      const [who, view] = [Object.keys(editors)[seed % 4], ["diff", "inline"][Math.floor(seed / 4) % 2]];
      const word = () => Array.from({ length: 1 + chance.below(6) }, () => chance.pick([...SAMPLES[encoding], "a", "Z", "7", "_"])).join("");
      const line = (n) => `${word()} ${n} ${word()}`.replaceAll(/ +/g, " ").trim();
      const lines = Array.from({ length: 2 + chance.below(20) }, (_, n) => line(n));
      const [from, to] = [chance.pick(lines), line(`changed ${seed}`)];
      const ends = chance.pick(Object.values(ENDS));
      const last = chance.pick(["", ends[1]]);
      const joined = (each) => each.map((text, n) => text + (n === each.length - 1 ? last : ends[n % 2])).join("");
      const [before, after] = [joined(lines), joined(lines.map((each) => (each === from ? to : each)))];
      const name = `random-${seed}.txt`;
      const what = `seed ${seed}: ${who}, ${view}, ${encoding}, ${JSON.stringify(before)}, ${JSON.stringify(from)} → ${JSON.stringify(to)}`;
      counts[`${who} ${view}`] = (counts[`${who} ${view}`] ?? 0) + 1;
      await setOnce("files", "encoding", encoding);
      await setOnce("agent", "review", view);
      fs.writeFileSync(file(name), await encode(before, encoding));
      const wanted = await encode(after, encoding);
      try {
        const ended = await editors[who](name, from, to, before, encoding);
        await until("the review", async () => (await at.scene.session.diffs()).length === 1);
        const [warns, early] = [at.scene.session.page.locator(".monaco-dialog-box"), at.scene.bench.statusItem("answer again")];
        await early.waitFor({ state: "hidden" }); // from before
        await at.scene.bench.clickTitle("Accept");
        await until("the answer to count", async () => {
          if ((await warns.count()) > 0) await at.scene.bench.answer("Accept"); // a lone CR is a control character
          if ((await at.scene.session.diffs()).length === 0) return true;
          if (!(await early.isVisible())) return false;
          await early.waitFor({ state: "hidden" });
          await at.scene.bench.clickTitle("Accept");
          return false;
        });
        await ended();
        if (!read(name).equals(wanted)) failures.push(`${what}: ${read(name).toString("hex")}, not ${wanted.toString("hex")}`);
        await at.scene.session.noDiffs();
      } catch (error) {
        failures.push(`${what}: ${error.message}; ${await at.scene.bench.state()}`);
        await at.scene.session.keep(`random-${seed}`);
        await at.scene.clean().catch((left) => failures.push(left.message));
      }
    }
    t.diagnostic(`seeds from ${SEED}: ${JSON.stringify(counts)}`);
    assert.deepEqual(failures, []);
  });
});
