import { ToolError } from "../errors";
import { toLf, withEolsOf } from "../text";

/** One replacement: the lines to be found, and those to be put in their place. */
export interface Block {
  readonly search: string;
  readonly replace: string;
  /** Without any line in it, the lines found go away with their line ending. */
  readonly removes: boolean;
}

export interface Applied {
  readonly text: string;
  readonly failures: readonly { readonly block: number; readonly error: string }[];
}

const begin = /^<{7} SEARCH\s*$/;
const middle = /^={7}\s*$/;
const end = /^>{7} REPLACE\s*$/;

/** Reads SEARCH/REPLACE blocks; ignores everything between them. */
export function parseBlocks(diff: string): Block[] {
  const blocks: Block[] = [];
  let search: string[] | undefined;
  let replace: string[] | undefined;
  for (const line of toLf(diff).split("\n")) {
    if (search === undefined) {
      if (begin.test(line)) search = [];
    } else if (replace === undefined) {
      if (middle.test(line)) replace = [];
      else search.push(line);
    } else if (end.test(line)) {
      blocks.push({ search: search.join("\n"), replace: replace.join("\n"), removes: replace.length === 0 });
      search = replace = undefined;
    } else {
      replace.push(line);
    }
  }
  const number = blocks.length + 1;
  if (search !== undefined) {
    throw new ToolError("INVALID_PARAMS", `block ${number} has no line ${replace === undefined ? "=======" : ">>>>>>> REPLACE"}`);
  }
  if (blocks.length === 0) throw new ToolError("INVALID_PARAMS", "the diff has no block that begins with <<<<<<< SEARCH");
  return blocks;
}

/**
 * Applies the blocks in order, each to the result so far. A block whose search text does not occur
 * exactly once fails and changes nothing; later blocks are still tried. Line endings are ignored in
 * the search and kept in the text.
 */
export function applyBlocks(original: string, blocks: readonly Block[]): Applied {
  let text = toLf(original);
  const failures: { block: number; error: string }[] = [];
  blocks.forEach((block, index) => {
    const found = find(text, block);
    if (typeof found === "string") failures.push({ block: index, error: found });
    else text = text.slice(0, found.from) + block.replace + text.slice(found.to);
  });
  return { text: withEolsOf(text, original), failures };
}

function find(text: string, { search, removes }: Block): { from: number; to: number } | string {
  if (search === "") return text === "" ? { from: 0, to: 0 } : "Search block is empty";
  const from = text.indexOf(search);
  if (from < 0) return `Search block not found:\n${search}`;
  const count = text.split(search).length - 1 + overlaps(text, search, from);
  if (count > 1) return `Search block is ambiguous (${count} matches found):\n${search}`;
  const to = from + search.length;
  const wholeLines = (from === 0 || text[from - 1] === "\n") && text[to] === "\n";
  return { from, to: removes && wholeLines ? to + 1 : to };
}

/** How many more matches there are that overlap another match. */
function overlaps(text: string, search: string, first: number): number {
  let all = 0;
  for (let at = first; at >= 0; at = text.indexOf(search, at + 1)) all++;
  return all - (text.split(search).length - 1);
}
