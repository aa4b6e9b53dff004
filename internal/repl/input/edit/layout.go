package edit

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Row is one row on the screen: the glyphs from Start to End, without the newline
// that may end it.
type Row struct{ Start, End int }

// Rows lays the text out. A column is left free for the cursor behind the last
// glyph. Rows break behind blanks where they can.
func Rows(gs []Glyph, width int) []Row {
	room := max(1, width-1)
	var out []Row
	start, cells, blank := 0, 0, -1
	for i := 0; i < len(gs); i++ {
		g := gs[i]
		if g.IsNewline() {
			out = append(out, Row{start, i})
			start, cells, blank = i+1, 0, -1
			continue
		}
		w := min(g.Width, room)
		for cells+w > room && i > start {
			end := i
			if blank > start && !g.IsSpace() {
				end = blank
			}
			out = append(out, Row{start, end})
			start, cells, blank = end, 0, -1
			for _, g := range gs[start:i] {
				cells += min(g.Width, room)
			}
		}
		cells += w
		if g.IsSpace() {
			blank = i + 1
		}
	}
	return append(out, Row{start, len(gs)})
}

// RowOf returns the row that a place is in: where one row's end is the next one's
// beginning, the next.
func RowOf(rs []Row, at int) int {
	for i := len(rs) - 1; i > 0; i-- {
		if at >= rs[i].Start {
			return i
		}
	}
	return 0
}

// Column returns the cells of a row before a place.
func Column(gs []Glyph, r Row, at, width int) int {
	x := 0
	for _, g := range gs[r.Start:min(at, r.End)] {
		x += min(g.Width, max(1, width-1))
	}
	return min(x, max(0, width-1))
}

// Nearest returns the place in a row that is closest to column x, not behind it.
func Nearest(gs []Glyph, r Row, x int) int {
	cells := 0
	for i := r.Start; i < r.End; i++ {
		if cells+gs[i].Width > x {
			return i
		}
		cells += gs[i].Width
	}
	if r.End > r.Start && r.End < len(gs) && !gs[r.End].IsNewline() {
		return r.End - 1 // the row's end belongs to the next row
	}
	return r.End
}

// Styles is how a row is painted: placeholders, and the glyphs from Start to End of
// Marked, which a search has found or a person has selected.
type Styles struct {
	Folded, Hit func(text string) string
	Marked      Row
}

// Draw returns a row's text.
func Draw(gs []Glyph, r Row, width int, st Styles) string {
	var b strings.Builder
	for i := r.Start; i < r.End; i++ {
		g := gs[i]
		show := g.Show
		if room := max(1, width-1); g.Width > room {
			show = ansi.Truncate(show, room, "")
		}
		switch {
		case i >= st.Marked.Start && i < st.Marked.End:
			show = st.Hit(show)
		case g.Folded:
			show = st.Folded(show)
		}
		b.WriteString(show)
	}
	if r.Start == r.End && r.End >= st.Marked.Start && r.End < st.Marked.End {
		b.WriteString(st.Hit(" ")) // an empty line
	}
	return b.String()
}
