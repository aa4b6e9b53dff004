import * as vscode from "vscode";
import type { Check, ShownDiff } from "../core/ports";
import { cap, oneLine, withoutIcons } from "../core/text";
import { inlineScheme, originalScheme, planScheme, proposedScheme } from "./uri";

/** Facts about an edit that a person must know before looking at it. */
export type Heading = Pick<ShownDiff, "asks" | "place" | "description" | "notes" | "check" | "effect">;

/** In characters: what fits a row beside the answers. A longer reason is whole in the row's hover, and above boxed in a box, too. */
const rowMax = 110;
const nameMax = 24;
const boxed = 200;
const tooltipMax = 2_000;
/** The keys of the manifest; they are those of the computer that the extension runs on. */
const acceptKey = (): string => (process.platform === "darwin" ? "⌘Enter" : vscode.l10n.t("Ctrl+Enter"));

/** A document of a review, and the place of its row. */
interface Shown {
  readonly uri: vscode.Uri;
  heading: Heading;
  /** Of the first change, from 0. */
  line: number;
  /** Why nothing can be answered just now; empty if it can. */
  locked: string;
  thread: vscode.CommentThread | undefined;
}

/** One lens of a row, without its place. */
export interface Lens {
  readonly title: string;
  readonly tooltip?: string;
  readonly command?: string;
  readonly arguments?: unknown[];
}

/**
 * Shows above the first change of a review, in one row, who asks, the position among several edits,
 * the answers, and why: a narrow window cuts off the end. Warnings and long reasons are also in a box
 * below the line before, which folds after the first look.
 */
