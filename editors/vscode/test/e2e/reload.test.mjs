// The agent's terminal after Reload Window: its keys, the focus, and no offer that would end it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { stage } from "./lib/scene.mjs";
import { until } from "./lib/wait.mjs";

const HAS_FOCUS = "document.activeElement?.closest('.terminal-wrapper, .monaco-editor')?.className ?? 'nothing'";

/** Runs in the page: notes each warning on a terminal, which offers to relaunch it. */
function noteOffers() {
  window.offers = [];
  new MutationObserver(() => {
    const warning = document.querySelector(".single-terminal-tab .codicon-warning, .terminal-tabs-entry .codicon-warning");
    const offer = warning?.parentElement.textContent;
    if (offer !== undefined && !window.offers.includes(offer)) window.offers.push(offer);
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
}

describe("an agent in a terminal, after Reload Window", () => {
  // Git changes the terminals' environment too, and may do so late.
  const at = stage({ files: { "a.txt": "one\ntwo\nthree\n", "sub/b.txt": "" }, fresh: true, settings: { "git.enabled": false } });

  /** Reloads the window, and waits until its extensions are back. */
  const reload = async () => {
    const { session } = at.scene;
    const pid = () => session.probe("return process.pid");
    const before = await pid();
    await session.bench.command("Developer: Reload Window");
    await until("the extensions to be back", async () => (await pid()) !== before, 120_000);
  };
  const link = () => at.scene.session.page.locator("[id$='agent.link'] a").getAttribute("aria-label");
  const focused = () => at.scene.session.page.evaluate(HAS_FOCUS);

  it("its keys are its own, and a mention brings the focus back to it", async () => {
    const { bench, session } = at.scene;
    await session.page.addInitScript(noteOffers);
    const agent = await at.scene.linkedAgent([{ text: "Good." }]);
    await agent.hasKeys();
    // The agent takes seconds to link again, here until it is told to: a person types at once.
    await agent.type("/ide disconnect\r");
    await until("the link to end", async () => /No agent is connected/.test(await link()));
    await reload();
    await agent.hasKeys();
    await bench.typeInTerminal("first");
    await session.page.keyboard.press("Shift+Enter");
    await session.page.keyboard.type("second");
    await agent.shows("first second");
    await session.page.keyboard.press("Enter");
    await agent.shows("Good.");
    assert.match(await link(), /No agent is connected/);
    await agent.type("/ide connect\r");
    await until("the link", async () => /connected since/.test(await link()), 120_000);
    await session.probe(
      `const editor = await vscode.window.showTextDocument(vscode.Uri.file(args[0]));
       editor.selection = new vscode.Selection(0, 0, 1, 3);`,
      session.file("a.txt"),
    );
    await session.page.locator(".monaco-editor .view-line", { hasText: "two" }).first().waitFor();
    await session.page.keyboard.press("Control+Alt+KeyK");
    await agent.shows("@a.txt#L1-2");
    await until("the terminal to have the focus", async () => /terminal-wrapper/.test(await focused()));
    await session.page.keyboard.type("third");
    await agent.shows("third");
    assert.equal(await session.probe("return vscode.window.activeTextEditor.document.getText()"), "one\ntwo\nthree\n");
    await agent.shows("@a.txt#L1-2 third");
    assert.deepEqual(await session.page.evaluate("window.offers"), [], "nothing has offered to relaunch the terminal");
  });

  it("nothing offers to relaunch its terminal where the extensions of before take their time to end", async () => {
    const { session } = at.scene;
    await session.page.addInitScript(noteOffers);
    await at.scene.linkedAgent([]);
    const before = await session.lock();
    process.kill(before.pid, "SIGSTOP");
    try {
      await session.page.reload({ waitUntil: "domcontentloaded" });
      await until("the port to be waited for", () => session.agentLog().includes(`another window of these folders has port ${before.port}`), 120_000);
    } finally {
      process.kill(before.pid, "SIGCONT");
    }
    const locks = () => session.host.locks().filter(({ pid }) => pid !== before.pid);
    const [now] = await until("the window to listen again", () => locks().length > 0 && locks(), 120_000);
    assert.equal(now.port, before.port);
    await until("the link", async () => /connected since/.test(await link()), 120_000);
    assert.deepEqual(await session.page.evaluate("window.offers"), []);
  });

  it("a key that the person keeps for the editor is the editor's", async () => {
    const { bench, session } = at.scene;
    const agent = await at.scene.linkedAgent([]);
    await agent.hasKeys();
    await session.probe(
      `const { defaultValue } = vscode.workspace.getConfiguration("agent").inspect("keys");
       await vscode.workspace.getConfiguration("agent").update("keys", defaultValue.filter((key) => key !== "ctrl+p"), true);`,
    );
    await bench.typeInTerminal("x");
    await session.page.keyboard.press("Control+P");
    await session.page.locator(".quick-input-widget:visible").waitFor();
    await session.page.keyboard.press("Escape");
    await bench.typeInTerminal("y");
    await session.page.keyboard.press("Control+B");
    assert.ok(await session.page.locator(".part.sidebar").isVisible(), "the other keys are still the agent's");
  });

  it("files and folders of the Explorer are mentioned in their order", async () => {
    const { session } = at.scene;
    const agent = await at.scene.linkedAgent([]);
    await session.probe(
      `const uris = args.map((path) => vscode.Uri.file(path));
       await vscode.commands.executeCommand("agent.mentionSelection", uris[0], uris);`,
      session.file("sub"),
      session.file("a.txt"),
    );
    await agent.shows("@sub/ @a.txt");
  });
});
