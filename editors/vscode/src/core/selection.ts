import type { Cancel, Clock, Selection } from "./ports";
import { cap } from "./text";
import { wireRange } from "./tools";

const debounceMs = 100;
const maxTextUnits = 16 * 1024;

/** A selection as the protocol writes it. */
export interface WireSelection {
  readonly text: string;
  readonly filePath: string;
  readonly fileUrl: string;
  readonly selection: ReturnType<typeof wireRange>;
}

/**
 * Keeps the last selection, even while no editor has the focus, and reports a selection that has
 * lasted 100 ms.
 */
export class SelectionTracker {
  private last: WireSelection | undefined;
  private told: WireSelection | undefined;
  private pending: Cancel = () => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly tell: (selection: WireSelection) => void,
  ) {}

  /** Undefined: the focus left the text editors; the last selection stays. */
  changed(selection: Selection | undefined): void {
    if (selection === undefined) return;
    this.last = toWire(selection);
    this.pending();
    this.pending = this.clock.after(debounceMs, () => this.flush());
  }

  latest(): WireSelection | undefined {
    return this.last;
  }

  /** The last report; a newer selection is about to be reported. */
  current(): WireSelection | undefined {
    return this.told;
  }

  /** Stops reporting. */
  stop(): void {
    this.pending();
  }

  private flush(): void {
    if (this.last === undefined || JSON.stringify(this.last) === JSON.stringify(this.told)) return;
    this.told = this.last;
    this.tell(this.last);
  }
}

/** At most 16 Ki characters of the selected text are passed on. */
export function toWire(selection: Selection): WireSelection {
  return {
    text: cap(selection.text, maxTextUnits),
    filePath: selection.path,
    fileUrl: selection.uri,
    selection: wireRange(selection),
  };
}
