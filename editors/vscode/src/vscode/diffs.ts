import * as vscode from "vscode";
import type { Check, DiffView, ReviewComment, ShownDiff } from "../core/ports";
import { saveTyped } from "../core/saving";
import type { CheckMarks } from "./checks";
import { firstChanged, lastChanged, whyLocked } from "./headers";
import type { Heading, Headers } from "./headers";
import type { Remarks } from "./remarks";
import { Saves } from "./saves";
import type { SideFiles } from "./sidefiles";
import { caughtUp, closeTabs, diffOf, documentAt, tabsOf, tabThere } from "./tabs";
import { originalScheme, proposalUri, proposedScheme, reviewId, reviewUri } from "./uri";

interface Sides {
  readonly left: vscode.Uri;
  readonly right: vscode.Uri;
  readonly original: string;
  heading: Heading;
  readonly fixed: boolean;
  readonly: boolean;
}

/**
 * The diffs on the screen. Both sides are files in memory, so that neither
 * showing, typing nor saving touches the file under review.
 */
export class Diffs implements Omit<DiffView, "confirmStale" | "confirmNotes"> {
  private readonly sides = new Map<string, Sides>();
  private readonly focusNext = new Set<string>();
  private readonly saving = new Map<string, Promise<void>>();
  readonly saves: Saves;

  constructor(
    private readonly originals: SideFiles,
    private readonly proposals: SideFiles,
    private readonly remarks: Remarks,
    private readonly headers: Headers,
    private readonly checks: CheckMarks,
  ) {
    this.saves = new Saves(proposals);
  }

  async open(diff: ShownDiff): Promise<void> {
    const sides = await this.contents(diff);
    const shown = tabsOf(diff.id).find((tab) => diffOf(tab) === diff.id);
    const focus = this.focusNext.delete(diff.id);
    // override: a text diff, whatever editor the user has chosen for such files;
    // background: the tab does not become active. Both are honored, not declared.
    const options = {
      preview: false,
      preserveFocus: !focus,
      override: diff.isPlan ? "default" : true,
      background: diff.background && !focus,
      ...(shown === undefined ? {} : { viewColumn: shown.group.viewColumn }),
    };
    if (diff.isPlan) await vscode.commands.executeCommand("vscode.open", sides.right, options, diff.title);
    else await vscode.commands.executeCommand("vscode.diff", sides.left, sides.right, diff.title, options);
    await tabThere(() => this.tabs(diff.id) > 0 || !this.sides.has(diff.id)); // one that is gone already never comes
  }

  /** The right side changed: the header above the first change moves with it. */
  edited(id: string, text: string): void {
    const sides = this.sides.get(id);
    if (sides !== undefined) this.headers.move(sides.right, firstChanged(sides.original, text));
  }

  /** The last line of the changes in a right side, from 1; undefined for other documents. */
  lastChanged(document: vscode.TextDocument): number | undefined {
    const sides = document.uri.scheme === proposedScheme ? this.sides.get(reviewId(document.uri) ?? "") : undefined;
    return sides && lastChanged(sides.original, document.getText());
  }

  checked(id: string, check: Check): void {
    const sides = this.sides.get(id);
    if (sides === undefined) return;
    sides.heading = { ...sides.heading, check };
    this.headers.update(sides.right, sides.heading);
    this.checks.show(sides.right, check, (line) => line);
  }

  /** The next time this review is opened, it gets the focus: the person asked for it. */
  takeFocus(id: string): void {
    this.focusNext.add(id);
  }

  tabs(id: string): number {
    return tabsOf(id).filter((tab) => diffOf(tab) === id).length;
  }

  text(id: string): string | undefined {
    const document = this.document(id);
    return document === undefined ? undefined : this.textOf(document);
  }

  caughtUp(): Promise<void> {
    return caughtUp();
  }

  comments(id: string): readonly ReviewComment[] {
    return this.remarks.of(id);
  }

  update(id: string, { held }: { held: boolean }): void {
    const sides = this.sides.get(id);
    if (sides === undefined) return;
    this.headers.lock(sides.right, whyLocked(held));
    sides.readonly = held || sides.fixed;
    // A document that cannot be saved cannot be closed without a question either.
    const ready = sides.readonly ? this.save(id) : Promise.resolve();
    void ready.finally(() => this.proposals.lock(sides.right, sides.readonly));
  }

  async close(id: string): Promise<void> {
    await this.hide(id);
    this.remarks.drop(id);
  }

  /** Closes the tabs without a question, and returns the text with the last keystrokes; the remarks stay. */
  async leave(id: string): Promise<string | undefined> {
    const document = this.document(id);
    await this.hide(id);
    await caughtUp();
    return document === undefined ? undefined : this.textOf(document);
  }

  private hide(id: string): Promise<void> {
    return closeTabs(() => tabsOf(id), () => this.save(id));
  }

  /** Makes this the draft, before the diff is opened again. */
  async revise(id: string, text: string): Promise<void> {
    const sides = this.sides.get(id);
    if (sides === undefined) return;
    this.saves.drop(sides.right);
    await this.proposals.set(sides.right, text);
  }

  forget(id: string): void {
    const sides = this.sides.get(id);
    if (sides === undefined) return;
    this.sides.delete(id);
    this.saving.delete(id);
    this.originals.remove(sides.left);
    this.saves.remove(sides.right);
    this.proposals.remove(sides.right);
    this.headers.remove(sides.right);
    this.checks.remove(sides.right);
  }

  private textOf(document: vscode.TextDocument): string {
    return this.saves.before(document.uri) ?? document.getText();
  }

  private document(id: string): vscode.TextDocument | undefined {
    const right = this.sides.get(id)?.right;
    return right === undefined ? undefined : documentAt(right);
  }

  /** The contents of a review are made once: a diff that is opened again keeps its draft. */
  async contents(diff: ShownDiff): Promise<Sides> {
    const known = this.sides.get(diff.id);
    if (known !== undefined) return known;
    const sides = {
      left: reviewUri(originalScheme, diff.oldPath, diff.id),
      right: proposalUri(diff),
      original: diff.original,
      heading: diff,
      fixed: diff.fixed,
      readonly: diff.fixed || diff.held,
    };
    await this.originals.add(sides.left, diff.original);
    await this.proposals.add(sides.right, diff.proposed);
    this.proposals.lock(sides.right, sides.readonly);
    this.sides.set(diff.id, sides);
    this.headers.show(sides.right, diff, firstChanged(diff.original, diff.proposed), { left: sides.left, locked: whyLocked(diff.held) });
    if (diff.check !== undefined) this.checks.show(sides.right, diff.check, (line) => line);
    return sides;
  }

  /** Saves the draft, one time after the other: a save that begins during another cancels that one. */
  private save(id: string): Promise<void> {
    const saved = (this.saving.get(id) ?? Promise.resolve()).catch(() => undefined).then(() => saveTyped(caughtUp, () => this.proposals.unsaved(this.document(id))));
    this.saving.set(id, saved);
    return saved;
  }
}
