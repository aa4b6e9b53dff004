import * as vscode from "vscode";
import type { Always } from "../core/always";
import type { Note } from "../core/ports";
import { readyMs } from "../core/ready";
import { caughtUp } from "./tabs";

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
  // The first button has the focus: Enter must not be a yes.
  const answers = [vscode.l10n.t("Look Again"), accept];
  return (await ask(vscode.l10n.t("Accept this edit of {0}?", vscode.workspace.asRelativePath(path)), notes.map(({ text }) => `⚠ ${text}`).join("\n"), answers)) === accept;
}

/** Asks in which permission mode to carry out a plan; undefined: not at all. */
export async function pickMode(): Promise<string | undefined> {
  const modes = [
    { label: vscode.l10n.t("Carry It Out, Ask About Edits"), mode: "default" },
    { label: vscode.l10n.t("Carry It Out, Accept Edits"), mode: "accept-edits" },
  ];
  return (await vscode.window.showQuickPick(modes, { title: vscode.l10n.t("Accept the Plan"), ignoreFocusOut: true }))?.mode;
}

interface AlwaysItem extends vscode.QuickPickItem {
  /** Undefined: the person changes the rule. */
  readonly always: Always | undefined;
}

/** Asks what to allow beyond this edit, and for how long; undefined: nothing, and no answer. */
export async function pickAlways(proposed: string): Promise<Always | undefined> {
  for (let rule = proposed; ; ) {
    const picked = await vscode.window.showQuickPick(alwaysItems(rule), { title: vscode.l10n.t("Accept, and Allow Without a Question"), ignoreFocusOut: true });
    if (picked === undefined || picked.always !== undefined) return picked?.always;
    const changed = await vscode.window.showInputBox({
      title: vscode.l10n.t("Change the Rule"),
      prompt: vscode.l10n.t("* is for any name, ** for any folders: edit(docs/**). Protected files always ask."),
      value: rule,
      ignoreFocusOut: true,
    });
    rule = changed?.trim() ?? rule;
  }
}

function alwaysItems(rule: string): readonly AlwaysItem[] {
  const later = vscode.l10n.t("In later sessions, too: the rule is written to your own file about this folder.");
  return [
    { label: rule, description: vscode.l10n.t("this session"), always: { rule } },
    { label: rule, description: vscode.l10n.t("this project"), detail: later, always: { rule, project: true } },
    { label: rule, description: vscode.l10n.t("10 times"), always: { rule, uses: 10 } },
    { label: rule, description: vscode.l10n.t("1 hour"), always: { rule, hours: 1 } },
    { label: vscode.l10n.t("Change the Rule…"), always: undefined },
    { label: vscode.l10n.t("All edits"), description: vscode.l10n.t("this session"), always: { session: true } },
  ];
}

let asked: Promise<unknown> = Promise.resolve();

/**
 * A question that cannot be overlooked; it stays until its answer can have been meant for it. One
 * comes after the other: the editor would keep the second one back, whose time would pass unseen.
 */
export function ask(question: string, detail: string, answers: readonly string[]): Promise<string | undefined> {
  const answer = asked.then(() => askNow(question, detail, answers));
  asked = answer.catch(() => undefined);
  return answer;
}

async function askNow(question: string, detail: string, answers: readonly string[]): Promise<string | undefined> {
  for (;;) {
    const answered = vscode.window.showWarningMessage(question, { modal: true, detail }, ...answers);
    // A busy window shows it late, and this call is handled after that.
    let since = Infinity;
    const shown = (): void => void (since = Date.now());
    void caughtUp().then(shown, shown);
    const answer = await answered;
    if (answer === undefined || Date.now() - since >= readyMs) return answer;
  }
}
