import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { CommandQuestion, CommandVerdict } from "../core/ports";
import { readyMs } from "../core/ready";

const rejected: CommandVerdict = { run: false, feedback: "" };

/** Asks whether a command may run, in a tab of its own: unlike a dialog, a tab goes when nobody waits for the answer any more. */
export async function mayRun(question: CommandQuestion, cancelled: AbortSignal): Promise<CommandVerdict> {
  const ended = new vscode.CancellationTokenSource();
  const end = (): void => ended.cancel();
  cancelled.addEventListener("abort", end, { once: true });
  try {
    const answer = await pressed(question, ended.token);
    if (answer !== "reason") return { ...rejected, run: answer === "run" };
    const options = { title: vscode.l10n.t("Reject with a Reason"), prompt: question.command, ignoreFocusOut: true };
    return { run: false, feedback: (await vscode.window.showInputBox(options, ended.token)) ?? "" };
  } finally {
    cancelled.removeEventListener("abort", end);
    ended.dispose();
  }
}

/** The button that was pressed; another value for a tab that was closed. */
async function pressed(question: CommandQuestion, ended: vscode.CancellationToken): Promise<unknown> {
  if (ended.isCancellationRequested) return undefined;
  const panel = vscode.window.createWebviewPanel("agent.command", vscode.l10n.t("Run a Command?"), vscode.ViewColumn.Active, { enableScripts: true, localResourceRoots: [] });
  try {
    return await new Promise((done) => {
      panel.onDidDispose(done);
      panel.webview.onDidReceiveMessage(done);
      ended.onCancellationRequested(done);
      panel.webview.html = page(question);
    });
  } finally {
    panel.dispose();
  }
}

/** The first button has the focus, and none counts at once: a person who types without having seen the question must not run anything. */
function page({ client, command, cwd }: CommandQuestion): string {
  const nonce = randomBytes(16).toString("hex");
  const title = vscode.l10n.t("{0} wants to run a command in {1}", client, vscode.workspace.asRelativePath(cwd));
  const button = (answer: string, label: string): string => `<button disabled data-answer="${answer}">${escaped(label)}</button>`;
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<title>${escaped(title)}</title>
<style nonce="${nonce}">
h1 { font-size: 1.2em; font-weight: 600; }
pre { font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); white-space: pre-wrap; overflow-wrap: anywhere; padding: 0.8em; border: 1px solid var(--vscode-contrastBorder, transparent); background: var(--vscode-textCodeBlock-background); color: var(--vscode-editor-foreground); }
button { font: inherit; padding: 0.4em 1em; margin: 0 0.6em 0.6em 0; border: 1px solid var(--vscode-button-border, transparent); background: var(--vscode-button-secondaryBackground); color: var(--vscode-button-secondaryForeground); }
button:focus { outline: 2px solid var(--vscode-focusBorder); outline-offset: 1px; }
</style>
</head>
<body>
<main role="alertdialog" aria-labelledby="title" aria-describedby="command">
<h1 id="title">${escaped(title)}</h1>
<pre id="command">${escaped(command)}</pre>
${button("reject", vscode.l10n.t("Reject"))}${button("run", vscode.l10n.t("Run"))}${button("reason", vscode.l10n.t("Reject with Reason…"))}
</main>
<script nonce="${nonce}">
const api = acquireVsCodeApi();
const buttons = [...document.querySelectorAll("button")];
for (const button of buttons) button.addEventListener("click", () => api.postMessage(button.dataset.answer));
const focus = () => buttons.includes(document.activeElement) || buttons[0].focus();
requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
  for (const button of buttons) button.disabled = false;
  focus();
  addEventListener("focus", focus);
  addEventListener("keydown", ({ key }) => key === "Escape" && api.postMessage("reject"));
}, ${readyMs})));
</script>
</body>
</html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (each) => `&#${each.codePointAt(0)};`);
}
