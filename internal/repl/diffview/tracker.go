package diffview

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/repl/highlight"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// lookBack is the number of lines scanned before a line to find out whether it begins in a
// comment or a string. It bounds the cost of showing any part of any file.
const lookBack = 1000

// source returns a line of a file by its 1-based number, unmodified, or false if it is
// unknown.
type source func(n int) (string, bool)

func sliceSource(lines []string) source {
	return func(n int) (string, bool) {
		if n < 1 || n > len(lines) {
			return "", false
		}
		return lines[n-1], true
	}
}

// tracker colors the lines of one file in any order.
type tracker struct {
	src   source
	lines *highlight.Lines
	next  int // the next line of lines
}

// line colors line n; text is its sanitized text.
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
