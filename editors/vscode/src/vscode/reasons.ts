import * as vscode from "vscode";
import type { ShownDiff } from "../core/ports";

interface Reason {
  readonly line: number;
  readonly text: string;
}

/**
 * Says behind the first changed line of a diff why the agent wants the change, in
 * its own words and marked as such: they are no part of the text.
 */
export class Reasons implements vscode.Disposable {
  private readonly reasons = new Map<string, Reason>();
  private readonly style = vscode.window.createTextEditorDecorationType({
    after: { margin: "0 0 0 3em", color: new vscode.ThemeColor("editorCodeLens.foreground"), fontStyle: "italic" },
  });
  private readonly listener = vscode.window.onDidChangeVisibleTextEditors(() => this.draw());

  /** From now on, for the right side of a diff; its description is one line, sanitised. */
  add(right: vscode.Uri, { description, original, proposed }: ShownDiff): void {
    if (description === "") return;
    this.reasons.set(right.toString(), { line: firstChanged(original, proposed), text: `the agent: “${description}”` });
    this.draw();
  }

  remove(right: vscode.Uri): void {
    this.reasons.delete(right.toString());
  }

  dispose(): void {
    this.listener.dispose();
    this.style.dispose();
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const reason = this.reasons.get(editor.document.uri.toString());
      if (reason === undefined) continue;
      const { range } = editor.document.lineAt(Math.min(reason.line, editor.document.lineCount - 1));
      editor.setDecorations(this.style, [{ range: new vscode.Range(range.end, range.end), renderOptions: { after: { contentText: reason.text } } }]);
    }
  }
}

function firstChanged(before: string, after: string): number {
  const [old, now] = [before.split(/\r\n|\r|\n/), after.split(/\r\n|\r|\n/)];
  const at = now.findIndex((line, index) => line !== old[index]);
  return at === -1 ? now.length - 1 : at;
}
