import * as vscode from "vscode";
import type { ShownDiff } from "../core/ports";
import type { Reviews } from "../core/reviews";
import { canHold } from "./inlinemarks";
import type { InlineMarks, Mark, Proposer } from "./inlinemarks";
import type { Leftovers } from "./leftovers";
import type { Places } from "./places";
import { groupOf } from "./restore";

/** What is told of what the person does. */
type Told = Pick<Reviews, "accept" | "reject" | "edited" | "tabsChanged">;

interface Options {
  readonly places: Places;
  readonly marks: InlineMarks;
  readonly leftovers: Leftovers;
}

/**
 * Reviews that are shown in the document itself. The document is as it is on disk
 * again when the review has ended, however it ended: the client writes.
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
    await this.options.leftovers.keep(document, proposed);
    const before = document.getText();
    try {
      this.open.set(id, await this.options.marks.add(document, proposed, description, this.proposer(id, document)));
    } catch (error) {
      await this.options.leftovers.forget(document.uri);
      throw error;
    }
    const first = firstDifference(before, document.getText());
    editor.revealRange(new vscode.Range(document.positionAt(first), document.positionAt(first)), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private proposer(id: string, document: vscode.TextDocument): Proposer {
    return {
      changed: (text) => {
        this.told?.edited(id, text);
        void this.options.leftovers.keep(document, text);
      },
      decided: (text, by) => this.decided(id, text, by),
      displaced: () => this.displaced(id),
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
    await mark.takeOut();
    await this.options.leftovers.forget(mark.document.uri);
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

  private displaced(id: string): void {
    const mark = this.open.get(id);
    if (mark !== undefined) this.gone(id, mark);
  }

  /** The document is as before, without a word of the person: as if the tab of a diff had been closed. */
  private gone(id: string, mark: Mark): void {
    this.open.delete(id);
    mark.remove();
    void this.options.leftovers.forget(mark.document.uri);
    this.told?.tabsChanged(id);
  }
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}