export class Headers implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly controller = vscode.comments.createCommentController("agent.reason", vscode.l10n.t("Edits of the agent"));
  private readonly all = new Map<string, Shown>();
  /** The right sides by the left ones. */
  private readonly lefts = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changes.event;
  private readonly provider = vscode.languages.registerCodeLensProvider([originalScheme, proposedScheme, planScheme].map((scheme) => ({ scheme })), this);
  /** Whether an answer to the review of a document counts by now. */
  private ready: (uri: vscode.Uri) => boolean = () => false;

  tell(ready: (uri: vscode.Uri) => boolean): void {
    this.ready = ready;
  }

  /** line: of the first change in the document, from 0; undefined if nothing is changed. left: the other side. */
  show(uri: vscode.Uri, heading: Heading, line: number | undefined, { left, locked = "" }: { left?: vscode.Uri; locked?: string } = {}): void {
    const key = uri.toString();
    if (this.all.has(key)) return this.move(uri, line);
    this.all.set(key, { uri, heading, line: line ?? 0, locked, thread: this.box(uri, heading, line ?? 0) });
    if (left !== undefined) this.lefts.set(left.toString(), key);
    this.changes.fire();
  }

  /** Shows another heading, in the same place. */
  update(uri: vscode.Uri, heading: Heading): void {
    const shown = this.all.get(uri.toString());
    if (shown === undefined) return;
    shown.heading = heading;
    this.changes.fire();
  }

  lock(uri: vscode.Uri, why: string): void {
    const shown = this.all.get(uri.toString());
    if (shown === undefined || shown.locked === why) return;
    shown.locked = why;
    this.changes.fire();
  }

  /** To be called when the first change is in another line: it was taken back, or lines came above. */
  move(uri: vscode.Uri, line: number | undefined): void {
    const shown = this.all.get(uri.toString());
    if (shown === undefined || shown.line === (line ?? 0)) return;
    shown.line = line ?? 0;
    if (shown.thread !== undefined) shown.thread.range = boxRange(shown.line);
    this.changes.fire();
  }

  /** The person has looked at it: the box gives its place back to the text. */
  fold(uri: vscode.Uri): void {
    const thread = this.all.get(uri.toString())?.thread;
    if (thread !== undefined) thread.collapsibleState = vscode.CommentThreadCollapsibleState.Collapsed;
  }

  /** Shows the box of a document, or hides it. */
  unfold(uri: vscode.Uri): void {
    const thread = this.all.get(uri.toString())?.thread;
    if (thread === undefined) return;
    const { Collapsed, Expanded } = vscode.CommentThreadCollapsibleState;
    thread.collapsibleState = thread.collapsibleState === Expanded ? Collapsed : Expanded;
  }

  refresh(): void {
    this.changes.fire();
  }

  remove(uri: vscode.Uri): void {
    const key = uri.toString();
    this.all.get(key)?.thread?.dispose();
    this.all.delete(key);
    for (const [left, right] of this.lefts) if (right === key) this.lefts.delete(left);
  }

  provideCodeLenses({ uri, lineCount }: vscode.TextDocument): vscode.CodeLens[] {
    const key = uri.toString();
    const shown = this.all.get(this.lefts.get(key) ?? key);
    if (shown === undefined) return [];
    const isLeft = this.lefts.has(key);
    return toLenses(Math.min(shown.line, lineCount - 1), isLeft ? [...checkOf(shown), whoAndWhy(shown)] : this.rowOf(shown));
  }

  /** The row of a document: what changes, in the order of the row. */
  row(uri: vscode.Uri, changes = 1): readonly Lens[] {
    const shown = this.all.get(uri.toString());
    return shown === undefined ? [] : this.rowOf(shown, changes);
  }

  dispose(): void {
    this.provider.dispose();
    this.controller.dispose();
    this.changes.dispose();
    this.all.clear();
  }

  private rowOf(shown: Shown, changes = 1): Lens[] {
    const { heading } = shown;
    const [lens, why] = [whoAndWhy(shown), whyOf(heading)];
    return [{ ...lens, title: titleOf(heading, whoOf(heading)) }, ...this.answers(shown, changes), ...checkOf(shown), ...(why === "" ? [] : [{ ...lens, title: withoutIcons(oneLine(why, rowMax)) }])];
  }

  private answers({ uri, locked }: Shown, changes = 1): Lens[] {
    if (locked !== "") return [{ title: `$(lock) ${locked}` }];
    // Not yet to be clicked, they have their places already.
    const to = (command: string): Lens | object => (this.ready(uri) ? { command, arguments: [uri] } : {});
    const many = changes > 1;
    return [
      { title: `$(check) ${many ? vscode.l10n.t("Accept All {0}", changes) : vscode.l10n.t("Accept")}  ${acceptKey()}`, ...to("agent.diffAccept") },
      { title: `$(close) ${many ? vscode.l10n.t("Reject All {0}", changes) : vscode.l10n.t("Reject")}`, ...to("agent.diffReject") },
      { title: vscode.l10n.t("Reject with Reason…"), ...to("agent.diffRejectWithReason") },
    ];
  }

  /** A box for warnings and long reasons. */
  private box(uri: vscode.Uri, heading: Heading, line: number): vscode.CommentThread | undefined {
    if (heading.notes.length === 0 && heading.description.length <= boxed && hasLenses(uri)) return undefined;
    const thread = this.controller.createCommentThread(uri, new vscode.Range(0, 0, 0, 0), [commentOf(heading)]);
    thread.canReply = false;
    // One that is not resolved would open the view of comments.
    thread.state = vscode.CommentThreadState.Resolved;
    thread.label = heading.notes.length === 0 ? vscode.l10n.t("Why") : vscode.l10n.t("Look at this first");
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    thread.range = boxRange(line);
    return thread;
  }
}

export function toLenses(line: number, row: readonly Lens[]): vscode.CodeLens[] {
  const range = new vscode.Range(line, 0, line, 0);
  // The editor drops a plain blank behind an icon.
  return row.map(({ command = "", title, ...lens }) => new vscode.CodeLens(range, { ...lens, title: title.replace(/^(\$\([a-z~-]+\)) /, "$1\u00a0"), command }));
}

