import { basename } from "node:path";
import * as vscode from "vscode";
import type { Check, Refused } from "../core/ports";

const checkScheme = "agent-check";
const revisionScheme = "agent-revision";
const author: vscode.CommentAuthorInformation = { name: vscode.l10n.t("You") };

/** Texts beside a review that can only be read: the output of a check, and the refused proposal. */
export class SideTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changes.event;
  private readonly comments = vscode.comments.createCommentController("agent.refused", vscode.l10n.t("Your rejection"));
  private readonly threads = new Map<string, vscode.CommentThread[]>();
  private readonly parts: vscode.Disposable[];

  constructor() {
    this.parts = [
      vscode.workspace.registerTextDocumentContentProvider(checkScheme, this),
      vscode.workspace.registerTextDocumentContentProvider(revisionScheme, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.closed(uri)),
      this.comments,
      this.changes,
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  async showCheck(id: string, { text, output }: Check): Promise<void> {
    const uri = vscode.Uri.from({ scheme: checkScheme, path: `/${vscode.l10n.t("Check")}.log`, query: id });
    this.set(uri, `${text}\n\n${output}`);
    await vscode.window.showTextDocument(uri, { preview: true, viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
  }

  /** Shows a proposal beside the refused one, with the person's words at their lines. */
  async showRevision(id: string, { refused, text, path }: { refused: Refused; text: string; path: string }): Promise<void> {
    const side = (name: string): vscode.Uri => vscode.Uri.file(path).with({ scheme: revisionScheme, query: `${id} ${name}` });
    const [before, now] = [side("refused"), side("now")];
    this.set(before, refused.text);
    this.set(now, text);
    const key = before.toString();
    this.forget(key);
    const words = refused.feedback === "" ? refused.comments : [{ line: 1, text: refused.feedback }, ...refused.comments];
    this.threads.set(key, words.map(({ line, text }) => this.thread(before, line, text)));
    await vscode.commands.executeCommand("vscode.diff", before, now, vscode.l10n.t("{0}: since your rejection", basename(path)), { preview: true });
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
  }

  private thread(uri: vscode.Uri, line: number, text: string): vscode.CommentThread {
    const comment = { author, body: new vscode.MarkdownString().appendText(text), mode: vscode.CommentMode.Preview };
    const thread = this.comments.createCommentThread(uri, new vscode.Range(line - 1, 0, line - 1, 0), [comment]);
    thread.canReply = false;
    thread.state = vscode.CommentThreadState.Resolved; // else the view of comments opens
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    return thread;
  }

  private set(uri: vscode.Uri, text: string): void {
    this.texts.set(uri.toString(), text);
    this.changes.fire(uri);
  }

  private closed(uri: vscode.Uri): void {
    this.texts.delete(uri.toString());
    this.forget(uri.toString());
  }

  private forget(key: string): void {
    for (const thread of this.threads.get(key) ?? []) thread.dispose();
    this.threads.delete(key);
  }
}
