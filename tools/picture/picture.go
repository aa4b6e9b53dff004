// Package picture renders the screen of a model terminal as an SVG file. It guarantees
// that the same screen gives the same bytes, that each character is in its cell
// whatever the viewer's font, and that the file is self-contained.
package picture

import (
	"fmt"
	"html"
	"strings"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// Options describe the drawing around the text.
type Options struct {
	Title string // in the bar of the window
	From  string // prefix of the first row to draw; empty: the first that is not blank
}

// Sizes in pixels. A cell is as wide as the common monospace fonts make it at this
// size; in others the text is stretched to it.
const (
	fontSize   = 14
	cellWidth  = 8.43
	cellHeight = 20
	bar        = 34 // of the title
	margin     = 16
	round      = 8
	baseline   = 15 // from the top of a cell
)

// window is where a screen's rows go in a picture.
type window struct {
	m             *vt.Terminal
	first, end    int // rows
	width, height float64
	b             strings.Builder
}

// SVG draws the screen of m, without the blank rows at its ends.
func SVG(m *vt.Terminal, opt Options) []byte {
	w := &window{m: m}
	w.first, w.end = extent(m.Screen(), opt.From)
	columns, _ := m.Size()
	w.width = float64(columns)*cellWidth + 2*margin
	w.height = float64(bar + (w.end-w.first)*cellHeight + margin)
	w.frame(opt.Title)
	for y := w.first; y < w.end; y++ {
		w.row(y)
	}
	w.cursor()
	w.b.WriteString("</g>\n</svg>\n")
	return []byte(w.b.String())
}

// extent returns the rows to draw, first to end.
func extent(rows []string, from string) (first, end int) {
	for i, row := range rows {
		if row != "" && strings.HasPrefix(row, from) {
			first = i
			break
		}
	}
	end = len(rows)
	for end > first+1 && rows[end-1] == "" {
		end--
	}
	return first, end
}

// frame begins the picture: a window with a bar.
func (w *window) frame(title string) {
	fmt.Fprintf(&w.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %[1]g %[2]g">`+"\n", w.width, w.height)
	fmt.Fprintf(&w.b, `<rect width="%g" height="%g" rx="%d" fill="%s"/>`+"\n", w.width, w.height, round, background)
	for i, color := range []string{"#f5655b", "#f6bd3b", "#43c645"} {
		fmt.Fprintf(&w.b, `<circle cx="%d" cy="17" r="6" fill="%s"/>`, 20+20*i, color)
	}
	fmt.Fprintf(&w.b, "\n"+`<g font-family="ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', Consolas, monospace" font-size="%d" fill="%s" xml:space="preserve">`+"\n",
		fontSize, foreground)
	fmt.Fprintf(&w.b, `<text x="%g" y="22" text-anchor="middle" fill="#8b8f98">%s</text>`+"\n", w.width/2, html.EscapeString(title))
}

// row draws the runs of row y, backgrounds first so that none covers text.
func (w *window) row(y int) {
	runs := runsOf(w.m, y)
	for _, r := range runs {
		if r.look.back != "" {
			fmt.Fprintf(&w.b, `<rect x="%s" y="%d" width="%s" height="%d" fill="%s"/>`+"\n",
				number(w.x(r.x)), w.y(y), number(float64(r.width)*cellWidth), cellHeight, r.look.back)
		}
	}
	for _, r := range runs {
		if !r.look.lined() { // some viewers drop trailing blanks and stretch the rest
			text := strings.TrimRight(r.text, " ")
			r.text, r.width = text, r.width-(len(r.text)-len(text))
		}
		if r.text == "" {
			continue
		}
		fmt.Fprintf(&w.b, `<text x="%s" y="%d" textLength="%s" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n",
			number(w.x(r.x)), w.y(y)+baseline, number(float64(r.width)*cellWidth), r.look.attributes(), html.EscapeString(r.text))
	}
}

// cursor draws the cursor if the program shows it.
func (w *window) cursor() {
	x, y := w.m.Cursor()
	if w.m.Modes().CursorHidden || y < w.first || y >= w.end {
		return
	}
	fmt.Fprintf(&w.b, `<rect x="%s" y="%d" width="%g" height="%d" fill="%s" opacity="0.7"/>`+"\n",
		number(w.x(x)), w.y(y)+1, cellWidth, cellHeight-2, foreground)
}

func (w *window) x(column int) float64 { return margin + float64(column)*cellWidth }

func (w *window) y(row int) int { return bar + (row-w.first)*cellHeight }

func number(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", f), "0"), ".")
}
