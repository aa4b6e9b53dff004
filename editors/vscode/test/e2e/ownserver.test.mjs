// The real agent with VS Code's own MCP server in its configuration: without the link it is a server like others, whose
// edits VS Code reviews; with the link it is left out, since everything would be there twice.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { before, describe, it } from "node:test";

import { entryOf } from "./lib/door.mjs";
import { call } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";

const BASE = "one\ntwo\nthree\n";
const PROPOSED = "one\nTWO\nthree\n";
const TOOL = "mcp__vscode__write_file";

describe("VS Code's own MCP server in the agent", () => {
  const at = stage({ files: { "called.txt": BASE, "denied.txt": BASE } });
  const read = (name) => at.scene.session.read(name).toString();
  before(async () => {
    const { session } = at.scene;
    const file = path.join(session.host.agentHome, "config.yaml");
    const config = JSON.parse(fs.readFileSync(file, "utf8"));
    config.mcp = { vscode: await entryOf(session, await session.lock()) };
    fs.writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  });
  const tools = async (agent) => (await at.scene.model.request(agent.prompt, 0)).tools.map((each) => each.function.name);

  it("without the link a call asks in the terminal, and VS Code reviews its edit once", async () => {
    const same = unchanged(at.scene.session.file("called.txt"), assert);
    const agent = await at.scene.agent([call(TOOL, { path: "called.txt", content: PROPOSED }), { text: "It is good." }], { flags: ["--no-ide"] });
    await agent.shows("call write_file of the MCP server vscode");
    await agent.asks();
    assert.ok((await tools(agent)).includes(TOOL));
    await at.scene.session.noDiffs();
    same();
    await agent.type("y");
    await at.scene.bench.diffShown();
    same();
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(1), /"status":\s*"accepted"/);
    await agent.shows("It is good.");
    assert.equal(read("called.txt"), PROPOSED);
    await at.scene.session.noDiffs();
  });

  it("a no in the terminal reaches VS Code with nothing", async () => {
    const same = unchanged(at.scene.session.file("denied.txt"), assert);
    const agent = await at.scene.agent([call(TOOL, { path: "denied.txt", content: PROPOSED })], { flags: ["--no-ide"] });
    await agent.asks();
    await agent.type("n");
    await agent.asksNothing();
    await agent.shows("What should I do instead?");
    await at.scene.session.noDiffs();
    same();
  });

  it("with the link its tools are left out, with the reason", async () => {
    const agent = await at.scene.agent([{ text: "Hello." }]);
    await agent.shows("The MCP server vscode could not be used: it is the editor that this session links to");
    await agent.shows("Hello.");
    assert.deepEqual((await tools(agent)).filter((name) => name.startsWith("mcp__")), []);
  });
});
