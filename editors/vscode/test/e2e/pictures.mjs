// Takes the pictures of the README and the walkthrough from a real window, with
// the real agent in its terminal.
import fs from "node:fs";
import path from "node:path";

import { Recording } from "./lib/apng.mjs";
import { Client } from "./lib/client.mjs";
import { endAll } from "./lib/ending.mjs";
import { extensionRoot } from "./lib/host.mjs";
import { makeFolder } from "./lib/folder.mjs";
import { startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const media = path.join(extensionRoot, "media");
const BEFORE = `export interface Item {
  name: string;
  price: number;
  count: number;
}

/** The sum of a cart. */
export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  return sum;
}

/** A price as people read it. */
export function format(cents: number): string {
  return "$" + cents / 100;
}
`;
const turns = [
  { text: "I look at the cart first.", calls: [{ tool: "read_file", args: { path: "src/cart.ts" } }] },
  {
    text: "The count of each item is left out. I multiply by it.",
    calls: [
      {
        tool: "edit_file",
        args: { path: "src/cart.ts", old_string: "    sum += item.price;", new_string: "    sum += item.price * item.count;" },
      },
    ],
  },
  { text: "Done." },
];

/** A window on a small project, in whose terminal the agent has been asked. */
async function asked(take) {
  const root = makeFolder({ "shop/src/cart.ts": BEFORE, "shop/package.json": '{ "name": "shop" }\n', "demo.yaml": JSON.stringify({ turns }) });
  const session = await startSession({ own: true, folder: path.join(root, "shop"), settings: { "breadcrumbs.enabled": false, "terminal.integrated.stickyScroll.enabled": false } });
  const { bench, page } = session;
  try {
    await page.setViewportSize({ width: 1280, height: 880 });
    await session.probe(
      `const terminal = vscode.window.createTerminal({ name: "agent", cwd: args[0], env: { PS1: "$ " } });
       terminal.show(); terminal.sendText(args[1]);`,
      session.folder,
      'agent --model script:../demo.yaml "why is the total wrong?"',
    );
    await bench.diffShown();
    await session.terminalShows("also open in");
    await quiet(bench);
    await take(session);
  } finally {
    await session.stop();
    fs.rmSync(root, { recursive: true, force: true });
  }
}

/** Waits until no extension is being started. */
function quiet(bench) {
  return until("the window to be quiet", async () => (await bench.statusItem("Activating").count()) === 0);
}

/** A review from the question to the file, as a recording. */
function review() {
  return asked(async (session) => {
    const { bench, page } = session;
    const recording = new Recording();
    const frame = async (seconds) => recording.add(await page.screenshot(), seconds);
    await frame(3);
    await bench.page.locator(".monaco-diff-editor .editor.modified .view-line", { hasText: "item.count;" }).click();
    await page.keyboard.press("End");
    for (const text of [" //", " in", " cents"]) {
      await page.keyboard.type(text);
      await frame(0.3);
    }
    await session.terminalShows("edited in");
    await frame(3);
    await bench.press("Accept");
    await session.noDiffs();
    await session.terminalShows("Done.");
    await session.probe("await vscode.window.showTextDocument(vscode.Uri.file(args[0]))", session.file("src/cart.ts"));
    await frame(4);
    fs.writeFileSync(path.join(extensionRoot, "../../docs/pictures/review.png"), recording.encode());
  });
}

function pictures() {
  return asked(async (session) => {
    const { bench, page } = session;
    await bench.screenshot(path.join(media, "diff.png"));
    await comment(bench);
    await bench.screenshot(path.join(media, "comment.png"));
    const client = await Client.connect(await session.lock(), "agent");
    const more = { on_close: "keep", description: "a cart needs a test" };
    client.openDiff(session.file("src/cart.test.ts"), 'import { total } from "./cart";\n', more).catch(() => undefined);
    await bench.statusItem("2 to review").waitFor();
    await session.probe(`await vscode.commands.executeCommand("agent.reviews.focus")`);
    await bench.page.locator(".pane-body .monaco-list-row", { hasText: ".ts" }).nth(1).waitFor();
    await bench.page.locator(".part.editor .view-line:visible", { hasText: "import { total }" }).first().waitFor();
    await bench.titleButton("Accept").and(bench.page.locator(":not(.disabled)")).waitFor();
    await bench.screenshot(path.join(media, "pending.png"));
    const clip = { x: 0, y: 880 - 34, width: 640, height: 34 };
    await page.screenshot({ path: path.join(media, "status.png"), clip });
    client.close();
  });
}

async function comment(bench) {
  await bench.page.locator(".monaco-diff-editor .editor.modified .view-line", { hasText: "item.count;" }).click();
  await bench.command("Comments: Add Comment on Current Selection");
  await bench.page.locator(".review-widget .monaco-editor").first().waitFor();
  await bench.page.keyboard.type("What if count is missing?");
  await bench.page.locator(".review-widget .monaco-button", { hasText: "Add Comment" }).click();
  await bench.page.locator(".review-widget .comment-body", { hasText: "count is missing" }).waitFor();
  await quiet(bench);
}

try {
  await review();
  await pictures();
} finally {
  await endAll();
}
