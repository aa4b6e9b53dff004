// A workbench in a headless Chromium, and a person's actions in it.
import fs from "node:fs";
import path from "node:path";

import { sharedBrowser } from "./browser.mjs";
import { until } from "./wait.mjs";

/** The longest wait for anything to appear: a failure is not slow, and a slow step does not fail. */
const PATIENCE = 60_000;

/** The text of the review at the front that can be changed. */
export const SIDE = ".monaco-diff-editor .editor.modified .view-lines, .editor-instance > .monaco-editor[data-uri^='agent-inline:'] .view-lines";

/** One window of VS Code. */
export class Workbench {
  constructor(context, page) {
    this.context = context;
    this.page = page;
    this.others = [];
  }

  /** Waits for the extensions to hear of everything on the screen; a session knows how. */
  async caughtUp() {}

  /** A button in the title bar of the editor, by the beginning of its title. */
  titleButton(title) {
    return this.page.locator(`.part.editor .editor-actions .action-label[aria-label^="${title}"]`);
  }

  /** The labels of the buttons in the title bar of the editor, without their keys. */
  titleButtons() {
    return this.page.locator(".part.editor .title .editor-actions .action-label").evaluateAll((all) => all.map((each) => (each.getAttribute("aria-label") ?? "").replace(/ \(.*/, "")));
  }

  tab(title) {
    return this.page.locator(".part.editor .tab", { hasText: title });
  }

  statusItem(text) {
    return this.page.locator(".statusbar-item", { hasText: text });
  }

  /** Returns the middle of an element. VS Code may replace the element while it is measured. */
  async middle(element) {
    const { x, y, width, height } = await until("an element to measure", () => element.boundingBox());
    return [x + width / 2, y + height / 2];
  }

  /**
   * Clicks a button in the title bar of the editor. VS Code may replace the button after the
   * mouse is pressed on it and before it is released, which is no click: it is clicked again.
   */
  async press(title) {
    const early = this.page.locator(".statusbar-item", { hasText: "answer again" });
    await early.waitFor({ state: "hidden" }); // from before
    await this.clickTitle(title);
    // The buttons of the tab before may still be there on a busy machine: like a person, answer again.
    const isEarly = /^(Accept|Reject)/.test(title) && (await early.waitFor({ timeout: 250 }).then(() => true, () => false));
    if (!isEarly) return;
    await early.waitFor({ state: "hidden" });
    await this.clickTitle(title);
  }

  async clickTitle(title) {
    await until(`a click on ${title}`, async () => {
      await this.page.evaluate(noteClick);
      await this.titleButton(title).click();
      return this.page.evaluate((label) => window.clicked?.startsWith(label), title);
    }, 2 * PATIENCE);
  }

  /**
   * Waits until a diff, of the file whose path ends so, has computed its right side and takes
   * answers. One that was answered with press may still be there: it is another.
   */
  async diffShown(path = "") {
    await until("a diff that takes answers", () => this.page.evaluate(takesAnswers, path), 2 * PATIENCE).catch(async (error) => {
      throw new Error(`${error.message}; ${await this.state()}`);
    });
  }

  /** Comments on the line with the cursor. */
  async comment(text) {
    await this.command("Comments: Add Comment on Current Selection");
    await this.page.locator(".review-widget .monaco-editor.focused").waitFor();
    await this.page.keyboard.type(text);
    await this.page.locator(".review-widget .monaco-button", { hasText: "Add Comment" }).click();
    await this.page.locator(".review-widget .comment-body", { hasText: text }).waitFor();
  }

  /** Rejects the review at the front with a reason. */
  async rejectWith(reason) {
    await this.command("Agent: Reject with Reason");
    await this.page.locator(".quick-input-widget", { hasText: "Reject with a Reason" }).locator("input.input:focus").waitFor();
    await this.page.keyboard.type(reason);
    await this.page.keyboard.press("Enter");
  }

  /** Answers a question that cannot be overlooked, and has this text, when it has been there long enough for an answer to count. */
  async answer(label, text = "") {
    const button = this.page.locator(".monaco-dialog-box", { hasText: text }).locator(".monaco-button", { hasText: label });
    await button.waitFor();
    await this.caughtUp();
    await this.page.waitForTimeout(500);
    await button.click();
  }

  /** Leaves each question that cannot be overlooked: nothing else can be done before. */
  async leaveQuestions() {
    await until("the questions to go", async () => {
      if ((await this.page.locator(".monaco-dialog-box").count()) === 0) return true;
      await this.page.keyboard.press("Escape");
      return false;
    });
  }

  /** Presses a key that answers. One that comes too soon after the review got the focus does not count, so it is pressed again. */
  async answerByKey(key, isAnswered, times = 1) {
    await until(`${key} to answer`, async () => {
      // At once: a break between them may be long enough for the second to be meant for the next review.
      await Promise.all(Array.from({ length: times }, () => this.page.keyboard.press(key)));
      return until("the answer", isAnswered, 10_000);
    }, 2 * PATIENCE);
  }

  /** Waits for work that closes editors; drops each text that VS Code asks about, which nobody else would answer. */
  async dropping(work) {
    let ended = false;
    const result = work.finally(() => (ended = true));
    const drop = this.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Don't Save" });
    const look = async () => {
      if (!ended && (await drop.isVisible())) await drop.click();
      return ended;
    };
    await Promise.race([result, until("the editors to close", look)]);
    return result;
  }

  /** Types at the end of the diff's right side. */
  async typeAtEnd(text) {
    await this.page.click(SIDE);
    await this.page.keyboard.press("Control+End");
    await this.page.keyboard.type(text);
  }

  /** Closes the active tab as a person does. */
  async closeActiveTab() {
    await this.page.hover(".part.editor .tab.active");
    await this.page.click(".part.editor .tab.active .tab-actions .action-label");
  }

  /** Runs a command by its title in the palette, which closes if something else takes the focus: then it is opened again. */
  async command(title) {
    const input = this.page.locator(".quick-input-widget input.input");
    // The list of before may hold it too, where another command is the chosen one.
    const chosen = this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title }).first();
    const patience = { timeout: 10_000 };
    await until(`${title} in the palette`, async () => {
      await this.page.keyboard.press("F1"); // a page that was just loaded does not take keys yet
      await input.fill(`>${title}`, patience);
      await chosen.waitFor(patience);
      return true;
    }, 2 * PATIENCE);
    await this.page.keyboard.press("Enter");
  }

  /** The text of the terminal that is shown, as painted. */
  async terminalText() {
    const rows = await this.page.locator(".terminal-wrapper.active .xterm-rows > div").allTextContents();
    return rows.map((row) => row.replaceAll("\u00a0", " ").trimEnd()).join("\n").trimEnd();
  }

  /** Describes the window for a test's error: the focus, the tabs, the terminal's last lines. */
  async state() {
    const focus = await this.page.evaluate(() => document.activeElement?.closest(".terminal-wrapper, .monaco-editor, .part")?.className ?? "nothing");
    const tabs = await this.page.locator(".part.editor .tab").allTextContents();
    const lines = (await this.terminalText()).split("\n").slice(-12).join("\n");
    const asked = await this.page.locator(".monaco-dialog-box").allTextContents();
    return `the focus is in ${focus}; the tabs are ${JSON.stringify(tabs)}; ${asked.length > 0 ? `VS Code asks ${JSON.stringify(asked)}; ` : ""}the terminal shows:\n${lines}`;
  }

  async typeInTerminal(text) {
    // The line that sticks to the top is a terminal of its own.
    await this.page.locator(".terminal-wrapper.active .xterm").first().click();
    await this.page.keyboard.type(text);
  }

  async screenshot(file) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    await this.page.screenshot({ path: file });
  }

  /** A second window of the same browser. */
  async another(url) {
    const bench = new Workbench(this.context, await this.context.newPage());
    this.others.push(bench);
    await load(bench.page, url);
    return bench;
  }

  /**
   * Gives this window the focus, and takes it from others. Pages without a screen all
   * report that they have it, so the pages are told; VS Code decides what follows from
   * that.
   */
  async focus(...others) {
    for (const { page } of others) await page.evaluate(setFocus, false);
    await this.page.bringToFront();
    await this.page.evaluate(setFocus, true);
  }

  async close() {
    for (const bench of this.others) await bench.close();
    await this.page.close();
  }
}

