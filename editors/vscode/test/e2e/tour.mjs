// Takes a picture of each face of a review, in each look that people give their window, for somebody
// to judge within five seconds: who asks, what, and how to answer. The pictures are in out/tour.
// Names of looks as arguments, and of faces after "--", take only these.
import fs from "node:fs";
import path from "node:path";

import { Client } from "./lib/client.mjs";
import { endAll } from "./lib/ending.mjs";
import { makeFolder } from "./lib/folder.mjs";
import { extensionRoot } from "./lib/host.mjs";
import { startSession } from "./lib/session.mjs";
import { until } from "./lib/wait.mjs";

const folder = path.join(extensionRoot, "out/tour");
const dark = { width: 1400, height: 900, theme: "Default Dark Modern", zoom: 1 };
/** The looks: a theme, a size in pixels, a zoom, a language. */
const LOOKS = {
  dark,
  light: { ...dark, theme: "Default Light Modern" },
  contrast: { ...dark, theme: "Default High Contrast" },
  "contrast-light": { ...dark, theme: "Default High Contrast Light" },
  narrow: { ...dark, width: 700 },
  zoomed: { ...dark, zoom: 2 },
  german: { ...dark, language: "de" },
  "german-narrow": { ...dark, width: 700, language: "de" },
};
const lines = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => `// line ${from + at}`).join("\n");
const order = (sum, text) => `/** An order of the shop. */
export interface Order {
  items: Item[];
  customer: string;
}

/** The sum of an order. */
export function total({ items }: Order): number {
${sum}
}

${lines(13, 24)}

/** A line of the bill. */
export function line(item: Item): string {
${text}
}
`;
const BEFORE = order("  return items.reduce((sum, { price }) => sum + price, 0);", "  return item.name;");
const AFTER = order("  return items.reduce((sum, { price, count }) => sum + price * count, 0);", '  return `${item.count} × ${item.name}`;');
const WHY = "I multiply by the count, which the total leaves out, and show it on the bill, so that a customer sees where the sum comes from";
const turn = (index, total) => ({ id: "turn", index, total });
const numbers = Array.from({ length: 12 }, (_, at) => at + 1);
const files = {
  "shop/src/order.ts": BEFORE,
  "shop/src/old.ts": "export const old = 1;\nexport const older = 2;\n",
  "shop/src/moved.ts": BEFORE,
  "shop/.vscode/tasks.json": '{ "version": "2.0.0" }\n',
  "shop/package.json": '{ "name": "shop" }\n',
  ...Object.fromEntries(numbers.map((n) => [`shop/src/parts/part${n}.ts`, `export const part = ${n};\n`])),
};

/** Each face: what to do until it is on the screen. */
const FACES = {
  async empty({ list }) {
    await list();
  },
  async diff({ ask, shown }) {
    ask("src/order.ts", AFTER, { description: WHY, batch: turn(1, 3), offer: { rule: "edit(src/**)" } });
    await shown("order.ts");
  },
  async inline({ ask, shown, session }) {
    await session.configure({ "agent.review": "inline" });
    ask("src/order.ts", AFTER, { description: WHY, batch: turn(1, 3) });
    await shown("order.ts");
  },
  async warned({ ask, shown }) {
    ask(".vscode/tasks.json", '{ "version": "2.0.0", "tasks": [] }\n', { description: WHY, notes: [{ kind: "protected", text: "VS Code runs what this file says" }] });
    await shown("tasks.json");
  },
  async "warned-modal"(at) {
    await FACES.warned(at);
    await at.accept();
    await at.page.locator(".monaco-dialog-box").waitFor();
  },
  async new({ ask, shown }) {
    ask("src/new.ts", AFTER, { description: WHY });
    await shown("new.ts");
  },
  async deleted({ ask, shown }) {
    ask("src/old.ts", "", { removal: "delete", description: "Nothing uses it any more" });
    await shown("old.ts");
  },
  async moved({ ask, tab }) {
    ask("src/moved.ts", BEFORE, { removal: "move", new_file_path: "lib/moved.ts", description: "It belongs to the library" });
    await tab("moved.ts");
  },
  async accepted({ ask, shown, accept, session, page }) {
    const answer = ask("src/order.ts", AFTER, { description: WHY });
    await shown("order.ts");
    await accept();
    await answer;
    fs.writeFileSync(session.file("src/order.ts"), AFTER);
    await page.locator(".part.editor .monaco-editor:not([data-uri^='agent-']) .view-line", { hasText: "count, 0" }).first().waitFor();
  },
  async list({ list, many, bench }) {
    await many();
    await list();
    await bench.page.locator(".pane-body .monaco-list-row", { hasText: "part3.ts" }).first().hover();
  },
  async together({ list, many, page, session, command }) {
    await many();
    await list();
    await command("agent.showTogether");
    await page.locator(".multiDiffEntry").first().waitFor();
    await session.probe("return 1");
  },
  async all({ many, command, page }) {
    await many();
    void command("agent.acceptAll");
    await page.locator(".monaco-dialog-box").waitFor();
  },
  async always(at) {
    await FACES.diff(at);
    await at.page.click(".monaco-diff-editor .editor.modified .view-lines");
    await until("the list of what to allow", async () => {
      if ((await at.page.locator(".quick-input-list .monaco-list-row:visible", { hasText: /10/ }).count()) > 0) return true;
      void at.command("agent.acceptAlways");
      return false;
    });
  },
  async status({ bench, page, client, list }) {
    await client.call("setStatus", { state: "working", text: "runs go test ./..." });
    await list();
    await bench.statusItem("go test").hover();
    await page.locator(".monaco-hover:visible", { hasText: "5" }).first().waitFor().catch(() => undefined);
  },
  async waiting({ ask, shown, bench, page }) {
    ask("src/order.ts", AFTER, { description: WHY });
    await shown("order.ts");
    await bench.statusItem("Agent: 1").hover();
    await page.locator(".monaco-hover:visible").first().waitFor().catch(() => undefined);
  },
  async walkthrough({ command, page }) {
    await command("workbench.action.openWalkthrough", "bb2d0cf4.agent-ide#agent.start", false);
    await page.locator(".getting-started-step").nth(2).waitFor();
  },
  async settings({ command, page }) {
    await command("workbench.action.openSettings", "@ext:bb2d0cf4.agent-ide");
    await page.locator(".settings-editor .setting-item-label").nth(3).waitFor();
  },
};

