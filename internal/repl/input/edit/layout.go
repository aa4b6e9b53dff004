package edit

import (
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// Row is a row on the screen: the glyphs from Start to End, without a final newline.
type Row struct{ Start, End int }

// Rows lays out the text and keeps a column free for the cursor after the last glyph. Rows
// break after blanks if possible.
func Rows(gs []Glyph, width int) []Row {
	room := max(1, width-1)
	var out []Row
	start, used, blank := 0, 0, -1
	for i := 0; i < len(gs); i++ {
		g := gs[i]
		if g.IsNewline() {
			out = append(out, Row{start, i})
			start, used, blank = i+1, 0, -1
			continue
		}
		w := min(g.Width, room)
		for used+w > room && i > start {
			end := i
			if blank > start && !g.IsSpace() {
				end = blank
			}
			out = append(out, Row{start, end})
			start, used, blank = end, 0, -1
			for _, g := range gs[start:i] {
				used += min(g.Width, room)
			}
		}
		used += w
		if g.IsSpace() {
			blank = i + 1
		}
	}
	return append(out, Row{start, len(gs)})
}

// RowOf returns the row that contains a position; a position between two rows is in the
// second.
func RowOf(rs []Row, at int) int {
	for i := len(rs) - 1; i > 0; i-- {
		if at >= rs[i].Start {
			return i
		}
	}
	return 0
}

// Column returns the width of a row before a position, in cells.
func Column(gs []Glyph, r Row, at, width int) int {
	x := 0
	for _, g := range gs[r.Start:min(at, r.End)] {
		x += min(g.Width, max(1, width-1))
	}
	return min(x, max(0, width-1))
}

// Nearest returns the position in a row closest to column x, but not after it.
func Nearest(gs []Glyph, r Row, x int) int {
	used := 0
	for i := r.Start; i < r.End; i++ {
		if used+gs[i].Width > x {
			return i
		}
		used += gs[i].Width
	}
	if r.End > r.Start && r.End < len(gs) && !gs[r.End].IsNewline() {
		return r.End - 1 // the end of the row belongs to the next
	}
	return r.End
}

// Styles paints a row: its placeholders, and the glyphs from Start to End of Marked, a search
// match or a selection.
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
			if n, w := cells.FitSome(show, room); w <= room {
				show = show[:n]
			} else {
				show = ""
			}
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
