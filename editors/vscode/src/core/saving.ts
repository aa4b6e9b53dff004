/** An open document. */
interface Unsaved {
  readonly isDirty: boolean;
  save(): PromiseLike<boolean>;
}

// Of a person who types on, while a tab closes.
const most = 3;

/**
 * Saves a document, so that its tab closes without a question. The last keystrokes may still be on
 * their way from the window, which would ask about them: caughtUp waits for those. Others come
 * during the save, which is repeated then. before is called before each save.
 */
export async function saveTyped(caughtUp: () => Promise<void>, document: () => Unsaved | undefined, before: () => void = () => undefined): Promise<void> {
  for (let tries = 0; tries < most; tries++) {
    await caughtUp();
    const unsaved = document();
    if (unsaved?.isDirty !== true) return;
    before();
    await unsaved.save();
  }
}
