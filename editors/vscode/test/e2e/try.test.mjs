import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { edit } from "./lib/model.mjs";
import { startScene } from "./lib/scene.mjs";
let scene;
before(async () => { scene = await startScene({ files: { "a.txt": "one\ntwo\n" } }); });
after(() => scene?.stop());
it("x", async () => {
  const a = await scene.agent([{text:"look",calls:[{tool:"read_file",args:{path:"a.txt"}}]}, edit("a.txt", "two", "TWO"), { text: "done" }]);
  try {
  await scene.bench.diffShown();
  await a.asks();
  const spans = await scene.session.page.locator(".terminal-wrapper.active .xterm-rows").innerHTML();
  console.log(spans);
  } finally {
  await scene.bench.screenshot("/tmp/T-1.png");
  console.log(await scene.bench.terminalText());
  console.log(JSON.stringify(scene.model.requests.map(r=>r.body.messages), null, 1));
  }
  await scene.bench.titleButton("Accept").click();
  console.log(await a.told(2));
});
