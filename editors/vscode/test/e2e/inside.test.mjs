// The tests of the adapters, run by mocha inside a real extension host.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";

import { build } from "esbuild";

import { extensionRoot, startHost } from "./lib/host.mjs";
import { makeFolder } from "./lib/folder.mjs";
import { until } from "./lib/wait.mjs";
import { openWorkbench } from "./lib/workbench.mjs";

const tests = path.join(extensionRoot, "test/host");
const bundled = path.join(extensionRoot, "out/host");

async function bundle() {
  const entries = fs.readdirSync(tests).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: entries.map((name) => path.join(tests, name)),
    outdir: bundled,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode", "mocha"],
    sourcemap: "inline",
    logLevel: "warning",
    absWorkingDir: extensionRoot,
  });
}

/** Runs the tests in the host; resolves to mocha's report. */
async function runInside(host, folder, report) {
  const remote = (file) => `vscode-remote://127.0.0.1:${host.port}${file}`;
  const payload = [
    ["extensionDevelopmentPath", remote(extensionRoot)],
    ["extensionTestsPath", remote(path.join(tests, "index.cjs"))],
    ["skipWelcome", "true"],
  ];
  let said = "";
  let ended = false;
  const prepare = async (page) => {
    await page.exposeFunction("codeAutomationLog", (_type, args) => void (said += `${args.join(" ")}\n`));
    await page.exposeFunction("codeAutomationExit", () => void (ended = true));
  };
  const bench = await openWorkbench(host.url(folder, payload), { prepare });
  try {
    await until("the tests inside the host to end", () => ended, 120_000);
  } finally {
    await bench.close();
  }
  assert.ok(fs.existsSync(report), `mocha left no report; it said:\n${said}`);
  return JSON.parse(fs.readFileSync(report, "utf8"));
}

describe("inside the extension host", () => {
  const folder = makeFolder({ "a.txt": "a\n" });
  const report = `${folder}-report.json`;
  let host;
  before(async () => {
    await bundle();
    const mocha = path.join(extensionRoot, "node_modules/mocha");
    host = await startHost({ smoke: true, env: { TEST_REPORT: report, TEST_FILES: bundled, TEST_MOCHA: mocha } });
  });
  after(async () => {
    await host?.stop();
    fs.rmSync(folder, { recursive: true });
    fs.rmSync(report, { force: true });
  });

  it("every test of the adapters passes", async (t) => {
    const { stats, failures, tests: ran } = await runInside(host, folder, report);
    const wrong = failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.stack ?? err.message}`);
    assert.deepEqual(wrong, []);
    assert.ok(stats.passes > 0 && stats.pending === 0, `${stats.passes} passed, ${stats.pending} were left out`);
    t.diagnostic(`${ran.length} tests inside VS Code`);
  });
});
