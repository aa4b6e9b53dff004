import { basename, dirname, extname, join } from "node:path";
import * as vscode from "vscode";
import type { Drafts } from "../core/drafts";
import type { KeptDraft } from "../core/ports";
import { replaceAll } from "./documents";

/** Offers the texts that a person typed in reviews whose client is gone. */
export class KeptDrafts {
  constructor(private readonly drafts: Drafts) {
    drafts.onLost = (draft) => void this.offer(draft);
  }

  /** Lets the person choose among all of them. */
  async choose(): Promise<void> {
    const items = this.drafts.unclaimed().map((draft) => ({
      label: draft.name,
      description: new Date(draft.at).toLocaleString(),
      detail: draft.asks,
      draft,
    }));
    if (items.length === 0) return void vscode.window.showInformationMessage(vscode.l10n.t("No texts are kept: you have answered every review."));
    const picked = await vscode.window.showQuickPick(items, { title: vscode.l10n.t("Texts Kept from Reviews") });
    if (picked !== undefined) await this.offer(picked.draft);
  }

  private async offer(draft: KeptDraft): Promise<void> {
    const { name, asks } = draft;
    const [copy, save, put] = [vscode.l10n.t("Copy"), vscode.l10n.t("Save As…"), vscode.l10n.t("Put Into the File")];
    const who = asks === "" ? vscode.l10n.t("The program that asked") : asks;
    const message =
      draft.accepted === true
        ? vscode.l10n.t("{0} is gone: it was not told that you accepted its edit of {1}, and nothing was saved. The text is kept.", who, name)
        : vscode.l10n.t("{0} no longer asks about {1}, and what you typed there was not written. It is kept.", who, name);
    const answer = await vscode.window.showWarningMessage(message, copy, save, put);
    if (answer === undefined) return; // it stays in the list
    const done = answer === copy ? await copied(draft) : answer === save ? await saved(draft) : await putIntoFile(draft);
    if (done) this.drafts.drop(draft.key);
  }
}

async function copied({ text }: KeptDraft): Promise<boolean> {
  await vscode.env.clipboard.writeText(text);
  return true;
}

async function saved({ path, text }: KeptDraft): Promise<boolean> {
  const suffix = extname(path);
  const proposed = join(dirname(path), `${basename(path, suffix)}.kept${suffix}`);
  const place = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.file(proposed) });
  if (place === undefined) return false;
  await vscode.workspace.fs.writeFile(place, Buffer.from(text, "utf8"));
  await vscode.window.showTextDocument(place, { preview: false });
  return true;
}

/** Makes it the unsaved text of the file, which the person looks at and saves, or not. */
async function putIntoFile({ path, text }: KeptDraft): Promise<boolean> {
  const file = vscode.Uri.file(path);
  const isThere = await vscode.workspace.fs.stat(file).then(() => true, () => false);
  const document = await vscode.workspace.openTextDocument(isThere ? file : file.with({ scheme: "untitled" }));
  await vscode.window.showTextDocument(document, { preview: false });
  return replaceAll(document, text);
}
