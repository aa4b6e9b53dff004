import * as vscode from "vscode";
import type { Cancel, Diagnostic, Diagnostics, FileDiagnostics, Severity } from "../core/ports";
import type { Languages } from "./languages";
import type { Places } from "./places";
import { allTabs, tabUris } from "./tabs";

export class EditorDiagnostics implements Diagnostics {
  constructor(
    private readonly places: Places,
    private readonly languages: Languages,
  ) {}

  all(): readonly FileDiagnostics[] {
    return vscode.languages
      .getDiagnostics()
      .filter(([uri, list]) => uri.scheme === "file" && list.length > 0)
      .map(([uri, list]) => ({ uri: uri.toString(), diagnostics: list.map(toDiagnostic) }));
  }

  of(file: string): FileDiagnostics {
    const uri = this.places.uri(file);
    return { uri: uri.toString(), diagnostics: vscode.languages.getDiagnostics(uri).map(toDiagnostic) };
  }

  onChange(changed: (uris: readonly string[]) => void): Cancel {
    const listener = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      const files = uris.filter((uri) => uri.scheme === "file").map((uri) => uri.toString());
      if (files.length > 0) changed(files);
    });
    return () => void listener.dispose();
  }

  async load(file: string): Promise<void> {
    await vscode.workspace.openTextDocument(this.places.uri(file));
  }

  mayReport(file: string, shown = this.isShown(file)): boolean {
    const language = this.languageOf(file);
    return language !== undefined && this.languages.mayReport(language, shown);
  }

  waitedInVain(file: string): void {
    const language = this.languageOf(file);
    if (language !== undefined) this.languages.waitedInVain(language, this.isShown(file));
  }

  private languageOf(file: string): string | undefined {
    const uri = this.places.uri(file).toString();
    return vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri)?.languageId;
  }

  isShown(file: string): boolean {
    const uri = this.places.uri(file).toString();
    return allTabs().some((tab) => tabUris(tab).some((each) => each.toString() === uri));
  }
}

const severities: Record<vscode.DiagnosticSeverity, Severity> = {
  [vscode.DiagnosticSeverity.Error]: "Error",
  [vscode.DiagnosticSeverity.Warning]: "Warning",
  [vscode.DiagnosticSeverity.Information]: "Information",
  [vscode.DiagnosticSeverity.Hint]: "Hint",
};

function toDiagnostic(diagnostic: vscode.Diagnostic): Diagnostic {
  const { message, severity, range, source } = diagnostic;
  const code = codeOf(diagnostic.code);
  return {
    message,
    severity: severities[severity],
    range: { start: at(range.start), end: at(range.end) },
    ...(source === undefined ? {} : { source }),
    ...(code === undefined ? {} : { code }),
  };
}

function at({ line, character }: vscode.Position): { line: number; character: number } {
  return { line, character };
}

function codeOf(code: vscode.Diagnostic["code"]): string | undefined {
  if (code === undefined) return undefined;
  return String(typeof code === "object" ? code.value : code);
}
