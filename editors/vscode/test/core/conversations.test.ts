// Replays the recorded conversations of docs/protocol. With UPDATE=1 the editor's
// lines are written anew.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import type { Core } from "../../src/core/core";
import type { Diagnostic, Range, ReviewComment } from "../../src/core/ports";
import type { FakeEditor } from "./fakes";
import { settled, tempFolder, until } from "./fakes";
import { startCore, WsClient } from "./wsclient";

const folder = join(__dirname, "../../../../../docs/protocol");
const update = process.env["UPDATE"] === "1";

interface Given {
  readonly files?: Record<string, string>;
  readonly buffers?: Record<string, string>;
  readonly diagnostics?: Record<string, Diagnostic[]>;
  readonly selection?: Range & { file: string; text: string };
  readonly knows?: Record<string, unknown>;
}

type Person =
  | { does: "accept" | "reject"; diff: string; by: "button" | "command"; feedback?: string; anyway?: boolean }
  | { does: "type"; diff: string; text: string }
  | { does: "save"; diff: string; text: string; manual: boolean }
  | { does: "comment"; diff: string; comments: ReviewComment[] }
  | { does: "close"; diff: string }
  | { does: "mention"; file: string; start: number; end: number };

interface Line {
  readonly about?: string;
  readonly given?: Given;
  readonly client?: object;
  readonly editor?: object;
  readonly person?: Person;
  readonly disk?: Record<string, string>;
  readonly clock?: number;
  readonly link?: "lost" | "stopped";
  readonly means?: object;
}

/** The editor's side of one conversation. */
class Stage {
  private next = 0;
  private rests = 0;
  private readonly unanswered = new Set<unknown>();

  private constructor(
    private readonly t: TestContext,
    private readonly dir: string,
    private readonly core: Core,
    private readonly editor: FakeEditor,
    private readonly lockPath: string,
    private client: WsClient,
  ) {}

  static async set(t: TestContext): Promise<Stage> {
    const dir = join(tempFolder(t), "work");
    mkdirSync(dir);
    const { core, editor, lockPath } = await startCore(t, tempFolder(t));
    editor.folders = [{ name: "work", uri: `file://${dir}`, path: dir }];
    return new Stage(t, dir, core, editor, lockPath, await WsClient.dial(t, lockPath));
  }

  /** Carries out a line; returns the editor's messages that result. */
  async play(line: Line): Promise<Line[]> {
    const { received } = this.client;
    if (line.given !== undefined) this.arrange(line.given);
    if (line.client !== undefined) this.send(this.fill(line.client));
    if (line.clock !== undefined) this.editor.clock.advance(line.clock);
    if (line.person !== undefined) await this.act(line.person);
    if (line.disk !== undefined) await this.write(line.disk);
    if (line.link !== undefined) await this.cut(line.link);
    if (this.client.closeCode === undefined) await this.rest();
    const came = received.filter((message) => !String(message.id).startsWith("rest")).slice(this.next);
    this.next = line.link === "lost" ? 0 : this.next + came.length;
    return came.map((editor) => ({ editor: this.blank(editor) }));
  }

  private send(message: { id?: unknown; method?: string; params?: { requestId?: unknown } }): void {
    if (message.method === "notifications/cancelled") this.unanswered.delete(message.params?.requestId);
    else if (typeof message.id === "number") this.unanswered.add(message.id);
    this.client.send(message);
  }

