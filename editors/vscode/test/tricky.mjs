/**
 * Command lines that are hard to run in a terminal: 300 of them, made of parts that are
 * hard to quote, to end and to read, in each place where they can be. With few, some of
 * every kind: each part once, each place twice or more, and all of the special kinds.
 */
export function tricky(few = false) {
  const placed = parts.flatMap((part, i) => wraps.filter((_, j) => !few || i % wraps.length === j).map((wrap) => wrap(part)));
  return [...whole, ...background, ...fits, ...tooLong, ...placed];
}

const parts = [
  "echo plain",
  "echo 'single quotes'; echo \"double $((1+2))\"",
  "printf 'no newline'",
  "printf 'a\\tb\\n\\n\\nc\\n'",
  "false",
  "{ echo out; echo err >&2; echo out again; } 2>&1",
  "for i in 1 2 3; do echo $i; done",
  "for i in a b\ndo\n  echo \"[$i]\"\ndone",
  "cat <<'EOF'\nhere $HOME `x` \\ 'q'\nEOF",
  "cat <<EOF\nexpanded $((2*3))\nEOF",
  "case x in x) echo matched;; *) echo not;; esac",
  "f() { echo \"in f $1\"; return 4; }; f arg",
  "echo 'a!b' \"c!d\" e!f",
  "echo 'back\\slash' \"\\\\\" '\\n'",
  "echo ünïcödé 漢字 😀",
  "echo '#no comment' # a comment",
  "echo {a,b}c",
  "x=1; while [ $x -lt 4 ]; do echo w$x; x=$((x+1)); done",
  "echo one |\n  tr a-z A-Z",
  "(echo sub; exit 3)",
  "{ echo group; (exit 6); }",
  "echo $(echo nested $(echo deeper))",
  "set -- a 'b c'; for i in \"$@\"; do echo \"<$i>\"; done",
  "test -d / && exit 9",
  "no-such-command-anywhere 2>/dev/null; echo $?",
  "printf '%s\\n' \"'\" '\"' '$' '`'",
  "seq 1 2000 | tail -3",
];

const wraps = [
  (part) => part,
  (part) => `(${part}\n)`,
  (part) => `{ ${part}\n}`,
  (part) => `if true; then\n${part}\nfi`,
  (part) => `${part}\nexit $?`,
  (part) => `for n in 1 2; do\n${part}\ndone`,
  (part) => `(${part}\n) | cat`,
  (part) => `x=$(${part}\n); echo "got:$x:$?"`,
  (part) => `\n\n  ${part}\n\n`,
  (part) => `(\n(${part}\n)\n)`,
];

const whole = [
  "exit 7",
  "exit 0",
  "yes 0123456789abcde | head -c 1048576",
  "yes 'a line of some length' | head -n 20000 >&2",
  "head -c 100000 /dev/zero | tr '\\0' x",
  "printf 'x%.0s' 1 2 3",
  "kill -9 $$",
  "kill -TERM $$",
  "sh -c 'exit 11'",
  "sh -c 'kill -9 $$'; echo $?",
  "trap 'echo bye' EXIT; echo hi",
  "echo a; exec echo b",
  "cd /tmp && pwd",
  "printf '\\033[31mred\\033[0m\\n' | tr -d '\\033'",
];

/** Jobs that are waited for, ended, or left behind without a hold on the output. */
const background = [
  "sleep 0 & wait; echo $?",
  "(exit 5) & wait $!",
  "true & pid=$!; wait $pid; echo done $?",
  "for i in 1 2 3; do (exit $i) & wait $!; echo $?; done",
  "(echo a; echo b >&2) & wait; echo c",
  "sleep 5 >/dev/null 2>&1 & kill $!; wait $! 2>/dev/null; echo $?",
  "sleep 30 >/dev/null 2>&1 & echo left; kill $!",
  "sleep 1 >/dev/null 2>&1 & jobs | wc -l | tr -d ' '",
  "sleep 1 >/dev/null 2>&1 & echo now",
  "cat <<'EOF' & wait\nbehind\nEOF",
  "seq 1 3 | while read x; do echo $x & wait; done",
  "trap 'echo bye $?' EXIT; (exit 2) & wait $!",
];

const fits = [`echo ${"y".repeat(1_400)}`];

/** Longer than a line that is typed into a terminal. */
export const tooLong = [
  `echo ${"x".repeat(5_000)}`,
  `printf '%s\n' ${"'it'\\''s $HOME' ".repeat(200)}`,
  `cat <<'EOF'\n${"! \\ ' \" $HOME `x`\n".repeat(150)}EOF`,
];
