// Animated PNG: pictures of one size, one after the other (https://www.w3.org/TR/png-3/).
import { crc32 } from "node:zlib";

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

/** A recording, frame by frame; it plays without end. */
export class Recording {
  frames = [];

  /** Adds a PNG that is shown for some seconds. */
  add(png, seconds) {
    const chunks = split(png);
    const data = Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ body }) => body));
    const header = chunks.find(({ type }) => type === "IHDR").body;
    if (this.frames.some((frame) => !frame.header.equals(header))) throw new Error("the frames of a recording are of one size and kind");
    this.frames.push({ header, data, seconds });
  }

  encode() {
    const { header, data } = this.frames[0];
    const out = [SIGNATURE, chunk("IHDR", header), chunk("acTL", words(this.frames.length, 0)), this.control(0, 0), chunk("IDAT", data)];
    let serial = 1;
    for (let i = 1; i < this.frames.length; i++) {
      out.push(this.control(i, serial++), chunk("fdAT", words(serial++), this.frames[i].data));
    }
    return Buffer.concat([...out, chunk("IEND")]);
  }

  /** How a frame is shown: the whole picture, in place of the one before. */
  control(i, serial) {
    const { header, seconds } = this.frames[i];
    const delay = Buffer.alloc(6);
    delay.writeUInt16BE(Math.round(seconds * 1000), 0);
    delay.writeUInt16BE(1000, 2);
    return chunk("fcTL", words(serial), header.subarray(0, 8), words(0, 0), delay);
  }
}

function split(png) {
  const chunks = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), body: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type, ...parts) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), ...parts]);
  return Buffer.concat([words(body.length - 4), body, words(crc32(body))]);
}

function words(...values) {
  const out = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => out.writeUInt32BE(value, i * 4));
  return out;
}
