// A client of /mcp at work in a folder of real files.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { tempFolder } from "./fakes";
import { inTime, shown, startMcp } from "./httpclient";
import type { Pending } from "./httpclient";

export interface Work extends Awaited<ReturnType<typeof startMcp>> {
  readonly folder: string;
  readonly read: (name: string) => string;
  /** Lets the wait for new problems pass. */
  readonly finish: (call: Pending) => Promise<Record<string, unknown>>;
  /** Accepts the edit, changed in the review if that is asked for, and lets the wait pass. */
  readonly accept: (call: Pending, edited?: string) => Promise<Record<string, unknown>>;
}

/** A workspace with these files, all shown in the editor, and a client. */
export async function work(t: TestContext, files: Record<string, string | Buffer> = {}): Promise<Work> {
  const folder = tempFolder(t);
  for (const [name, contents] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), contents);
  }
  const started = await startMcp(t, tempFolder(t), folder);
  const { core, editor } = started;
  editor.diagnostics.shown = true;
  for (const [name, contents] of Object.entries(files)) {
    editor.documents.buffers.set(join(folder, name), { text: contents.toString(), isDirty: false, isUntitled: false });
  }
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const finish = (call: Pending): Promise<Record<string, unknown>> => inTime(call, editor.clock);
  const accept = async (call: Pending, edited?: string): Promise<Record<string, unknown>> => {
    const id = await shown(core);
    if (edited !== undefined) {
      editor.view.texts.set(id, edited);
      core.reviews.edited(id, edited);
    }
    core.reviews.accept(id, "button");
    return finish(call);
  };
  return { ...started, folder, read, finish, accept };
}
