import * as vscode from "vscode";
import type { ShownDiff } from "../core/ports";
import type { Reviews } from "../core/reviews";
import { sha256 } from "../core/text";
import { replaceAll } from "./documents";
import { canHold } from "./inlinemarks";
import type { InlineMarks, Mark, Proposer } from "./inlinemarks";
import type { Places } from "./places";
import { groupOf, restore } from "./restore";

/** What is told of what the person does. */
type Told = Pick<Reviews, "accept" | "reject" | "edited" | "saved" | "tabsChanged">;

interface Options {
  readonly places: Places;
  readonly marks: InlineMarks;
  readonly kept: vscode.Memento;
  readonly log: vscode.LogOutputChannel;
  saveAccepts(): boolean;
}

const keptKey = "inlineReviews";

/**
 * Reviews that are shown in the document itself. The document is as it is on disk
 * again when the review has ended, however it ended: the client writes. What a
 * window that died has left in a document is taken out when the next one begins.
 */
export class InlineReviews {
  private readonly open = new Map<string, Mark>();
  private told: Told | undefined;

  constructor(private readonly options: Options) {}

  tell(told: Told): void {
    this.told = told;
  }

  async possible({ inline, path, original, background }: ShownDiff): Promise<boolean> {
    if (!inline || background || !vscode.workspace.isTrusted) return false;
    const { places, marks } = this.options;
    const uri = places.uri(path);
    if (marks.has(uri) || !(await canHold(uri))) return false;
    return (await vscode.workspace.openTextDocument(uri)).getText() === original;
  }

  /** Shows the proposal, or the document in which it stands. */
  async show({ id, path, proposed, description }: ShownDiff, focus: boolean): Promise<void> {
    const known = this.open.get(id);
    const document = known?.document ?? (await vscode.workspace.openTextDocument(this.options.places.uri(path)));
    const group = groupOf(document);
    const where = group === undefined ? {} : { viewColumn: group.viewColumn };
    const editor = await vscode.window.showTextDocument(document, { preview: false, preserveFocus: !focus, ...where });
    if (known !== undefined) return;
    await this.keep(document, proposed);
    const before = document.getText();
    try {
      this.open.set(id, await this.options.marks.add(document, proposed, description, this.proposer(id, document)));
    } catch (error) {
      await this.forget(document.uri.toString());
      throw error;
    }
    const first = firstDifference(before, document.getText());
    editor.revealRange(new vscode.Range(document.positionAt(first), document.positionAt(first)), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private proposer(id: string, document: vscode.TextDocument): Proposer {
    return {
      changed: (text) => {
        this.told?.edited(id, text);
        void this.keep(document, text);
      },
      decided: (text, by) => this.decided(id, text, by),
      maySave: ({ manual, active }) => manual && active && this.options.saveAccepts(),
      saved: (text, save) => this.saved(id, text, save),
    };
  }

  has(id: string): boolean {
    return this.open.has(id);
  }

  /** The review that stands in the document of the active editor. */
  active(): string | undefined {
    const document = vscode.window.activeTextEditor?.document;
    return [...this.open].find(([, mark]) => mark.document === document)?.[0];
  }

  text(id: string): string | undefined {
    return this.open.get(id)?.document.getText();
  }

  lock(id: string, locked: boolean): void {
    this.open.get(id)?.lock(locked ? "$(lock) being edited in the terminal" : "");
  }

  /** Takes the proposal out of the document. */
  async close(id: string): Promise<void> {
    const mark = this.open.get(id);
    if (mark === undefined) return;
    this.open.delete(id);
    mark.remove();
    await this.restore(mark.document, mark.original);
  }

  /** Takes out what an earlier window has left; asks where the person may have gone on with it. */
  async sweep(): Promise<void> {
    for (const [key, hash] of Object.entries(this.kept())) {
      const document = await Promise.resolve(vscode.workspace.openTextDocument(vscode.Uri.parse(key))).catch(() => undefined);
      if (document?.isDirty !== true) await this.forget(key);
      else if (sha256(document.getText()) === hash) await this.restore(document);
      else void this.ask(document);
    }
  }

  private decided(id: string, text: string, by: "person" | "reverted"): void {
    const mark = this.open.get(id);
    if (mark === undefined) return;
    if (by === "reverted") return this.gone(id, mark);
    const rejected = text === mark.original;
    // If the answer does not count (it is asked for once more, or held), all is undecided again.
    mark.reopen();
    if (rejected) this.told?.reject(id, "button");
    else this.told?.accept(id, "button");
  }

  private saved(id: string, text: string, save: { manual: boolean; active: boolean }): void {
    const mark = this.open.get(id);
    if (mark === undefined) return;
    if (text === mark.original) return this.gone(id, mark);
    this.told?.saved(id, { ...save, text });
  }

  /** The document is as before, without a word of the person: as if the tab of a diff had been closed. */
  private gone(id: string, mark: Mark): void {
    this.open.delete(id);
    mark.remove();
    void this.forget(mark.document.uri.toString());
    this.told?.tabsChanged(id);
  }

  /** If it cannot be put back as it is on disk, it gets at least the text that it had. */
  private async restore(document: vscode.TextDocument, original?: string): Promise<void> {
    if (!(await restore(document))) {
      this.options.log.warn(`${document.uri.fsPath} could not be put back as it is on disk`);
      if (original === undefined || !(await replaceAll(document, original))) return;
    }
    await this.forget(document.uri.toString());
  }

  private async ask(document: vscode.TextDocument): Promise<void> {
    const name = vscode.workspace.asRelativePath(document.uri);
    const message = `${name} has unsaved changes, among them an edit that an agent had proposed and that nobody has accepted.`;
    if ((await vscode.window.showWarningMessage(message, "Take All Out", "Keep")) === "Take All Out") await restore(document);
    await this.forget(document.uri.toString());
  }

  private kept(): Record<string, string> {
    return this.options.kept.get(keptKey, {});
  }

  /** Remembers what a document holds, for the next window if this one dies. */
  private async keep(document: vscode.TextDocument, text: string): Promise<void> {
    await this.options.kept.update(keptKey, { ...this.kept(), [document.uri.toString()]: sha256(text) });
  }

  private async forget(key: string): Promise<void> {
    const kept = Object.entries(this.kept()).filter(([each]) => each !== key);
    await this.options.kept.update(keptKey, Object.fromEntries(kept));
  }
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}
