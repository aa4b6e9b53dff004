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
 * during the save, which is repeated then.
 */
export async function saveTyped(caughtUp: () => Promise<void>, document: () => Unsaved | undefined): Promise<void> {
  for (let tries = 0; tries < most; tries++) {
    await caughtUp();
    const unsaved = document();
    if (unsaved?.isDirty !== true) return;
    await unsaved.save();
  }
}

/** A change of a text: length characters at offset are replaced by text. */
interface Change {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
  /** It begins or ends at a cursor. */
  readonly atCursor: boolean;
}

/** Changes that may be those of a formatter. */
interface Suspect {
  /** The text before them. */
  readonly before: string;
  /** When the last one came, in milliseconds. */
  at: number;
  /** Where a person who made them has the cursor now; undefined if they are not at a cursor. */
  readonly cursor: number | undefined;
}

/**
 * A text that is saved now and then, before which formatters change it without a name. During a
 * save, a change is taken for a formatter's if it is not at a cursor, or only of blanks. A formatter
 * that runs before the save is reported runs within an instant of it; a person is slower, and types
 * at a cursor.
 */
export class SavedText {
  private suspect: Suspect | undefined;
  /** The text before the save that goes on, until it is there again. */
  before: string | undefined;
  /** That save is over. */
  private ended = false;

  constructor(private now: string) {}

  /** Takes the text after changes, whose offsets are those of the text before them; reports whether they are a save's. */
  isSaves(text: string, changes: readonly Change[], at: number, instantMs: number): boolean {
    const former = this.now;
    this.now = text;
    const isBlank = changes.every(({ offset, length, text: added }) => !/\S/.test(former.slice(offset, offset + length) + added));
    const isElsewhere = changes.some(({ atCursor }) => !atCursor);
    if (this.before === undefined) this.note({ former, isBlank, isElsewhere, at, instantMs }, changes);
    else if (this.ended && text === this.before) this.forget();
    else if (isBlank || isElsewhere) return true;
    else this.forget();
    return false;
  }

  /** A save begins, with the cursors at these offsets. */
  begin(cursors: readonly number[], at: number, instantMs: number): void {
    const { suspect } = this;
    const isRecent = suspect !== undefined && at - suspect.at <= instantMs;
    const isTyped = suspect?.cursor !== undefined && cursors.includes(suspect.cursor);
    this.before ??= isRecent && !isTyped ? suspect.before : this.now;
    this.ended = false;
  }

  /** The save is over; the result is the text that is to come back, if it is another. */
  end(): string | undefined {
    if (this.now === this.before) this.forget();
    this.ended = true;
    return this.before;
  }

  /** No earlier text comes back. */
  forget(): void {
    this.before = undefined;
    this.suspect = undefined;
  }

  private note(made: { former: string; isBlank: boolean; isElsewhere: boolean; at: number; instantMs: number }, changes: readonly Change[]): void {
    const { former, isBlank, isElsewhere, at, instantMs } = made;
    const known = this.suspect !== undefined && at - this.suspect.at <= instantMs ? this.suspect : undefined;
    const [first] = changes;
    if (!isBlank && !isElsewhere) this.suspect = undefined;
    else if (known !== undefined && (known.cursor === undefined || !isElsewhere)) known.at = at;
    else this.suspect = { before: former, at, cursor: isElsewhere || first === undefined ? undefined : first.offset + first.text.length };
  }
}
