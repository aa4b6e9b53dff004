import * as vscode from "vscode";
import type { Check, ShownDiff } from "../core/ports";

/** Facts about an edit that a person must know before looking at it. */
export type Heading = Pick<ShownDiff, "asks" | "place" | "description" | "notes" | "check" | "effect">;

/**
 * Shows above the first change of a review who asks, why, the position among several edits, and the
 * warnings: in full, in a box that is not part of the text.
 */
export class Headers implements vscode.Disposable {
  private readonly controller = vscode.comments.createCommentController("agent.reason", vscode.l10n.t("Edits of the agent"));
  private readonly threads = new Map<string, vscode.CommentThread>();

  /** line: of the first change in the document; undefined if nothing is changed. */
  show(uri: vscode.Uri, heading: Heading, line: number | undefined): void {
    const key = uri.toString();
    if (this.threads.has(key)) return this.move(uri, line);
    const comments = commentsOf(heading);
    if (comments.length === 0) return;
    const thread = this.controller.createCommentThread(uri, new vscode.Range(0, 0, 0, 0), comments);
    thread.canReply = false;
    // One that is not resolved would open the view of comments.
    thread.state = vscode.CommentThreadState.Resolved;
    thread.label = heading.place === "" ? vscode.l10n.t("Proposed edit") : vscode.l10n.t("Proposed edit {0}", heading.place);
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    this.threads.set(key, thread);
    this.move(uri, line);
  }

  /** Shows another heading, in the same place. */
  update(uri: vscode.Uri, heading: Heading, line: number | undefined): void {
    const thread = this.threads.get(uri.toString());
    if (thread === undefined) this.show(uri, heading, line);
    else thread.comments = commentsOf(heading);
  }

  /** To be called when the first change is in another line: it was taken back, or lines came above. */
  move(uri: vscode.Uri, line: number | undefined): void {
    const thread = this.threads.get(uri.toString());
    if (thread === undefined) return;
    // A box is shown below its line; without one it is at the top.
    const above = line === undefined || line === 0 ? undefined : line - 1;
    if (thread.range?.end.line === above) return;
    thread.range = above === undefined ? undefined : new vscode.Range(above, 0, above, 0);
  }

  remove(uri: vscode.Uri): void {
    this.threads.get(uri.toString())?.dispose();
    this.threads.delete(uri.toString());
  }

  dispose(): void {
    this.controller.dispose();
    this.threads.clear();
  }
}

function commentsOf(heading: Heading): vscode.Comment[] {
  const body = bodyOf(heading);
  if (body === undefined) return [];
  return [{ author: { name: heading.asks === "" ? vscode.l10n.t("A program") : heading.asks }, body, mode: vscode.CommentMode.Preview }];
}

/** Text of a program is shown as written: nothing in it is a link, a picture or an icon. */
function bodyOf({ description, notes, place, check, effect }: Heading): vscode.MarkdownString | undefined {
  if (description === "" && notes.length === 0 && place === "" && check === undefined && effect === "") return undefined;
  const body = new vscode.MarkdownString(undefined, true);
  if (check !== undefined) body.appendMarkdown(`$(${iconOf(check)}) ${asWritten(check.text)}\n\n`);
  if (effect !== "") body.appendMarkdown(`**${asWritten(effect)}**\n\n`);
  for (const { text } of notes) body.appendMarkdown(`$(warning) **${asWritten(text)}**\n\n`);
  return body.appendMarkdown(asWritten(description));
}

/** Text that is no Markdown. appendText would keep its lines from being wrapped. */
function asWritten(text: string): string {
  return text.replace(/[^\p{L}\p{N} ]/gu, (each) => `&#${each.codePointAt(0)};`);
}

/** The icon of a check, without $(…). */
export function iconOf({ state }: Check): string {
  return { running: "sync", passed: "pass", failed: "error", unknown: "question" }[state];
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
