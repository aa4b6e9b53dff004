package input

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// span is one row on the screen: the glyphs from start to end, without the newline
// that may end it.
type span struct{ start, end int }

// rows lays the text out. A column is left free for the cursor behind the last
// glyph. Rows break behind blanks where they can.
func rows(gs []glyph, width int) []span {
	room := max(1, width-1)
	var out []span
	start, cells, blank := 0, 0, -1
	for i := 0; i < len(gs); i++ {
		g := gs[i]
		if g.isNewline() {
			out = append(out, span{start, i})
			start, cells, blank = i+1, 0, -1
			continue
		}
		w := min(g.width, room)
		for cells+w > room && i > start {
			end := i
			if blank > start && !g.isSpace() {
				end = blank
			}
			out = append(out, span{start, end})
			start, cells, blank = end, 0, -1
			for _, g := range gs[start:i] {
				cells += min(g.width, room)
			}
		}
		cells += w
		if g.isSpace() {
			blank = i + 1
		}
	}
	return append(out, span{start, len(gs)})
}

// rowOf returns the row that the cursor is in: where one row's end is the next one's
// beginning, the next.
func rowOf(rs []span, at int) int {
	for i := len(rs) - 1; i > 0; i-- {
		if at >= rs[i].start {
			return i
		}
	}
	return 0
}

// column returns the cells of a row before the cursor.
func column(gs []glyph, r span, at, width int) int {
	x := 0
	for _, g := range gs[r.start:min(at, r.end)] {
		x += min(g.width, max(1, width-1))
	}
	return min(x, max(0, width-1))
}

// nearest returns the place in a row that is closest to column x, not behind it.
func nearest(gs []glyph, r span, x int) int {
	cells := 0
	for i := r.start; i < r.end; i++ {
		if cells+gs[i].width > x {
			return i
		}
		cells += gs[i].width
	}
	if r.end > r.start && r.end < len(gs) && !gs[r.end].isNewline() {
		return r.end - 1 // the row's end belongs to the next row
	}
	return r.end
}

// draw returns a row's text.
func draw(gs []glyph, r span, width int, st style) string {
	var b strings.Builder
	for _, g := range gs[r.start:r.end] {
		show := g.show
		if room := max(1, width-1); g.width > room {
			show = ansi.Truncate(show, room, "")
		}
		if g.folded {
			show = st.dim(show)
		}
		b.WriteString(show)
	}
	return b.String()
}

// style is how the prompt is coloured: with the terminal's own colours, which suit
// its background.
type style struct{ dark, noColor bool }

func (s style) dim(text string) string { return "\x1b[2m" + text + "\x1b[22m" }

// accent marks what is chosen.
func (s style) accent(text string) string {
	switch {
	case s.noColor:
		return "\x1b[1m" + text + "\x1b[22m"
	case s.dark:
		return "\x1b[1;36m" + text + "\x1b[22;39m"
	}
	return "\x1b[1;34m" + text + "\x1b[22;39m"
}
