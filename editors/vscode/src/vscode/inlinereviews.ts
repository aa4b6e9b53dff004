import type * as vscode from "vscode";
import type { Check, ShownDiff } from "../core/ports";
import { isPending } from "../core/review";
import type { Reviews } from "../core/reviews";
import { sameText } from "../core/text";
import { whyLocked } from "./headers";
import type { InlineDocuments } from "./inlinedocs";

/** The events of the person's actions. */
type Told = Pick<Reviews, "accept" | "looked" | "reject" | "edited" | "get" | "isReady">;

/** Reviews in one text. The caller writes: here only the text in memory changes. */
export class InlineReviews {
  private told: Told | undefined;

  constructor(private readonly documents: InlineDocuments) {}

  tell(told: Told): void {
    this.told = told;
  }

  async show(diff: ShownDiff, focus: boolean): Promise<void> {
    const { id, path, original, proposed, title, background, fixed } = diff;
    if (!this.documents.has(id)) {
      await this.documents.add(
        { id, path, original, proposed, title, heading: diff, locked: whyLocked(diff.held), fixed },
        {
          ready: () => this.told?.isReady(id) ?? false,
          changed: (draft) => this.told?.edited(id, draft),
          decided: async (draft) => {
            if (sameText(draft, original)) this.told?.reject(id, "button");
            else this.told?.accept(id, "button");
            await this.told?.looked(id);
            const review = this.told?.get(id);
            return review === undefined || !isPending(review);
          },
        },
      );
    }
    await this.documents.show(id, { focus, background });
  }

  has(id: string): boolean {
    return this.documents.has(id);
  }

  checked(id: string, check: Check): void {
    this.documents.checked(id, check);
  }

  refresh(): void {
    this.documents.refresh();
  }

  active(): string | undefined {
    return this.documents.active();
  }

  tabs(id: string): number {
    return this.documents.tabs(id);
  }

  text(id: string): string | undefined {
    return this.documents.draft(id);
  }

  lastChanged(document: vscode.TextDocument): number | undefined {
    return this.documents.lastChanged(document);
  }

  lock(id: string, locked: boolean): void {
    this.documents.lock(id, whyLocked(locked));
  }

  close(id: string): Promise<void> {
    return this.documents.hide(id);
  }

  leave(id: string): Promise<string | undefined> {
    return this.documents.leave(id);
  }

  forget(path: string, id: string): void {
    this.documents.forget(path, id);
  }
}
