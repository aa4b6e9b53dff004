// The model asks for places and changes by name, and the editor's own providers answer.
import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, it } from "node:test";

import { call } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const SHAPES = "/* 🙂 */ export function area(side: number): number {\n\treturn side * side;\n}\n";
const USE = 'import { area } from "./shapes";\r\n\r\nexport const big = /* 𝒳é */ area(3) + area(4);\r\n';
const FIX = "export class Box {\r\n  side = surface(2);\r\n}\r\n";
const env = { AGENT_LANGUAGE_SERVERS: "auto" };

describe("what the editor's providers know", () => {
  const at = stage({
    files: { "tsconfig.json": '{"compilerOptions": {"strict": true}, "include": ["*.ts"]}', "shapes.ts": SHAPES, "use.ts": USE, "fix.ts": FIX, "notes.txt": "area\n" },
  });
  const file = (name) => at.scene.session.file(name);

  it("places and names of TypeScript, with the text of a buffer", async () => {
    await at.scene.session.typeInto(file("use.ts"), "// not saved: area\n", 1);
    const agent = await at.scene.linkedAgent(
      [
        call("find_definition", { symbol: "area", at: "use.ts:export const big" }),
        call("find_references", { symbol: "area", at: "shapes.ts" }),
        call("list_symbols", { path: "shapes.ts" }),
        call("list_symbols", { query: "area" }),
        call("find_definition", { symbol: "area", at: "notes.txt:1" }),
        { text: "I see." },
      ],
      { env },
    );
    await agent.type("look\r");
    assert.match(await agent.told(2), /^shapes\.ts:1: .*export function area\(side: number\): number \{\n1 place/);
    const used = await agent.told(3);
    assert.match(used, /^shapes\.ts:1: .*\nuse\.ts:1: import \{ area \} from "\.\/shapes";\nuse\.ts:4: export const big/);
    assert.match(await agent.told(4), /^shapes\.ts:1: function area\n1 symbol/);
    assert.match(await agent.told(5), /shapes\.ts:1: function area/);
    assert.match(await agent.told(6), /^Not known: no language server knows .*notes\.txt\. Use search_files\./);
    await agent.end();
  });

  it("a rename is a review of all files, and the editor itself changes none", async () => {
    const same = unchanged(file("use.ts"), assert);
    const agent = await at.scene.linkedAgent([call("rename_symbol", { symbol: "area", at: "use.ts:3", new_name: "surface" }), { text: "Renamed." }], { env });
    await agent.type("rename\r");
    await agent.asks(60_000, "y accept the files");
    same();
    assert.equal(fs.readFileSync(file("shapes.ts"), "utf8"), SHAPES);
    const accept = at.scene.bench.titleButton("Accept").and(at.scene.session.page.locator(":not(.disabled)"));
    await until("the rename to be written", async () => {
      if (fs.readFileSync(file("use.ts"), "utf8") !== USE) return true;
      await accept.first().click({ timeout: 2_000 }).catch(() => undefined); // the next review is on its way
      return false;
    });
    await agent.told(2);
    assert.equal(fs.readFileSync(file("shapes.ts"), "utf8"), SHAPES.replace("area", "surface"));
    assert.equal(fs.readFileSync(file("use.ts"), "utf8"), USE.replaceAll("area", "surface"));
    await agent.end();
  });

  it("a quick fix is chosen by name and reviewed", async () => {
    await at.scene.session.probe(`await vscode.window.showTextDocument(vscode.Uri.file(args[0]), { preview: false });`, file("fix.ts"));
    await at.scene.session.probe(
      `while (!vscode.languages.getDiagnostics(vscode.Uri.file(args[0])).some(({ message }) => message.includes("surface"))) await new Promise((done) => setTimeout(done, 200));`,
      file("fix.ts"),
    );
    const name = 'Add import from "./shapes"';
    const agent = await at.scene.linkedAgent([call("quick_fix", { at: "fix.ts:2" }), call("quick_fix", { at: "fix.ts:side =", name }), { text: "Mended." }], { env });
    await agent.type("mend\r");
    assert.ok((await agent.told(2)).split("\n").includes(name), await agent.told(2));
    await agent.asks();
    assert.equal(fs.readFileSync(file("fix.ts"), "utf8"), FIX);
    await agent.yes();
    await agent.told(3);
    assert.equal(fs.readFileSync(file("fix.ts"), "utf8"), `import { surface } from "./shapes";\r\n\r\n${FIX}`);
  });
});
