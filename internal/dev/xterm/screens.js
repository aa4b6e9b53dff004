// Writes texts to xterm.js and prints its screens: a JSON array of inputs on standard
// input, one of outputs on standard output.
const { Terminal } = require("@xterm/headless");
const { Unicode11Addon } = require("@xterm/addon-unicode11");
const { UnicodeGraphemesAddon } = require("@xterm/addon-unicode-graphemes");

const terminals = new Map();

function terminal(unicode, cols, rows) {
  let term = terminals.get(unicode);
  if (!term) {
    term = new Terminal({ allowProposedApi: true, scrollback: 0 });
    term.loadAddon(new Unicode11Addon());
    term.loadAddon(new UnicodeGraphemesAddon());
    terminals.set(unicode, term);
  }
  term.reset();
  term.resize(cols, rows);
  term.unicode.activeVersion = unicode;
  return term;
}

async function screen({ Unicode, Width, Height, Text }) {
  const term = terminal(Unicode, Width, Height);
  await new Promise((done) => term.write(Text, done));
  const buffer = term.buffer.active;
  const rows = [];
  for (let y = 0; y < Height; y++) rows.push(buffer.getLine(buffer.viewportY + y).translateToString(true));
  const cell = buffer.getLine(buffer.viewportY + buffer.cursorY).getCell(buffer.cursorX);
  return { Rows: rows, AtCursor: cell ? cell.getChars() : "" };
}

async function main() {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;
  const out = [];
  for (const input of JSON.parse(text)) out.push(await screen(input));
  process.stdout.write(JSON.stringify(out));
}

main();
