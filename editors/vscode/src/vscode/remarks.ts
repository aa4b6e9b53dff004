import * as vscode from "vscode";
import type { ReviewComment } from "../core/ports";
import { isReviewUri, originalScheme, reviewId } from "./uri";

const author: vscode.CommentAuthorInformation = { name: vscode.l10n.t("You") };

/** The remarks that a person makes on lines of a diff; they go to the model with the answer. */
export class Remarks implements vscode.Disposable {
  private readonly controller = vscode.comments.createCommentController("agent.review", vscode.l10n.t("Review of an edit"));
  /** The threads of each review, with the lines that they are on: a diff may be closed before the answer. */
  private readonly threads = new Map<string, Map<vscode.CommentThread, string>>();

  /** The text that has a line of a document in which both are one, and the line there; both from 0. */
  sideAt: (uri: vscode.Uri, line: number) => { side: "original" | "modified"; line: number } | undefined = () => undefined;

  constructor() {
    this.controller.options = {
      prompt: vscode.l10n.t("Comment for the agent"),
      placeHolder: vscode.l10n.t("What should be different here? Sent to the agent with your answer."),
    };
    this.controller.commentingRangeProvider = { provideCommentingRanges: wholeDocument };
  }

  /** Adds the text typed below a line to the thread there. */
  add(reply: vscode.CommentReply): void {
    const id = reviewId(reply.thread.uri);
    if (id === undefined || reply.text.trim() === "") return;
    const { thread } = reply;
    const body = new vscode.MarkdownString().appendText(reply.text);
    const comment: vscode.Comment & { text: string } = {
      author,
      body,
      mode: vscode.CommentMode.Preview,
      text: reply.text,
    };
    thread.comments = [...thread.comments, comment];
    thread.label = vscode.l10n.t("For the agent");
    thread.canReply = true;
    this.ofReview(id).set(thread, linesOf(thread));
  }

  delete(thread: vscode.CommentThread): void {
    this.threads.get(reviewId(thread.uri) ?? "")?.delete(thread);
    thread.dispose();
  }

  of(id: string): ReviewComment[] {
    return [...(this.threads.get(id) ?? [])].map(([thread, quote]) => this.toComment(thread, quote)).sort((a, b) => a.startLine - b.startLine);
  }

  drop(id: string): void {
    for (const thread of this.threads.get(id)?.keys() ?? []) thread.dispose();
    this.threads.delete(id);
  }

  dispose(): void {
    this.controller.dispose();
    this.threads.clear();
  }

  private toComment(thread: vscode.CommentThread, quote: string): ReviewComment {
    const { start, end } = placeOf(thread);
    const text = thread.comments.map(textOf).join("\n");
    const first = this.sideAt(thread.uri, start) ?? { side: thread.uri.scheme === originalScheme ? "original" : "modified", line: start };
    // Lines of both texts together are those of the first one's text.
    const last = this.sideAt(thread.uri, end)?.line ?? end;
    return { side: first.side, startLine: first.line + 1, endLine: Math.max(first.line, last) + 1, quote, text };
  }

  private ofReview(id: string): Map<vscode.CommentThread, string> {
    const known = this.threads.get(id);
    if (known !== undefined) return known;
    const made = new Map<vscode.CommentThread, string>();
    this.threads.set(id, made);
    return made;
  }
}

function wholeDocument(document: vscode.TextDocument): vscode.Range[] {
  if (!isReviewUri(document.uri)) return [];
  return [new vscode.Range(0, 0, document.lineCount - 1, 0)];
}


function textOf(comment: vscode.Comment): string {
  if ("text" in comment && typeof comment.text === "string") return comment.text;
  return typeof comment.body === "string" ? comment.body : comment.body.value;
}

function placeOf({ range }: vscode.CommentThread): { start: number; end: number } {
  const start = range?.start.line ?? 0;
  return { start, end: range?.end.line ?? start };
}

function linesOf(thread: vscode.CommentThread): string {
  const { start, end } = placeOf(thread);
  const { uri } = thread;
  const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
  if (document === undefined) return "";
  const last = Math.min(end, document.lineCount - 1);
  const lines = [];
  for (let line = start; line <= last; line++) lines.push(document.lineAt(line).text);
  return lines.join("\n");
}
