import * as vscode from "vscode";
import { sha256 } from "../core/text";
import { restore } from "./restore";

const keptKey = "inlineReviews";

/**
 * Remembers what stands in documents undecided. An editor that ends keeps unsaved
 * changes and shows them again, and a proposal would come back as the person's own.
 */
export class Leftovers {
  constructor(
    private readonly memory: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Remembers what a document holds, for the next window if this one dies. */
  async keep({ uri }: vscode.TextDocument, text: string): Promise<void> {
    await this.memory.update(keptKey, { ...this.kept(), [uri.toString()]: sha256(text) });
  }

  async forget(uri: vscode.Uri): Promise<void> {
    const kept = Object.entries(this.kept()).filter(([each]) => each !== uri.toString());
    await this.memory.update(keptKey, Object.fromEntries(kept));
  }

  /** Puts a document back as it is on disk. */
  async takeOut(document: vscode.TextDocument): Promise<void> {
    if (!(await restore(document))) this.log.warn(`${document.uri.fsPath} could not be put back as it is on disk`);
    await this.forget(document.uri);
  }

  /** Takes out what an earlier window has left; asks where the person may have gone on with it. */
  async sweep(): Promise<void> {
    for (const [key, hash] of Object.entries(this.kept())) {
      const uri = vscode.Uri.parse(key);
      const document = await Promise.resolve(vscode.workspace.openTextDocument(uri)).catch(() => undefined);
      if (document?.isDirty !== true) await this.forget(uri);
      else if (sha256(document.getText()) !== hash) void this.ask(document);
      else {
        await this.takeOut(document);
        this.log.info(`took an edit out of ${uri.fsPath} that an earlier window had left undecided`);
      }
    }
  }

  private async ask(document: vscode.TextDocument): Promise<void> {
    const name = vscode.workspace.asRelativePath(document.uri);
    const message = `${name} has unsaved changes, among them an edit that had been proposed and that nobody has accepted.`;
    if ((await vscode.window.showWarningMessage(message, "Take All Out", "Keep")) === "Take All Out") await restore(document);
    await this.forget(document.uri);
  }

  private kept(): Readonly<Record<string, string>> {
    return this.memory.get(keptKey, {});
  }
}
