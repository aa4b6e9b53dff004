import type { Cancel, Clock } from "../ports";

const everyMs = 50;
const keepUnits = 8 * 1024;

/**
 * Passes on a command's output at a pace that a screen can follow: at once, then at most every 50
 * ms, and only the newest part of a flood.
 */
export class Relay {
  private pending = "";
  private cut = false;
  private waiting: Cancel | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly send: (text: string) => void,
  ) {}

  add(text: string): void {
    this.pending += text;
    if (this.pending.length > 2 * keepUnits) this.trim();
    if (this.waiting === undefined) this.flush();
  }

  /** Sends the rest; nothing may be added after that. */
  end(): void {
    this.waiting?.();
    this.flush();
    this.waiting?.();
  }

  private flush(): void {
    this.waiting = undefined;
    if (this.pending === "") return;
    if (this.pending.length > keepUnits) this.trim();
    const text = this.cut ? `…\n${this.pending}` : this.pending;
    this.pending = "";
    this.cut = false;
    this.send(text);
    this.waiting = this.clock.after(everyMs, () => this.flush());
  }

  /** Begins with a whole line, if there are several. */
  private trim(): void {
    const tail = this.pending.slice(-keepUnits);
    this.pending = tail.slice(tail.indexOf("\n") + 1).replace(/^[\udc00-\udfff]/, "");
    this.cut = true;
  }
}
