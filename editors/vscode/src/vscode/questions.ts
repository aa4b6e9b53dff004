import * as vscode from "vscode";
import type { Note } from "../core/ports";

/** A key that was meant for something else comes this soon after a question has appeared. */
const readyMs = 400;

/** Asks what to do about an edit whose file has changed on disk. */
export async function confirmStale(path: string, offerAnyway: boolean): Promise<"anyway" | "redo" | "no"> {
  const name = vscode.workspace.asRelativePath(path);
  const redo = "Ask for It Again";
  const anyway = "Accept Anyway";
  const detail = "Ask for It Again: the program makes the edit again on the new text, and is given your changes of it as a patch.";
  const answer = await ask(
    `${name} has changed on disk since this edit was proposed.`,
    offerAnyway ? `${detail}\n\nAccept Anyway: what changed meanwhile may be lost.` : detail,
    offerAnyway ? [redo, anyway] : [redo],
  );
  return answer === redo ? "redo" : answer === anyway ? "anyway" : "no";
}

/** Asks whether to accept although there are remarks, which are shown. */
export async function confirmNotes(path: string, notes: readonly Note[]): Promise<boolean> {
  const accept = "Accept";
  return (await ask(`Accept this edit of ${vscode.workspace.asRelativePath(path)}?`, notes.map(({ text }) => `⚠ ${text}`).join("\n"), [accept])) === accept;
}

/** A question that cannot be overlooked; it stays until its answer can have been meant for it. */
async function ask(question: string, detail: string, answers: readonly string[]): Promise<string | undefined> {
  for (;;) {
    const since = Date.now();
    const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, ...answers);
    if (answer === undefined || Date.now() - since >= readyMs) return answer;
  }
}
