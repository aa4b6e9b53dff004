const keepUnits = 1024 * 1024;

/** A command's output: all of it, or the beginning and the end if it is long. */
export class Output {
  private head = "";
  private tail = "";
  private omitted = 0;

  constructor(private readonly keep = keepUnits) {}

  add(text: string): void {
    const room = this.keep - this.head.length;
    this.head += text.slice(0, room);
    this.tail += text.slice(room);
    // Cut now and then, not with each piece.
    if (this.tail.length > 2 * this.keep) this.cut();
  }

  get text(): string {
    if (this.tail.length > this.keep) this.cut();
    if (this.omitted === 0) return this.head + this.tail;
    return `${this.head}\n[… ${this.omitted} characters are left out …]\n${this.tail}`;
  }

  private cut(): void {
    const over = this.tail.length - this.keep;
    this.omitted += over;
    this.tail = this.tail.slice(over);
  }
}
