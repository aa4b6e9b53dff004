// A window with reviews alone, and the answers that they give.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Details } from "../../src/core/outcome";
import type { Answer, Owner, ReviewRequest } from "../../src/core/review";
import { Reviews } from "../../src/core/reviews";
import { FakeEditor, request, tempFolder } from "./fakes";

export class Client implements Owner {
  readonly heard: { method: string; params: Record<string, unknown> }[] = [];
  constructor(readonly id: number) {}
  notify(method: string, params: object): void {
    this.heard.push({ method, params: { ...params } });
  }
}

export interface Window {
  readonly folder: string;
  readonly file: string;
  readonly editor: FakeEditor;
  readonly reviews: Reviews;
  readonly client: Client;
  /** What each question was answered, by its name. */
  readonly answers: Record<string, Answer[]>;
  readonly ask: (name: string, what?: Partial<ReviewRequest>, owner?: Owner) => ReturnType<Reviews["ask"]>;
}

/** A window with one client and a folder with a file "f" of two lines. */
export function window(t: TestContext): Window {
  const folder = tempFolder(t);
  const file = join(folder, "f");
  writeFileSync(file, "one\ntwo\n");
  const editor = new FakeEditor();
  let ids = 0;
  const reviews = new Reviews(editor.ports, () => `r${++ids}`);
  const client = new Client(1);
  const answers: Record<string, Answer[]> = {};
  const ask = (name: string, what: Partial<ReviewRequest> = {}, owner: Owner = client) => {
    answers[name] ??= [];
    const asked = reviews.ask(owner, request(file, "one\nTWO\n", what), "f");
    void asked.answer.then((answer) => answers[name]?.push(answer));
    return asked;
  };
  return { folder, file, editor, reviews, client, answers, ask };
}

export function items(answer: Answer | undefined): string[] {
  assert.ok(typeof answer === "object");
  return answer.content.map(({ text }) => text);
}

export function details(answer: Answer | undefined): Details {
  return JSON.parse(items(answer).at(-1) ?? "") as Details;
}
