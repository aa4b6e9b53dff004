import * as vscode from "vscode";
import { isReviewUri } from "./uri";

interface Manifest {
  readonly main?: string;
  readonly browser?: string;
  readonly activationEvents?: readonly string[];
  readonly contributes?: { readonly languages?: readonly { readonly id?: string; readonly extensions?: readonly string[] }[] };
}

/**
 * Knows in which languages somebody reports problems: those in which somebody
 * has, and those that an extension with code of its own serves, until it was
 * waited for in vain.
 */
export class Languages implements vscode.Disposable {
  private readonly reported = new Set<string>();
  private readonly silent = new Set<string>();
  private known: { readonly languages: ReadonlySet<string>; readonly endings: ReadonlySet<string> } | undefined;
  private readonly listeners = [
    vscode.languages.onDidChangeDiagnostics(({ uris }) => this.heard(uris)),
    vscode.extensions.onDidChange(() => (this.known = undefined)),
  ];

  /** Whether somebody may report problems of a document in this language. */
  mayReport(language: string, shown: boolean): boolean {
    if (this.reported.has(language)) return true;
    if (this.silent.has(key(language, shown))) return false;
    return this.serves(language);
  }

  /** Whether an extension with code of its own serves the language. */
  serves(language: string): boolean {
    return this.served().languages.has(language);
  }

  /** Whether files with this ending are of such a language. */
  servesEnding(ending: string): boolean {
    return this.served().endings.has(ending);
  }

  private served(): NonNullable<Languages["known"]> {
    if (this.known !== undefined) return this.known;
    const manifests = vscode.extensions.all.map(({ packageJSON }) => packageJSON as Manifest);
    const languages = new Set(manifests.flatMap(languagesOf));
    const all = manifests.flatMap(({ contributes }) => contributes?.languages ?? []);
    const endings = new Set(all.filter(({ id }) => id !== undefined && languages.has(id)).flatMap(({ extensions }) => extensions ?? []));
    this.known = { languages, endings };
    return this.known;
  }

  /** To be called when nobody has reported anything for as long as one waits. */
  waitedInVain(language: string, shown: boolean): void {
    this.silent.add(key(language, shown));
  }

  dispose(): void {
    for (const listener of this.listeners) listener.dispose();
  }

  private heard(uris: readonly vscode.Uri[]): void {
    // The problems in our own documents are those of checks.
    const changed = new Set(uris.filter((uri) => !isReviewUri(uri)).map(String));
    for (const { uri, languageId } of vscode.workspace.textDocuments) if (changed.has(uri.toString())) this.reported.add(languageId);
  }
}

function key(language: string, shown: boolean): string {
  return `${language} ${shown}`;
}

/** The languages for which an extension runs code: a mere grammar reports nothing. */
function languagesOf({ main, browser, activationEvents, contributes }: Manifest): string[] {
  if (main === undefined && browser === undefined) return [];
  const waitedFor = (activationEvents ?? []).filter((event) => event.startsWith("onLanguage:")).map((event) => event.slice("onLanguage:".length));
  const own = (contributes?.languages ?? []).map(({ id }) => id).filter((id) => id !== undefined);
  return [...waitedFor, ...own];
}