/** Whether the editor of a document shows rows above its lines, as the person has set. */
function hasLenses(uri: vscode.Uri): boolean {
  const isSet = (section: string): boolean => vscode.workspace.getConfiguration(section, uri).get("codeLens", true);
  return isSet("editor") && (uri.scheme === inlineScheme || uri.scheme === planScheme || isSet("diffEditor"));
}

/** A box is shown below its line; without one it is at the top. */
function boxRange(line: number): vscode.Range | undefined {
  return line === 0 ? undefined : new vscode.Range(line - 1, 0, line - 1, 0);
}

/** Text of a program is shown as written: nothing in it is a link, a picture or an icon. */
function commentOf(heading: Heading): vscode.Comment {
  const { effect, notes, description } = heading;
  const body = new vscode.MarkdownString(undefined, true);
  if (effect !== "") body.appendMarkdown(`**${asWritten(effect)}**\n\n`);
  for (const { text } of notes) body.appendMarkdown(`$(warning) **${asWritten(text)}**\n\n`);
  body.appendMarkdown(asWritten(description));
  return { author: { name: whoOf(heading) }, body, mode: vscode.CommentMode.Preview };
}

/** Text that is no Markdown. appendText would keep its lines from being wrapped. */
function asWritten(text: string): string {
  return text.replace(/[^\p{L}\p{N} ]/gu, (each) => `&#${each.codePointAt(0)};`);
}

function whoOf({ asks, place }: Heading): string {
  return [asks === "" ? vscode.l10n.t("A program") : oneLine(asks, nameMax), place].filter((each) => each !== "").join(" · ");
}

function whyOf({ effect, description }: Heading): string {
  return [effect, description].filter((each) => each !== "").join(" ");
}

function titleOf({ notes }: Heading, words: string): string {
  return (notes.length === 0 ? "" : "$(warning) ") + withoutIcons(oneLine(words, rowMax));
}

/** All words of a row but its answers; a click shows the box, if there is one. */
function whoAndWhy({ uri, heading, thread }: Shown): Lens {
  const words = [whoOf(heading), whyOf(heading)].filter((each) => each !== "").join(" · ");
  return {
    title: titleOf(heading, words),
    tooltip: [...new Set(heading.notes.map(({ text }) => text)), words].join("\n"),
    ...(thread === undefined ? {} : { command: "agent.showReason", arguments: [uri] }),
  };
}

/** The result of the check, as a part of a row. */
function checkOf({ uri, heading: { check } }: Shown): Lens[] {
  if (check === undefined) return [];
  return [{ title: `$(${iconOf(check)}) ${withoutIcons(cap(check.text, rowMax))}`, tooltip: cap(check.output, tooltipMax), command: "agent.showCheck", arguments: [uri.query] }];
}

/** The icon of a check, without $(…). */
function iconOf({ state }: Check): string {
  return { running: "sync", passed: "pass", failed: "error", unknown: "question" }[state];
}

/** The words in place of the answers. */
export function whyLocked(held: boolean): string {
  return held ? vscode.l10n.t("being edited in the terminal") : "";
}

/** The last line of after, from 1, that differs; 1 if none does. */
export function lastChanged(before: string, after: string): number {
  const [old, now] = [before.split(/\r\n|\r|\n/), after.split(/\r\n|\r|\n/)];
  let same = 0;
  while (same < Math.min(old.length, now.length) && old.at(-1 - same) === now.at(-1 - same)) same++;
  return Math.max(now.length - same, 1);
}

/** The first line that differs; undefined if none does. */
export function firstChanged(before: string, after: string): number | undefined {
  const [old, now] = [before.split(/\r\n|\r|\n/), after.split(/\r\n|\r|\n/)];
  const at = now.findIndex((line, index) => line !== old[index]);
  if (at !== -1) return at;
  return old.length === now.length ? undefined : now.length - 1;
}
