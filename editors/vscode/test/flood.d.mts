/** See flood.mjs, which the tests in a real editor use as it is. */
import type { Agent } from "node:http";

export interface At {
  readonly port: number;
  readonly token: string;
  /** One that lives. */
  readonly session: string;
}

export interface Wrong {
  readonly what: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers: Record<string, string>;
  readonly statuses: readonly number[];
}

export const kinds: number;
export function flood(at: At, count: number, middle: () => Promise<void>): Promise<{ seen: Map<string, number>; cut: number }>;
export function ask(port: number, agent: Agent, wrong: Wrong): Promise<number>;
