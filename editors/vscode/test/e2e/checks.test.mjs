// A command tries each proposal before it is answered, and the review shows the result.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

import { edit } from "./lib/model.mjs";
import { stage, unchanged } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const program = (line) => `package main\n\nfunc main() {\n\t${line}\n}\n`;
const FINE = program("println(1)");
const env = { GOCACHE: execFileSync("go", ["env", "GOCACHE"]).toString().trim() };

describe("checks of proposals", () => {
  const module = (name) => ({ [`${name}/go.mod`]: `module ${name}.test\n\ngo 1.26\n`, [`${name}/main.go`]: FINE });
  const at = stage({ files: { ...module("sides"), ...module("inline"), ...module("first"), "a.txt": "one\ntwo\nthree\n" } });
  const file = (name) => at.scene.session.file(name);
  const box = (words) => at.scene.session.page.locator(".review-widget .comment-body").filter({ hasText: words });
  const lens = (words) => at.scene.session.page.locator(".codelens-decoration a", { hasText: words });
  const configure = (settings) => {
    const config = path.join(at.scene.session.host.agentHome, "config.yaml");
    const { model, providers } = JSON.parse(fs.readFileSync(config, "utf8"));
    fs.writeFileSync(config, JSON.stringify({ model, providers, ...settings }), { mode: 0o600 });
  };
  /** The problems in the documents of a scheme, as "line: text". */
  const problems = (scheme) =>
    at.scene.session.probe(
      `return vscode.languages.getDiagnostics().filter(([uri]) => uri.scheme === args[0]).flatMap(([, all]) => all.map(({ range, message }) => (range.start.line + 1) + ": " + message))`,
      scheme,
    );
  const shows = (scheme, want) => until(`the problems ${want}`, async () => JSON.stringify(await problems(scheme)) === JSON.stringify(want));

  it("a red result and a green one are in the head of the diff and of the terminal's question", async () => {
    configure({ check: "auto" });
    const same = unchanged(file("sides/main.go"), assert);
    const agent = await at.scene.agent([edit("sides/main.go", "println(1)", "println(missing)"), edit("sides/main.go", "println(missing)", "println(2)"), { text: "Good." }], { env });
    await at.scene.bench.diffShown();
    await lens("go vet . ✗ 1 new error").first().waitFor();
    await shows("agent-proposed", ["4: undefined: missing"]);
    await agent.asks();
    await agent.shows("check: go vet . ✗ 1 new error");
    same();
    await at.scene.bench.press("Accept");
    assert.match(await agent.told(1), /the check `go vet \.` fails since this edit:\nsides\/main\.go:4: undefined: missing/);
    await lens("go vet . ✔").first().waitFor();
    await agent.shows("check: go vet . ✔");
    await agent.yes();
    await agent.told(2);
    await shows("agent-proposed", []);
    assert.equal(fs.readFileSync(file("sides/main.go"), "utf8"), program("println(2)"));
  });

  it("an error in one text with the file is named before the answer, and its lens opens the output", async () => {
    configure({ check: "auto", ide: { review: "inline" } });
    const same = unchanged(file("inline/main.go"), assert);
    const agent = await at.scene.agent([edit("inline/main.go", "println(1)", "println(missing)"), { text: "Good." }], { env });
    await lens("go vet . ✗ 1 new error").first().click();
    await shows("agent-inline", ["5: undefined: missing"]);
    await until("the output", () =>
      at.scene.session.probe(`return vscode.window.visibleTextEditors.some(({ document }) => document.uri.scheme === "agent-check" && document.getText().includes("main.go:4:10: undefined: missing"))`),
    );
    await agent.asks();
    same();
    await agent.type("n");
    await agent.asksNothing();
    same();
  });

  it("with check_first the model mends it before anybody is asked", async () => {
    configure({ check: "auto", check_first: true, ide: { review: "inline" } });
    const agent = await at.scene.agent([edit("first/main.go", "println(1)", "println(missing)"), edit("first/main.go", "println(1)", "println(2)"), { text: "Good." }], { env });
    assert.match(await agent.told(1), /^Not shown to the user yet[^]*undefined: missing/);
    await lens("go vet . ✔").first().waitFor();
    await agent.asks();
    await agent.yes();
    assert.match(await agent.told(2), /^Wrote first\/main\.go/);
  });

  it("an answer to a refusal shows the difference since the refused proposal, with the person's words beside it", async () => {
    configure({});
    const agent = await at.scene.agent([edit("a.txt", "two", "TWO"), edit("a.txt", "two", "Two"), { text: "Good." }]);
    await at.scene.bench.diffShown();
    await at.scene.bench.rejectWith("not so loud");
    await agent.told(1);
    await box("revised since you refused it: +1 −1").waitFor();
    await at.scene.bench.press("Show Changes Since Your Rejection");
    await at.scene.bench.tab("since your rejection").waitFor();
    await box("not so loud").waitFor();
    const sides = `return vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === "agent-revision").map((each) => each.getText()).sort()`;
    assert.deepEqual(await at.scene.session.probe(sides), ["one\nTWO\nthree\n", "one\nTwo\nthree\n"]);
    await agent.asks();
    await agent.yes();
    await agent.told(2);
    assert.equal(fs.readFileSync(file("a.txt"), "utf8"), "one\nTwo\nthree\n");
  });
});
