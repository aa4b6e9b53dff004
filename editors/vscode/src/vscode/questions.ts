import * as vscode from "vscode";
import type { Note } from "../core/ports";
import { readyMs } from "../core/ready";

/** Asks what to do about an edit whose file has changed on disk. */
export async function confirmStale(path: string): Promise<"anyway" | "redo" | "no"> {
  const name = vscode.workspace.asRelativePath(path);
  const redo = vscode.l10n.t("Ask for It Again");
  const anyway = vscode.l10n.t("Accept Anyway");
  const detail = vscode.l10n.t("Ask for It Again: the program makes the edit again on the new text, and gets your changes as a patch.");
  const answer = await ask(
    vscode.l10n.t("{0} has changed on disk since this edit was proposed.", name),
    `${detail}\n\n${vscode.l10n.t("Accept Anyway: changes made on disk meanwhile may be lost.")}`,
    [redo, anyway],
  );
  return answer === redo ? "redo" : answer === anyway ? "anyway" : "no";
}

/** Asks whether to accept although there are remarks, which are shown. */
export async function confirmNotes(path: string, notes: readonly Note[]): Promise<boolean> {
  const accept = vscode.l10n.t("Accept");
  return (await ask(vscode.l10n.t("Accept this edit of {0}?", vscode.workspace.asRelativePath(path)), notes.map(({ text }) => `⚠ ${text}`).join("\n"), [accept])) === accept;
}

/** Asks in which permission mode to carry out a plan; undefined: not at all. */
export async function pickMode(): Promise<string | undefined> {
  const modes = [
    { label: vscode.l10n.t("Carry It Out, Ask About Edits"), mode: "default" },
    { label: vscode.l10n.t("Carry It Out, Accept Edits"), mode: "accept-edits" },
  ];
  return (await vscode.window.showQuickPick(modes, { title: vscode.l10n.t("Accept the Plan"), ignoreFocusOut: true }))?.mode;
}

/** A question that cannot be overlooked; it stays until its answer can have been meant for it. */
async function ask(question: string, detail: string, answers: readonly string[]): Promise<string | undefined> {
  for (;;) {
    const since = Date.now();
    const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, ...answers);
    if (answer === undefined || Date.now() - since >= readyMs) return answer;
  }
}
