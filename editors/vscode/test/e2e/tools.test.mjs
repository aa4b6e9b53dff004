// Every tool that writes is reviewed as a diff, and writes exactly that diff.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { call, edit } from "./lib/model.mjs";
import { stage } from "./lib/scene.mjs";

const BASE = "one\ntwo\nthree\n";
const WRITERS = [
  [call("write_file", { path: "a.txt", content: "all new\n" }), "all new\n"],
  [call("append_file", { path: "a.txt", content: "four" }), `${BASE}four\n`],
  [edit("a.txt", "two", "TWO"), "one\nTWO\nthree\n"],
  [call("edit_lines", { path: "a.txt", start_line: 2, end_line: 3, new_content: "2\n3\n" }), "one\n2\n3\n"],
  [call("patch", { path: "a.txt", diff: "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n" }), "one\nzwei\nthree\n"],
  [call("regex_replace", { path: "a.txt", pattern: "t(\\w+)", replacement: "T$1" }), "one\nTwo\nThree\n"],
];

describe("a tool that writes", () => {
  const at = stage({ files: Object.fromEntries(WRITERS.map(([turn]) => [`${turn.calls[0].tool}/a.txt`, BASE])) });

  for (const [turn, want] of WRITERS) {
    const { tool } = turn.calls[0];
    it(`${tool} shows its diff and writes it when it is accepted`, async () => {
      const { session, bench } = at.scene;
      const agent = await at.scene.agent([turn, { text: "Good." }], { cwd: session.file(tool) });
      await bench.diffShown();
      const shown = `return vscode.workspace.openTextDocument(vscode.window.tabGroups.activeTabGroup.activeTab.input.modified).then((d) => d.getText())`;
      assert.equal(await session.probe(shown), want);
      assert.equal(session.read(`${tool}/a.txt`).toString(), BASE);
      await bench.press("Accept");
      assert.match(await agent.told(1), /^Wrote a\.txt/);
      assert.equal(session.read(`${tool}/a.txt`).toString(), want);
    });
  }
});
