/**
 * Turns what a terminal was sent into what was printed: without control sequences
 * and with the line endings that the terminal's driver changed. Pieces may end
 * anywhere. Nothing is taken after the mark by which shell integration says that
 * the command has ended: there the prompt begins.
 */
export class Stripper {
  private rest = "";
  private ended = false;

  /** The text of the next piece. */
  take(piece: string): string {
    if (this.ended) return "";
    let text = this.rest + piece;
    this.rest = "";
    const done = finished.exec(text);
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
    return text.replace(sequence, "").replaceAll("\r\n", "\n");
  }
}

const maxSequence = 4_096;
 
const finished = /\u001b\]633;D[^\u0007\u001b]*(?:\u0007|\u001b\\)/;
// OSC, DCS and the like up to their end; CSI; two-character sequences.
 
const sequence = /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-OQ-WYZ\\`-~]/g;
 
const unfinished = /(?:\u001b(?:[\]PX^_][^\u0007\u001b]*\u001b?|\[[0-?]*[ -/]*|[ -/]*)?|\r)$/;
