import { messageOf } from "./errors";
import type { Cancel, Diagnostic, FileDiagnostics, Ports, Severity } from "./ports";

const quietMs = 300;
/** Who has reported nothing for so long is taken to report nothing at all. */
const patienceMs = 1_000;

export interface DiagnosticsQuery {
  /** A path; undefined for all files. */
  readonly file: string | undefined;
  /** How long language servers may take; 0 returns the current state. */
  readonly waitMs: number;
  /** The least severity, in any case. */
  readonly severity: string;
  /** How many diagnostics at most. */
  readonly limit: number;
}

export interface DiagnosticsState {
  /**
   * The last change is 300 ms ago or more, and a language server is known to have
   * looked at the file: it reported something, or the file is shown. If false,
   * nothing found does not mean that nothing is wrong.
   */
  readonly settled: boolean;
  readonly waitedMs: number;
  readonly omitted: number;
}

/**
 * The diagnostics of a file or of all. With waitMs the file is loaded and its
 * diagnostics are waited for: until they have changed and then been quiet for
 * 300 ms, and never longer than the setting allows. The worst come first.
 */
export async function settle(ports: Ports, query: DiagnosticsQuery): Promise<{ files: FileDiagnostics[]; state: DiagnosticsState }> {
  const begun = ports.clock.now();
  const { file } = query;
  const waited = file === undefined || query.waitMs === 0 ? { quiet: true, seen: false } : await wait(ports, file, query.waitMs);
  const found = file === undefined ? ports.diagnostics.all() : [ports.diagnostics.of(file)];
  const { files, omitted } = limited(found, query);
  const known = file === undefined || waited.seen || isLookedAt(ports, file) || (found[0]?.diagnostics.length ?? 0) > 0;
  return { files, state: { settled: waited.quiet && known, waitedMs: ports.clock.now() - begun, omitted } };
}

/** Whether a language server has the file, which need not have reported anything. */
function isLookedAt({ diagnostics }: Ports, file: string): boolean {
  return diagnostics.isShown(file) && diagnostics.mayReport(file);
}

async function wait(ports: Ports, file: string, waitMs: number): Promise<{ quiet: boolean; seen: boolean }> {
  const reports = new Reports(ports, file);
  try {
    const quiet = await reports.settled(Math.min(waitMs, ports.settings.diagnosticDelay()));
    return { quiet, seen: reports.seen };
  } finally {
    reports.stop();
  }
}

/** What language servers report about one file, followed until it is stopped. */
export class Reports {
  private changedAt: number | undefined;
  private wake: () => void = () => undefined;
  private giveUp: Cancel = () => undefined;
  private readonly stopListening: Cancel;

  constructor(
    private readonly ports: Ports,
    private readonly file: string,
  ) {
    const { clock, diagnostics } = ports;
    this.stopListening = diagnostics.onChange((uris) => {
      if (!uris.includes(diagnostics.of(file).uri)) return;
      this.changedAt = clock.now();
      this.wake();
    });
  }

  /** Whether there was a report since the beginning, or since forget. */
  get seen(): boolean {
    return this.changedAt !== undefined;
  }

  /** Ignores everything reported until now. */
  forget(): void {
    this.changedAt = undefined;
  }

  /** Loads the file, so that language servers look at it. */
  load(): Promise<void> {
    const { diagnostics, log } = this.ports;
    return diagnostics.load(this.file).catch((err: unknown) => log.debug(`loading for diagnostics: ${messageOf(err)}`));
  }

  /** Loads the file and waits as quiet does, but not where nobody would report anything. */
  async settled(mostMs: number): Promise<boolean> {
    const { clock, diagnostics } = this.ports;
    const begun = clock.now();
    const late = new Promise<void>((done) => (this.giveUp = clock.after(mostMs, done)));
    await Promise.race([this.load(), late]);
    this.giveUp();
    if (!this.seen && !diagnostics.mayReport(this.file)) return true;
    const quiet = await this.quiet(mostMs - (clock.now() - begun));
    if (!this.seen && mostMs >= patienceMs) diagnostics.waitedInVain(this.file);
    return quiet;
  }

  /** Waits for a report and then 300 ms without another, at most as long; false if they still come. */
  async quiet(mostMs: number): Promise<boolean> {
    const { clock } = this.ports;
    const end = clock.now() + mostMs;
    while (this.left() > 0 && clock.now() < end) await this.pause(Math.min(this.left(), end - clock.now()));
    return !this.seen || this.left() <= 0;
  }

  stop(): void {
    this.giveUp();
    this.stopListening();
  }

  /** How long there must be no report yet. */
  private left(): number {
    return this.changedAt === undefined ? Infinity : this.changedAt + quietMs - this.ports.clock.now();
  }

  private pause(ms: number): Promise<void> {
    return new Promise((done) => {
      const stop = this.ports.clock.after(ms, done);
      this.wake = () => {
        stop();
        done();
      };
    });
  }
}

const ranks: Readonly<Record<Severity, number>> = { Error: 0, Warning: 1, Information: 2, Hint: 3 };

function limited(found: readonly FileDiagnostics[], query: DiagnosticsQuery): { files: FileDiagnostics[]; omitted: number } {
  const least = rankOf(query.severity);
  const wanted = found
    .flatMap(({ uri, diagnostics }) => diagnostics.map((d) => ({ uri, d })))
    .filter(({ d }) => ranks[d.severity] <= least)
    .sort((a, b) => ranks[a.d.severity] - ranks[b.d.severity]);
  const byFile = new Map<string, Diagnostic[]>();
  // A file that was asked for is named even if there is nothing to say of it.
  if (query.file !== undefined) for (const { uri } of found) byFile.set(uri, []);
  for (const { uri, d } of wanted.slice(0, query.limit)) byFile.set(uri, [...(byFile.get(uri) ?? []), d]);
  const files = [...byFile].map(([uri, diagnostics]) => ({ uri, diagnostics }));
  return { files, omitted: Math.max(0, wanted.length - query.limit) };
}

function rankOf(severity: string): number {
  const name = severity.toLowerCase();
  if (name === "error") return ranks.Error;
  if (name === "warning") return ranks.Warning;
  return name === "hint" ? ranks.Hint : ranks.Information;
}

const changedMs = 300;

/**
 * Calls tell with the URIs whose diagnostics changed and how many errors and
 * warnings there are now in all, at most once in 300 ms.
 */
export function watchDiagnostics(
  ports: Ports,
  tell: (params: { uris: string[]; counts: { errors: number; warnings: number } }) => void,
): Cancel {
  const changed = new Set<string>();
  let pending: Cancel | undefined;
  const flush = (): void => {
    pending = undefined;
    tell({ uris: [...changed], counts: countAll(ports.diagnostics.all()) });
    changed.clear();
  };
  const stop = ports.diagnostics.onChange((uris) => {
    for (const uri of uris) changed.add(uri);
    pending ??= ports.clock.after(changedMs, flush);
  });
  return () => {
    pending?.();
    stop();
  };
}

function countAll(files: readonly FileDiagnostics[]): { errors: number; warnings: number } {
  const all = files.flatMap(({ diagnostics }) => diagnostics);
  return {
    errors: all.filter(({ severity }) => severity === "Error").length,
    warnings: all.filter(({ severity }) => severity === "Warning").length,
  };
}