/** Opens a window on url, in the browser of this process, and waits for the workbench. */
export async function openWorkbench(url, { width = 1400, height = 900, prepare } = {}) {
  const { context } = await sharedBrowser();
  const page = await context.newPage();
  try {
    await page.setViewportSize({ width, height });
    await prepare?.(page);
    await load(page, url);
    return new Workbench(context, page);
  } catch (error) {
    await page.close();
    throw error;
  }
}

/** Runs in the page: notes the button that the next click reaches, and the review that it answers. */
function noteClick() {
  window.clicked = undefined;
  const note = ({ target }) => {
    const button = target.closest(".action-item")?.querySelector(".action-label:not(.disabled)");
    window.clicked = button?.getAttribute("aria-label") ?? "";
    if (!/^(Accept|Reject)/.test(window.clicked)) return;
    const side = button.closest(".editor-group-container")?.querySelector(".monaco-diff-editor .editor.modified > .monaco-editor, .editor-instance > .monaco-editor[data-uri^='agent-inline:']");
    window.answered = [...(window.answered ?? []), side?.dataset.uri];
  };
  document.addEventListener("click", note, { capture: true, once: true });
}

/** Runs in the page: whether a diff of the file whose path ends so takes answers, which was not answered yet. */
function takesAnswers(path) {
  return [...document.querySelectorAll(".part.editor .editor-group-container")].some((group) => {
    const side = group.querySelector(".monaco-diff-editor .editor.modified > .monaco-editor") ?? group.querySelector(".editor-instance > .monaco-editor[data-uri^='agent-inline:']");
    const uri = side?.dataset.uri;
    if (uri === undefined || (window.answered ?? []).includes(uri) || !new URL(uri).pathname.endsWith(encodeURI(path))) return false;
    const accepts = [...group.querySelectorAll(".editor-actions .action-label:not(.disabled)")].some((each) => each.getAttribute("aria-label")?.startsWith("Accept"));
    return accepts && side.querySelector(".view-line") !== null;
  });
}

/** Runs in the page. */
function setFocus(has) {
  document.hasFocus = () => has;
  window.dispatchEvent(new Event(has ? "focus" : "blur"));
  document.dispatchEvent(new Event("visibilitychange"));
}

async function load(page, url) {
  page.setDefaultTimeout(PATIENCE);
  await page.goto(url, { waitUntil: "domcontentloaded" });
  await page.waitForSelector(".monaco-workbench .part.editor", { timeout: 60_000 });
}
