import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DraftFiles, KeptDraft } from "../core/ports";

/** Drafts as files of a folder that only this user reads. */
export class DraftFolder implements DraftFiles {
  constructor(private readonly folder: string) {}

  async load(): Promise<readonly KeptDraft[]> {
    const names = await readdir(this.folder).catch(() => []);
    const keys = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
    const drafts = await Promise.all(keys.map((key) => this.read(key)));
    return drafts.filter((draft) => draft !== undefined).sort((a, b) => a.at - b.at);
  }

  async read(key: string): Promise<KeptDraft | undefined> {
    try {
      return JSON.parse(await readFile(this.path(key), "utf8")) as KeptDraft;
    } catch {
      return undefined; // none, or another window has just removed it
    }
  }

  async save(draft: KeptDraft): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const [path, made] = [this.path(draft.key), `${this.path(draft.key)}.${process.pid}`];
    await writeFile(made, JSON.stringify(draft), { mode: 0o600 });
    await rename(made, path);
  }

  async remove(key: string): Promise<void> {
    await rm(this.path(key), { force: true });
  }

  private path(key: string): string {
    return join(this.folder, `${key}.json`);
  }

}
