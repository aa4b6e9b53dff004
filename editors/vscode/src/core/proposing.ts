import type { Cancel, InlineEnd } from "./ports";

/** Where one proposal is shown. */
export interface ProposalScreen {
  /** Makes its text; decided is to be called with the person's. */
  add(decided: (end: InlineEnd) => void): Promise<void>;
  /** Opens its tab. */
  show(): Promise<void>;
  /** How many tabs show it now. */
  tabs(): number;
  /** Calls back after a tab, of whatever, was opened or closed. */
  onTabs(changed: () => void): Cancel;
}

/**
 * Shows a proposal until the person decides, or closes its tab, which rejects. Tabs count only
 * once its own was there: others close while it is being opened. Rejects if it cannot be shown.
 */
export async function decision(screen: ProposalScreen, cancelled: AbortSignal): Promise<InlineEnd> {
  const rejected: InlineEnd = { kind: "rejected" };
  let wasThere = false;
  let stop: Cancel = () => undefined;
  let made: Promise<void> = Promise.resolve();
  try {
    return await new Promise<InlineEnd>((end, fail) => {
      if (cancelled.aborted) return end(rejected);
      cancelled.addEventListener("abort", () => end(rejected), { once: true });
      const look = (): void => {
        if (screen.tabs() > 0) wasThere = true;
        else if (wasThere) end(rejected);
      };
      stop = screen.onTabs(look);
      const shown = async (): Promise<void> => {
        made = screen.add(end);
        await made;
        if (cancelled.aborted) return;
        await screen.show();
        look();
        if (!wasThere) throw new Error("the editor did not show the proposal");
      };
      shown().catch(fail);
    });
  } finally {
    stop();
    // The caller removes the text, which must be there for that.
    await made.catch(() => undefined);
  }
}
