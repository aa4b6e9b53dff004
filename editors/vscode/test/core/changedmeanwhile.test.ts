// A file that changes while an edit of an MCP client, which the editor writes, is reviewed.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { settled } from "./fakes";
import { jsonOf, McpClient, shown } from "./httpclient";
import { work } from "./work";

describe("a file that changes during the review of an edit that the editor writes", () => {
  for (const name of ["another program", "agent"]) {
    it(`is not overwritten without a question for a client that calls itself ${name}`, async (t) => {
      const { core, editor, folder, read } = await work(t, { "a.txt": "one\n" });
      const client = await McpClient.connect(core.port ?? 0, name);
      const call = client.begin("write_file", { path: "a.txt", content: "two\n", rechecks: true });
      const id = await shown(core);
      writeFileSync(join(folder, "a.txt"), "somebody's\n");
      editor.documents.watchers.get(join(folder, "a.txt"))?.();
      await settled();
      core.reviews.accept(id, "button");
      await settled();
      assert.deepEqual([editor.view.staleAnswers.length, read("a.txt")], [1, "somebody's\n"]);
      core.reviews.reject(id, "button");
      assert.equal(jsonOf(await call.answer)["status"], "rejected");
      assert.equal(read("a.txt"), "somebody's\n");
    });
  }
});
