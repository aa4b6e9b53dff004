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

/** A change that may be a formatter's. */
interface Suspect {
  /** The text before it. */
  readonly before: string;
  /** When it came, in milliseconds. */
  readonly at: number;
  /** Where a person who made it has the cursor now; undefined if it was not at a cursor. */
  readonly cursor: number | undefined;
}

// The editor's own formatters before a save are fewer.
const suspectsMax = 8;

/**
 * A text that is saved now and then, before which formatters change it without a name. During a
 * save, a change is taken for a formatter's if it is not at a cursor, or only of blanks. Formatters
 * that run before the save is reported run within an instant of it, and of each other; a person is
 * slower, and types at a cursor.
 */
export class SavedText {
  /** The last changes of the text, if they may all be formatters'. */
  private suspects: Suspect[] = [];
  /** The text before the save that goes on, until it is there again. */
  before: string | undefined;
  /** That save is over. */
  private ended = false;
  /** The offset at which a person who made the last change types on. A busy window reports its cursor later than several changes. */
  private next: number | undefined;

  constructor(private now: string) {}

  /** Takes the text after changes, whose offsets are those of the text before them; reports whether they are a save's. */
  isSaves(text: string, changes: readonly Change[], at: number): boolean {
    const former = this.now;
    this.now = text;
    const isBlank = changes.every(({ offset, length, text: added }) => !/\S/.test(former.slice(offset, offset + length) + added));
    const { next } = this;
    this.next = changes.length === 1 ? endOf(changes) : undefined;
    const isElsewhere = changes.some(({ offset, length, atCursor }) => !atCursor && (isBlank || (offset !== next && offset + length !== next)));
    if (this.before === undefined) this.note({ before: former, at, cursor: isElsewhere ? undefined : endOf(changes) }, isBlank || isElsewhere);
    else if (this.ended && text === this.before) this.forget();
    else if (isBlank || isElsewhere) return true;
    else this.forget();
    return false;
  }

  /** A save begins, with the cursors at these offsets. */
  begin(cursors: readonly number[], at: number, instantMs: number): void {
    const first = this.firstSince(at, instantMs);
    const isTyped = first?.cursor !== undefined && cursors.includes(first.cursor);
    this.before ??= first !== undefined && !isTyped ? first.before : this.now;
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
    this.suspects = [];
  }

  private note(made: Suspect, isSuspect: boolean): void {
    this.suspects = isSuspect ? [...this.suspects, made].slice(-suspectsMax) : [];
  }

  /** The first of the suspects that each came within an instant of the next, the last one within an instant of at. */
  private firstSince(at: number, instantMs: number): Suspect | undefined {
    let first: Suspect | undefined;
    for (const each of [...this.suspects].reverse()) {
      if ((first?.at ?? at) - each.at > instantMs) break;
      // Blanks that a person typed, before a formatter's change.
      if (first !== undefined && first.cursor === undefined && each.cursor !== undefined) break;
      first = each;
    }
    return first;
  }
}

/** The offset after the first of the changes. */
function endOf([first]: readonly Change[]): number | undefined {
  return first === undefined ? undefined : first.offset + first.text.length;
}
