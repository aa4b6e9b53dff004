import type { Client, Ports, Selection } from "./ports";
import type { Reviews } from "./reviews";

export interface CoreOptions {
  /** The version of the extension. */
  readonly version: string;
  /** ${AGENT_HOME:-~/.agent}; the lock goes into its folder "ide". */
  readonly home: string;
  /** A port to try first (0: none), so that restored terminals find us again. */
  readonly port: number;
  readonly pid: number;
}

/** The extension without the editor: server, lock file, tools and reviews. */
export interface Core {
  readonly reviews: Reviews;
  /** Listens and writes the lock; resolves with what terminals have to know. */
  start(): Promise<{ port: number; lockPath: string }>;
  /** Ends every review undecided, closes all connections, removes the lock. */
  stop(): Promise<void>;
  clients(): readonly Client[];
  /** To be called with every change of the selection (undefined: focus left text). */
  selectionChanged(selection: Selection | undefined): void;
  /** Tells the clients to mention a file; lines 0-based, inclusive. Returns how many were told. */
  mention(path: string, lines?: { start: number; end: number }): number;
  /** The folders, the trust or the focus of the window changed: the lock follows. */
  windowChanged(change: { focused?: boolean }): void;
}

export type CreateCore = (ports: Ports, options: CoreOptions) => Core;
