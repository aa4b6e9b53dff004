import { fileURLToPath } from "node:url";
import { settle } from "../diagnostics";
import type { Diagnostic, FileDiagnostics, Ports } from "../ports";
import { texts } from "../result";
import { oneLine } from "../text";
import { text } from "../tools";
import type { Tool } from "../tools";
import { placeOf } from "./access";
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
      return texts(state.settled ? "No diagnostics." : "No diagnostics are known. The file is not shown, so no language server may have looked at it.");
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

function lineOf(file: string, { severity, range, message, source }: Diagnostic): string {
  const by = source === undefined ? "" : ` (${oneLine(source, 40)})`;
  return `[${names[severity]}] ${file}:${range.start.line + 1} — ${oneLine(message, 500)}${by}`;
}

const names = { Error: "error", Warning: "warning", Information: "info", Hint: "hint" } as const;

/**
 * What a file has now and had not before, as lines. A problem that only moved is
 * not new: problems are the same if severity, source, code and message are.
 */
export function newProblems(name: string, before: readonly Diagnostic[], after: readonly Diagnostic[]): string[] {
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
