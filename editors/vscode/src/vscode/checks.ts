import * as vscode from "vscode";
import type { Check, CheckProblem } from "../core/ports";

/** The problems that checks of proposals found, in the documents of their reviews. */
export class CheckMarks implements vscode.Disposable {
  private readonly collection = vscode.languages.createDiagnosticCollection("agent-check");

  /** shownAt: the line of the document for one of the proposal, both from 1. */
  show(uri: vscode.Uri, check: Check, shownAt: (line: number) => number): void {
    this.collection.set(uri, check.problems.map((problem) => toDiagnostic(problem, shownAt(problem.line), check)));
  }

  remove(uri: vscode.Uri): void {
    this.collection.delete(uri);
  }

  dispose(): void {
    this.collection.dispose();
  }
}

function toDiagnostic({ column, isWarning, text }: CheckProblem, line: number, check: Check): vscode.Diagnostic {
  // Without an end the editor marks the word there, and without a column the line.
  const start = new vscode.Position(line - 1, Math.max(0, column - 1));
  const range = new vscode.Range(start, column === 0 ? new vscode.Position(line, 0) : start);
  const found = new vscode.Diagnostic(range, text, isWarning ? vscode.DiagnosticSeverity.Warning : vscode.DiagnosticSeverity.Error);
  found.source = check.text.split(/ [✗✔]/)[0] ?? "";
  return found;
}
