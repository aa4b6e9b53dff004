import { newToken } from "./guard";

/** Where text is kept that nobody else may read. */
export interface Vault {
  get(): Promise<string | undefined>;
  set(text: string): Promise<void>;
}

/** Where the door /mcp is now. */
export interface McpPlace {
  readonly port: number;
  /** The window wanted another port, which it did not get. */
  readonly moved: boolean;
  /** The port that it wanted, if what holds it is no window of ours. */
  readonly lost: number | undefined;
}

const maxKept = 32;

/**
 * The token of /mcp on a port. It stays the same while the port does, so that a
 * client is configured once. A window that had to move gets a new one, and so does
 * a port that a stranger held: clients have sent him its old one.
 */
export async function lastingToken(vault: Vault, { port, moved, lost }: McpPlace, made = newToken()): Promise<string> {
  const kept = read(await vault.get());
  const known = moved ? undefined : kept.get(port);
  const token = known ?? made;
  if (known !== undefined && (lost === undefined || !kept.has(lost))) return token;
  if (lost !== undefined) kept.delete(lost);
  kept.delete(port);
  kept.set(port, token);
  await vault.set(JSON.stringify([...kept].slice(-maxKept)));
  return token;
}

/** The tokens by their ports, the newest last. */
function read(text: string | undefined): Map<number, string> {
  let found: unknown;
  try {
    found = JSON.parse(text ?? "[]");
  } catch {
    found = undefined; // malformed
  }
  const kept = new Map<number, string>();
  for (const pair of Array.isArray(found) ? (found as unknown[]) : []) {
    if (!Array.isArray(pair)) continue;
    const [port, token] = pair as unknown[];
    if (typeof port === "number" && typeof token === "string") kept.set(port, token);
  }
  return kept;
}
