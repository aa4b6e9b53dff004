package pager

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// search is the search text and the progress of the search.
type search struct {
	words string // empty for no search
	fold  bool   // ignore case: words has no capitals
	hit   *place // the last match

	running bool
	dir     int
	at      place // the rest of this line after this row is next
	left    int   // lines left to search
	around  bool  // it wrapped around
}

// slice is the number of bytes searched by one call of Search: some milliseconds.
const slice = 1 << 20

// again continues to the next match, or to the previous one.
func (p *Pager) again(dir int) Outcome {
	total := p.doc.Len()
	if p.find.words == "" || total == 0 {
		p.note = "no search yet: / starts one"
		return Handled
	}
	at := place{line: p.top.line, row: p.top.row - dir}
	if p.find.hit != nil && p.visible(*p.find.hit) {
		at = *p.find.hit
	}
	p.find.running, p.find.dir, p.find.at = true, dir, at
	p.find.left, p.find.around = total+1, false // the first line is searched twice: below and above the start
	return Searching
}

// Search searches for a short while. Call it again, after handling keys, as long as it
// returns true.
func (p *Pager) Search() bool {
	f := &p.find
	for budget := slice; f.running && budget > 0; f.left-- {
		if f.left == 0 {
			f.running = false
			p.note = "not found: " + f.words
			return false
		}
		text := p.doc.Text(f.at.line)
		budget -= len(text) + 32
		if f.in(text) && p.hit() {
			return false
		}
		f.next(p.doc.Len())
	}
	return f.running
}

// next moves to the next line, and from the last to the first.
func (f *search) next(total int) {
	f.at = place{line: f.at.line + f.dir, row: -1}
	if f.dir < 0 {
		f.at.row = 1 << 30
	}
	if f.at.line < 0 || f.at.line >= total {
		f.at.line = (f.at.line + total) % total
		f.around = true
	}
}

// hit shows the next matching row of the current line.
func (p *Pager) hit() bool {
	f := &p.find
	rows := p.found(f.at.line)
	for i := range rows {
		row := rows[i]
		if f.dir < 0 {
			row = rows[len(rows)-1-i]
		}
		if (row-f.at.row)*f.dir <= 0 {
			continue
		}
		at := place{line: f.at.line, row: row}
		f.hit, f.running = &at, false
		if f.around {
			p.note = "the search wrapped around"
		}
		if !p.visible(at) {
			p.to(p.step(at, -p.height()/3))
		}
		return true
	}
	return false
}

// found returns the rows of line i that contain a match; for a match split by the end of a
// row, the first.
func (p *Pager) found(i int) []int {
	var rows []int
	for n, row := range p.line(i) {
		if p.find.in(ansi.Strip(row)) {
			rows = append(rows, n)
		}
	}
	if rows == nil {
		rows = []int{0}
	}
	return rows
}

// in reports whether text contains the words.
func (f *search) in(text string) bool {
	if f.fold {
		text = strings.ToLower(text)
	}
	return strings.Contains(text, f.words)
}

// mark highlights matches in a row.
func (f *search) mark(row string, look theme.Look) string {
	plain := ansi.Strip(row)
	if f.words == "" || !f.in(plain) {
		return row
	}
	lower := plain
	if f.fold {
		lower = strings.ToLower(plain)
	}
	if len(lower) != len(plain) {
		return row // lower case has another length: offsets do not fit
	}
	var b strings.Builder
	room := max(2, look.Width-cells.Width(row)) // for brackets: the first are always there
	for from := 0; ; {
		i := strings.Index(lower[from:], f.words)
		if i < 0 {
			b.WriteString(row)
			return b.String()
		}
		word := plain[from+i : from+i+len(f.words)]
		before, rest := cells.Split(row, i)
		_, row = cells.Split(rest, len(word))
		b.WriteString(before)
		switch {
		case !look.NoColor:
			b.WriteString("\x1b[7m" + word + "\x1b[m")
		case room >= 2:
			b.WriteString("[" + word + "]")
			room -= 2
		default:
			b.WriteString(word)
		}
		row = cells.Sequences(before+rest[:len(rest)-len(row)]) + row // the word ended their styles
		from += i + len(word)
	}
}
