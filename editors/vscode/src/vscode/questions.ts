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
  const what = inWords(rule);
  const later = vscode.l10n.t("In later sessions, too: the rule is written to your own file about this folder.");
  return [
    { label: vscode.l10n.t("{0}, for this session", what), always: { rule } },
    { label: vscode.l10n.t("{0}, for this project", what), detail: later, always: { rule, project: true } },
    { label: vscode.l10n.t("{0}, the next 10 times", what), always: { rule, uses: 10 } },
    { label: vscode.l10n.t("{0}, for 1 hour", what), always: { rule, hours: 1 } },
    { label: vscode.l10n.t("Change the Rule…"), description: rule, always: undefined },
    { label: vscode.l10n.t("All edits, for this session"), always: { session: true } },
  ];
}

/** The meaning of a rule, in words. */
function inWords(rule: string): string {
  const [, path = ""] = /^edit\((.+)\)$/.exec(rule) ?? [];
  if (path === "**") return vscode.l10n.t("Edits of all files");
  if (path !== "" && !path.includes("*")) return vscode.l10n.t("Edits of {0}", path);
  const [, folder] = /^([^*]+)\/\*\*$/.exec(path) ?? [];
  return folder === undefined ? vscode.l10n.t("What {0} allows", rule) : vscode.l10n.t("Edits of all files in {0}", folder);
}

/** The most names in a question. */
const namesMax = 10;

/** Names for a question, which has to fit the screen. */
export function named(names: readonly string[]): string {
  const more = names.length - namesMax;
  return [...names.slice(0, namesMax), ...(more > 0 ? [vscode.l10n.t("{0} more", more)] : [])].join("\n");
}

/** Asks about accepting edits, of which the person has looked at some. Enter looks at the next of the others. */
export async function confirmAll(names: readonly string[], seen: number): Promise<"look" | "seen" | "all" | undefined> {
  const unseen = names.length - seen;
  const look = vscode.l10n.t("Look at the Next");
  const all = names.length === 1 ? vscode.l10n.t("Accept") : vscode.l10n.t("Accept All {0}", names.length);
  const some = vscode.l10n.t("Accept the {0} Seen", seen);
  const question = names.length === 1 ? vscode.l10n.t("Accept this edit?") : vscode.l10n.t("Accept {0} edits?", names.length);
  const warning = unseen === 0 ? "" : `\n\n${unseen === 1 ? vscode.l10n.t("One has not been looked at.") : vscode.l10n.t("{0} have not been looked at.", unseen)}`;
  const answers = unseen === 0 ? [all] : [look, ...(seen > 0 ? [some] : []), all];
  const answer = await ask(question, `${named(names)}${warning}`, answers);
  return answer === look ? "look" : answer === some ? "seen" : answer === all ? "all" : undefined;
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
