/**
 * Removes control sequences from a program's output. Pieces may end anywhere. For output sent to a
 * terminal it also restores the line endings that the terminal's driver changed, and stops at the
 * mark by which shell integration reports the end of the command: the prompt begins there.
 */
export class Stripper {
  private rest = "";
  private ended = false;

  constructor(private readonly from: "terminal" | "pipe") {}

  /** The text of the next piece. */
  take(piece: string): string {
    if (this.ended) return "";
    let text = this.rest + piece;
    this.rest = "";
    const done = this.from === "terminal" ? finished.exec(text) : null;
    if (done !== null) {
      this.ended = true;
      text = text.slice(0, done.index);
    } else {
      const open = unfinished.exec(text);
      // A sequence that does not end is no sequence: it must not hold back the rest for ever.
      if (open !== null && text.length - open.index < maxSequence) {
        this.rest = text.slice(open.index);
        text = text.slice(0, open.index);
      }
    }
    const plain = text.replace(sequence, "");
    return this.from === "terminal" ? plain.replaceAll("\r\n", "\n") : plain;
  }

  /** The held-back rest, at the end of the output. */
  end(): string {
    const { rest } = this;
    this.rest = "";
    return rest === "\r" ? rest : "";
  }
}

const maxSequence = 4_096;
 
const finished = /\u001b\]633;D[^\u0007\u001b]*(?:\u0007|\u001b\\)/;
// OSC, DCS and the like up to their end; CSI; two-character sequences.
 
const sequence = /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-OQ-WYZ\\`-~]/g;
 
const unfinished = /(?:\u001b(?:[\]PX^_][^\u0007\u001b]*\u001b?|\[[0-?]*[ -/]*|[ -/]*)?|\r)$/;
