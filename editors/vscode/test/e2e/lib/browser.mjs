// A headless Chromium with a profile of its own, for all windows of a process.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { chromium } from "playwright-core";

import { atEnd } from "./ending.mjs";
import { findChromium } from "./install.mjs";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--force-color-profile=srgb",
  // By default it keeps no file of more than 10 MB, and each window loads the workbench anew, which has 19.
  `--disk-cache-size=${512 << 20}`,
];

let browser;

/** The browser of this process. */
export function sharedBrowser() {
  return (browser ??= launch());
}

async function launch() {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "agent-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findChromium(),
    headless: true,
    viewport: { width: 1400, height: 900 },
    args: ARGS,
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  return { context, profile };
}

atEnd(async () => {
  if (browser === undefined) return;
  const { context, profile } = await browser;
  await context.close();
  // Its helpers may write for a moment.
  fs.rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});