  /** Waits until every request is answered or has its diff on the screen or in the list. */
  private async rest(): Promise<void> {
    await settled();
    for (;;) {
      const id = `rest${++this.rests}`;
      this.client.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "getPendingDiffs", arguments: {} } });
      await until("an answer", () => this.client.received.some((message) => message.id === id));
      const { received } = this.client;
      for (const { id: answered } of received) this.unanswered.delete(answered);
      const answer = received.find((message) => message.id === id)?.result as { content: { text: string }[] } | undefined;
      const { diffs } = JSON.parse(answer?.content[0]?.text ?? '{"diffs":[]}') as { diffs: { state: string }[] };
      if (diffs.length === this.unanswered.size && diffs.every(({ state }) => state === "shown" || state === "hidden")) return;
    }
  }

  private arrange(given: Given): void {
    const { documents, diagnostics } = this.editor;
    for (const [name, text] of Object.entries(given.files ?? {})) writeFileSync(join(this.dir, name), text);
    for (const [name, text] of Object.entries(given.buffers ?? {})) {
      documents.buffers.set(join(this.dir, name), { text, isDirty: true, isUntitled: false });
    }
    for (const [name, found] of Object.entries(given.diagnostics ?? {})) diagnostics.set(`file://${this.dir}/${name}`, found);
    const { knows } = given;
    if (knows !== undefined) this.editor.lookUp = (method) => Promise.resolve(method in knows ? { result: knows[method] } : undefined);
    if (given.selection !== undefined) this.select(given.selection);
  }

  private select({ file, text, start, end }: Range & { file: string; text: string }): void {
    const path = join(this.dir, file);
    this.editor.selection = { path, uri: `file://${path}`, text, start, end };
    this.editor.tabs = [
      {
        uri: `file://${path}`, path, label: file, isActive: true, isPinned: false, isPreview: false, isDirty: false, isUntitled: false,
        groupIndex: 0, viewColumn: 1, isGroupActive: true, languageId: "go", lineCount: 6,
      },
    ];
    this.core.selectionChanged(this.editor.selection);
  }

  private async act(person: Person): Promise<void> {
    if (person.does === "mention") {
      this.core.mention(join(this.dir, person.file), { start: person.start, end: person.end });
      return;
    }
    const id = await this.reviewOf(person.diff);
    const { reviews } = this.core;
    const { view } = this.editor;
    switch (person.does) {
      case "accept":
        reviews.accept(id, person.by);
        if (person.anyway === true) view.staleAnswers.shift()?.(true);
        return;
      case "reject":
        return reviews.reject(id, person.by, person.feedback);
      case "type":
        view.texts.set(id, person.text);
        return reviews.edited(id, person.text);
      case "save":
        view.texts.set(id, person.text);
        reviews.edited(id, person.text);
        return person.manual ? reviews.accept(id, "save") : undefined;
      case "comment":
        view.remarks.set(id, person.comments);
        return;
      case "close":
        view.count.set(id, 0);
        return reviews.tabsChanged(id);
    }
  }

  /** Reviews are named by the client; the newest that is shown is meant. */
  private async reviewOf(diff: string): Promise<string> {
    await until(`${diff} is shown`, () => this.core.reviews.list().at(-1)?.state === "shown");
    return this.core.reviews.list().at(-1)?.id ?? "";
  }

  private async write(files: Record<string, string>): Promise<void> {
    await until("the diff is shown", () => this.core.reviews.list().some(({ state }) => state === "shown"));
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(this.dir, name), text);
      this.editor.documents.watchers.get(join(this.dir, name))?.();
    }
    await until("the editor has seen it", () => this.core.reviews.list().some(({ stale }) => stale));
  }

  private async cut(link: "lost" | "stopped"): Promise<void> {
    if (link === "stopped") {
      await this.core.stop();
      return until("the client hears of it", () => this.client.closeCode !== undefined);
    }
    this.client.terminate();
    this.unanswered.clear();
    await until("the loss is noticed", () => this.editor.clients.length === 0);
    this.client = await WsClient.dial(this.t, this.lockPath);
  }

  private fill(message: object): object {
    return JSON.parse(JSON.stringify(message).replaceAll("$DIR", this.dir)) as object;
  }

  private blank(message: object): object {
    const text = JSON.stringify(message)
      .replaceAll(this.dir, "$DIR")
      .replace(`"platform":"${process.platform}"`, '"platform":"$PLATFORM"')
      .replace('"version":"0.1.0"', '"version":"$VERSION"');
    return JSON.parse(text) as object;
  }
}

function read(name: string): Line[] {
  const lines = readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Line);
}

describe("the conversation", () => {
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  for (const name of names) {
    it(name, async (t) => {
      const recorded = read(name);
      const stage = await Stage.set(t);
      const played: Line[] = [];
      for (const line of recorded) {
        if (line.editor === undefined) played.push(line, ...(await stage.play(line)));
      }
      if (update) writeFileSync(join(folder, name), played.map((line) => JSON.stringify(line) + "\n").join(""));
      else assert.deepEqual(played, recorded);
    });
  }

  it("is about every tool and every way in which a review may end", () => {
    const all = names.map((name) => readFileSync(join(folder, name), "utf8")).join("");
    const tools = [...all.matchAll(/"tools\/call","params":{"name":"(\w+)"/g)].map(([, tool]) => tool);
    assert.equal(new Set(tools).size, 17, [...new Set(tools)].join());
    const reasons = new Set([...all.matchAll(/\\"reason\\":\\"(\w+)\\"/g)].map(([, reason]) => reason));
    const want = ["button", "command", "save", "tab_closed", "terminal", "superseded", "timeout", "closed_by_client"];
    assert.deepEqual([...reasons].sort(), want.sort());
  });
});
