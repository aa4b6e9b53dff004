package pager

import "github.com/bb2d0cf4/agent/internal/repl/theme"

// layout is a text in rows.
type layout struct {
	doc  Doc
	look theme.Look
	rows map[int][]string // of lines near the screen, at the current width
}

// place is a row of a line. cols is the column of its line at which the row begins, which
// stays valid when the width changes.
type place struct{ line, row, cols int }

// before reports whether a is above b.
func (a place) before(b place) bool {
	return a.line < b.line || a.line == b.line && a.row < b.row
}

// keptRows is the number of lines whose rows are cached.
const keptRows = 512

// height is the number of rows for the text, between the title and the footer.
func (l *layout) height() int { return max(1, l.look.Height-2) }

// line returns the rows of line i, at least one.
func (l *layout) line(i int) []string {
	rows, ok := l.rows[i]
	if ok || i < 0 || i >= l.doc.Len() {
		return rows
	}
	if len(l.rows) >= keptRows {
		clear(l.rows)
	}
	if rows = l.doc.Rows(i, l.look); len(rows) == 0 {
		rows = []string{""}
	}
	l.rows[i] = rows
	return rows
}

// step returns the place n rows below (or above, if negative) at, limited to the first and
// the last row.
func (l *layout) step(at place, n int) place {
	for ; n > 0 && at.line < l.doc.Len(); n-- {
		if at.row++; at.row >= len(l.line(at.line)) {
			at = place{line: at.line + 1}
		}
	}
	for ; n < 0 && (at.line > 0 || at.row > 0); n++ {
		if at.row--; at.row < 0 {
			at = place{line: at.line - 1, row: len(l.line(at.line-1)) - 1}
		}
	}
	at.cols = at.row * l.look.Width
	return at
}

// bottom is the last place for the top of the screen.
func (l *layout) bottom() place {
	return l.step(place{line: l.doc.Len()}, -l.height())
}
