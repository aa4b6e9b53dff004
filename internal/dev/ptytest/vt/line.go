package vt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	textwidth "golang.org/x/text/width"
)

// line is a row of cells; cells beyond its end were never written.
type line struct {
	cells   []Cell
	wrapped bool // the text continues on the next row
	final   bool // written while the terminal wraps: see Stats.Touched
	kept    bool // final, and left by a line feed
}

// String returns the row's text without blanks at its end.
func (l line) String() string {
	var b strings.Builder
	for _, c := range l.cells {
		if c == (Cell{}) {
			c.Text = " "
		}
		b.WriteString(c.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// tailCell is the second cell of a wide character.
var tailCell = Cell{Width: -1}

// set writes a cluster at column x, and blanks the halves of wide characters that it
// splits.
func (l *line) set(x int, c Cell) {
	for len(l.cells) < x+max(1, c.Width) {
		l.cells = append(l.cells, Cell{})
	}
	l.split(x)
	l.split(x + c.Width)
	l.cells[x] = c
	if c.Width == 2 {
		l.cells[x+1] = tailCell
	}
}

// split blanks a wide character that lies across column x.
func (l *line) split(x int) {
	if x > 0 && x < len(l.cells) && l.cells[x] == tailCell {
		l.cells[x-1], l.cells[x] = blank, blank
	}
}

var blank = Cell{Text: " ", Width: 1}

// cut removes all cells from column x on.
func (l *line) cut(x int) {
	l.split(x)
	if x < len(l.cells) {
		l.cells = l.cells[:x:x]
	}
	l.wrapped = false
}

// width returns the number of cells that a cluster takes.
func (t *Terminal) width(cluster string) int {
	if r, _ := utf8.DecodeRuneInString(cluster); t.opt.WideLines && textwidth.LookupRune(r).Kind() == textwidth.EastAsianAmbiguous && !unicode.Is(unicode.M, r) {
		return 2
	}
	if t.opt.NarrowEmoji {
		return min(2, ansi.StringWidthWc(cluster))
	}
	return min(2, ansi.StringWidth(cluster))
}

// print writes text without control characters.
func (t *Terminal) print(s string) {
	for s != "" {
		if joined := t.join(s); joined > 0 {
			s = s[joined:]
			continue
		}
		cluster, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		s = s[len(cluster):]
		t.put(cluster)
	}
}

// join appends the continuation of the cluster printed last, if a write has split it,
// and returns the number of bytes used.
func (t *Terminal) join(s string) int {
	if t.last == "" || s[0] < 0x80 {
		return 0
	}
	whole, _ := ansi.FirstGraphemeCluster(t.last+s, ansi.GraphemeWidth)
	used := len(whole) - len(t.last)
	if used <= 0 {
		return 0
	}
	p := t.page()
	x := p.x - 1
	if p.wrap {
		x = p.x
	}
	l := t.line(p.y)
	if x > 0 && x < len(l.cells) && l.cells[x] == tailCell {
		x--
	}
	if x >= 0 && x < len(l.cells) && l.cells[x].Text == t.last {
		p.x, p.wrap = x, false
		t.put(whole)
	}
	return used
}

// line returns row y of the screen.
func (t *Terminal) line(y int) *line { return &t.page().lines[t.top()+y] }

// put writes one cluster at the cursor.
func (t *Terminal) put(cluster string) {
	w := t.width(cluster)
	t.last = cluster
	if w <= 0 || w > t.opt.Width {
		return
	}
	p := t.page()
	if p.wrap || p.x+w > t.opt.Width {
		if t.modes.NoWrap {
			p.x = t.opt.Width - w
		} else {
			t.line(p.y).wrapped = true
			p.x = 0
			t.lineFeed()
		}
	}
	p.wrap = false
	t.touch(p.y, "written over")
	t.line(p.y).final = !t.modes.NoWrap && !t.modes.AltScreen
	t.line(p.y).set(p.x, Cell{Text: cluster, Width: w, Style: t.style.String()})
	if p.x += w; p.x >= t.opt.Width {
		p.x = t.opt.Width - 1
		p.wrap = true
	}
}

// touch counts a change of a finished row.
func (t *Terminal) touch(y int, how string) {
	if l := t.line(y); l.kept {
		t.stats.Touched = append(t.stats.Touched, how+": "+l.String())
		l.kept = false // once is enough
	}
}

// lineFeed moves the cursor down, and scrolls at the bottom.
func (t *Terminal) lineFeed() {
	p := t.page()
	if l := t.line(p.y); l.final {
		l.kept = true
	}
	if p.y < t.opt.Height-1 {
		p.y++
		return
	}
	if t.modes.AltScreen {
		p.lines = append(p.lines[1:], line{})
		return
	}
	p.lines = append(p.lines, line{})
}
