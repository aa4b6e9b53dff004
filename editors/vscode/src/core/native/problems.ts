import { fileURLToPath } from "node:url";
import { Reports, settle } from "../diagnostics";
import type { Diagnostic, FileDiagnostics, Ports } from "../ports";
import { texts } from "../result";
import { oneLine } from "../text";
import { text } from "../tools";
import type { Tool } from "../tools";
import { placeOf } from "./access";
import type { Place } from "./access";
import { guarded } from "./guarded";

const maxLines = 300;

/** The tool that lists errors and warnings. */
export function problemsTool(ports: Ports): Tool {
  return {
    name: "get_diagnostics",
    description: "Errors and warnings as the editor knows them, of one file or of all, one a line: [severity] file:line — message.",
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "a file; all files if absent" },
        severity: { type: "string", description: "the least severity", enum: ["error", "warning", "info", "hint"] },
      },
    },
    call: guarded("path", async ({ args }) => {
      const given = text(args, "path");
      const file = given === undefined ? undefined : (await placeOf(ports.workspace, given)).path;
      const { files, state } = await settle(ports, {
        file,
        waitMs: file === undefined ? 0 : ports.settings.diagnosticDelay(),
        severity: text(args, "severity") ?? "hint",
        limit: maxLines,
      });
      const lines = await Promise.all(files.map((each) => linesOf(ports, each)));
      if (state.omitted > 0) lines.push([`… and ${state.omitted} more`]);
      const all = lines.flat();
      if (all.length > 0) return texts(all.join("\n"));
      if (file === undefined) return texts("No diagnostics are known. Language servers may have looked only at the files that are open: name a path to have it looked at.");
      return texts(state.settled ? "No diagnostics." : "No diagnostics are known. No language server is known to have looked at the file.");
    }),
  };
}

async function linesOf(ports: Ports, { uri, diagnostics }: FileDiagnostics): Promise<string[]> {
  const name = await nameOf(ports, uri);
  return diagnostics.map((each) => lineOf(name, each));
}

async function nameOf(ports: Ports, uri: string): Promise<string> {
  const path = fileURLToPath(uri);
  return placeOf(ports.workspace, path).then(
    (place) => place.relative,
    // Language servers also report about files that are not of the workspace.
    () => path,
  );
}

function lineOf(file: string, { severity, range, message }: Diagnostic): string {
  return `[${names[severity]}] ${file}:${range.start.line + 1} — ${oneLine(message, 500)}`;
}

const names = { Error: "error", Warning: "warning", Information: "info", Hint: "hint" } as const;

/** The part of an edit's answer about the file's problems. */
export interface Aftermath {
  readonly new_diagnostics?: readonly string[];
  /** Why there may be more problems than these, or outdated ones; absent if not. */
  readonly diagnostics?: string;
}

/**
 * Separates the problems that an edit causes from earlier ones. It begins before the question, with
 * the file loaded, so that language servers have looked at the old text. A file that they have not
 * looked at is unknown, never clean.
 */
export class EditProblems {
  private readonly reports: Reports;
  private readonly begun: number;
  /** Undefined while nobody has looked at the file as it was. */
  private before: readonly Diagnostic[] | undefined;

  constructor(
    private readonly ports: Ports,
    private readonly place: Place,
    exists: boolean,
  ) {
    this.begun = ports.clock.now();
    this.reports = new Reports(ports, place.path);
    if (!exists) this.before = [];
    else if (this.isLooked() || this.now().length > 0) this.before = this.now();
    else void this.reports.load();
  }

  /** Must be called before the file is written: later reports belong to the edit. */
  async writing(): Promise<void> {
    if (this.before === undefined) {
      const { clock, settings } = this.ports;
      await this.reports.settled(this.begun + settings.diagnosticDelay() - clock.now());
      if (this.reports.seen || this.isLooked()) this.before = this.now();
    }
    this.reports.forget();
  }

  /** To be called when it is written; waits for language servers. */
  async written(): Promise<Aftermath> {
    const delay = this.ports.settings.diagnosticDelay();
    const quiet = await this.reports.settled(delay);
    const found = newProblems(this.place.relative, this.before ?? [], this.now());
    const doubt = this.doubt(quiet, found.length > 0);
    return { ...(found.length === 0 ? {} : { new_diagnostics: found }), ...(doubt === undefined ? {} : { diagnostics: doubt }) };
  }

  stop(): void {
    this.reports.stop();
  }

  private doubt(quiet: boolean, any: boolean): string | undefined {
    // This comes first: it is the same before and after the editor shows the accepted file.
    if (!this.reports.seen && !this.ports.diagnostics.mayReport(this.place.path, true)) return "not known: no language server is known to look at files of this language";
    if (!this.reports.seen && !this.isShown()) return "not known: the file is not shown in the editor, so no language server may have looked at it";
    if (!quiet) return "not complete: language servers were still reporting";
    if (any && this.before === undefined) return "some may be older: no language server had looked at the file before";
    return undefined;
  }

  /** Whether language servers have it. A tab that was restored behind others is shown, but its file is not loaded. */
  private isLooked(): boolean {
    const { diagnostics, documents } = this.ports;
    const { path } = this.place;
    return this.isShown() && documents.buffer(path) !== undefined && diagnostics.mayReport(path);
  }

  private isShown(): boolean {
    return this.ports.diagnostics.isShown(this.place.path);
  }

  private now(): readonly Diagnostic[] {
    return this.ports.diagnostics.of(this.place.path).diagnostics;
  }
}

/**
 * The new problems of a file, as lines. A problem that only moved is not new: problems are equal if
 * their severity, source, code and message are.
 */
function newProblems(name: string, before: readonly Diagnostic[], after: readonly Diagnostic[]): string[] {
  const known = new Map<string, number>();
  const keyOf = (d: Diagnostic): string => JSON.stringify([d.severity, d.source, d.code, d.message]);
  for (const each of before) known.set(keyOf(each), (known.get(keyOf(each)) ?? 0) + 1);
  const fresh = after.filter((each) => {
    const left = known.get(keyOf(each)) ?? 0;
    known.set(keyOf(each), left - 1);
    return left <= 0 && each.severity !== "Hint";
  });
  return fresh.slice(0, maxLines).map((each) => lineOf(name, each));
}
