package diffview

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/highlight"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// lookBack is how many lines before a line are scanned to know what it begins in
// (a comment, a string): a bound on the cost of showing any place of any file.
const lookBack = 1000

// source returns a line of a file by its 1-based number, as it is in the file;
// false if the line is not known.
type source func(n int) (string, bool)

func sliceSource(lines []string) source {
	return func(n int) (string, bool) {
		if n < 1 || n > len(lines) {
			return "", false
		}
		return lines[n-1], true
	}
}

// tracker colours lines of one file in any order.
type tracker struct {
	src   source
	lines *highlight.Lines
	next  int // the number of the line that lines stands before
}

// line colours line n, whose sanitised text is text.
func (t *tracker) line(n int, text string) []paint.Span {
	if t.next == 0 || n < t.next || n > t.next+lookBack {
		t.lines = t.lines.Fresh()
		t.next = max(1, n-lookBack)
	}
	for ; t.next < n; t.next++ {
		if l, ok := t.src(t.next); ok {
			t.lines.Skip(sanitize.Exact(strings.TrimRight(l, "\r\n")))
		}
	}
	t.next++
	return t.lines.Line(text)
}
