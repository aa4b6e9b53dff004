package picture

import (
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// run is text of one look in neighbouring cells of a row.
type run struct {
	x, width int // in cells
	text     string
	look     look
}

// runsOf cuts row y into runs. A run ends where the look changes, and at a character
// that many fonts lack, so that its wrong width shifts nothing else.
func runsOf(m *vt.Terminal, y int) []run {
	var runs []run
	columns, _ := m.Size()
	for x := 0; x < columns; x++ {
		c := m.Cell(x, y)
		if c.Width < 0 {
			continue
		}
		if c.Text == "" {
			c.Text, c.Width = " ", 1
		}
		next := run{x: x, width: c.Width, text: c.Text, look: lookOf(c.Style)}
		if n := len(runs); n > 0 && runs[n-1].takes(next) {
			runs[n-1].text += next.text
			runs[n-1].width += next.width
			continue
		}
		runs = append(runs, next)
	}
	return trimmed(runs)
}

// takes reports whether next, a single character, belongs to r.
func (r run) takes(next run) bool {
	blank := strings.TrimSpace(r.text) == ""
	return r.look == next.look && blank == (next.text == " " && (blank || strings.HasSuffix(r.text, " "))) &&
		!rare(r.text) && !rare(next.text)
}

// rare reports whether text begins with a character that some fonts lack.
func rare(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r >= 0x2190
}

// trimmed drops invisible trailing blanks.
func trimmed(runs []run) []run {
	var out []run
	for _, r := range runs {
		if strings.TrimSpace(r.text) != "" || r.look.back != "" || r.look.lined() {
			out = append(out, r)
		}
	}
	return out
}