/** The actions of a face, in a window. */
function actions(session, client) {
  const { bench, page } = session;
  const command = (name, ...args) => session.probe("await vscode.commands.executeCommand(...args[0])", [name, ...args]);
  const ask = (name, text, more = {}) => {
    const moved = more.new_file_path === undefined ? {} : { new_file_path: session.file(more.new_file_path) };
    return client.openDiff(session.file(name), text, { on_close: "keep", ...more, ...moved }).catch(() => undefined);
  };
  return {
    session, client, bench, page, command, ask,
    // Whatever the language: the row has its icons.
    async shown(name) {
      await bench.tab(name).first().waitFor();
      await page.locator(".part.editor .codelens-decoration a .codicon-check").first().waitFor({ state: "attached" });
    },
    accept: () => page.locator(["Accept", "Annehmen"].map((word) => `.part.editor .editor-actions .action-label[aria-label^="${word}"]:not(.disabled)`).join(", ")).first().click(),
    tab: (name) => bench.tab(name).first().waitFor(),
    async list() {
      await command("agent.reviews.focus");
      await page.locator(".part.sidebar .pane-body").first().waitFor();
    },
    async many() {
      for (const n of numbers) ask(`src/parts/part${n}.ts`, `export const part = ${n * 10};\n`, { description: WHY, batch: turn(n - 1, 12) });
      await bench.statusItem(/12/).first().waitFor();
      await page.locator(".codelens-decoration:visible").first().waitFor();
    },
  };
}

async function look(session, { width, height, theme, zoom, language }) {
  const { page } = session;
  await session.configure({ "workbench.colorTheme": theme });
  // A zoomed window has room for as much as a smaller one.
  await page.setViewportSize({ width: width / zoom, height: height / zoom });
  if (language === undefined) return;
  await page.addInitScript((its) => Object.defineProperty(globalThis, "_VSCODE_NLS_LANGUAGE", { get: () => its, set: () => undefined, configurable: true }), language);
  const { pid } = await session.lock();
  await page.reload({ waitUntil: "domcontentloaded" });
  await session.backAfter(pid);
}

async function take(session, name, face) {
  const client = await Client.connect(await session.lock(), "agent");
  try {
    await FACES[face](actions(session, client));
    if (face !== "accepted") await session.page.waitForTimeout(700); // lenses and hovers are drawn late; the mark of a change goes
    await session.bench.screenshot(path.join(folder, `${face}-${name}.png`));
  } catch (error) {
    console.error(`${face}, ${name}: ${error.message}`);
    await session.bench.screenshot(path.join(folder, `${face}-${name}-failed.png`));
  } finally {
    client.close();
    await session.bench.leaveQuestions();
    await session.page.keyboard.press("Escape");
    await session.configure({ "agent.review": null });
    fs.writeFileSync(session.file("src/order.ts"), BEFORE);
    await session.noDiffs();
    await session.closeEditors();
    await session.probe(`await vscode.commands.executeCommand("workbench.view.explorer"); await vscode.commands.executeCommand("notifications.clearAll")`);
  }
}

const given = process.argv.slice(2);
const cut = given.includes("--") ? given.indexOf("--") : given.length;
const [looks, faces] = [given.slice(0, cut), given.slice(cut + 1)];
try {
  for (const [name, wanted] of Object.entries(LOOKS)) {
    if (looks.length > 0 && !looks.includes(name)) continue;
    const root = makeFolder(files);
    const session = await startSession({ own: true, folder: path.join(root, "shop") });
    try {
      await look(session, wanted);
      for (const face of Object.keys(FACES)) if (faces.length === 0 || faces.includes(face)) await take(session, name, face);
    } finally {
      await session.stop();
      fs.rmSync(root, { recursive: true, force: true });
    }
  }
} finally {
  await endAll();
}
