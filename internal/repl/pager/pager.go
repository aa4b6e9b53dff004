// Package pager shows a long text on the whole screen. It guarantees that the cost of a frame
// or a key depends on the rows on the screen, not on the length of the text; that keys
// interrupt a search; that resizing keeps the position; and that the text can do nothing to
// the terminal.
package pager

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Page is a text to read.
type Page struct {
	Title string
	Doc   Doc
	At    int // the line shown first; a line past the end means the end
}

// Pager is a page on the screen. It is not safe for concurrent use.
type Pager struct {
	// Remark is shown beside the title; empty for none.
	Remark string
	// Keys are the keys in force.
	Keys keys.Map

	layout
	title  string
	top    place
	find   search
	typing *string // the search text while it is typed
	note   string  // shown until the next key
}

// New returns a pager for a terminal.
func New(page Page, look theme.Look) *Pager {
	p := &Pager{title: page.Title, layout: layout{doc: page.Doc, look: look, rows: map[int][]string{}}}
	p.top = p.bottom()
	if page.At >= 0 && page.At < page.Doc.Len() {
		p.to(place{line: page.At})
	}
	return p
}

// Restyle adopts the terminal's size and colors. The top of the screen keeps its text.
func (p *Pager) Restyle(look theme.Look) {
	p.look, p.rows = look, map[int][]string{}
	at := p.top
	at.row = min(at.cols/max(1, look.Width), max(0, len(p.line(at.line))-1))
	p.top = at
	if end := p.bottom(); end.before(p.top) {
		p.top.line, p.top.row = end.line, end.row
	}
}

// View returns the whole screen.
func (p *Pager) View() []string {
	st := p.look.Styles
	out := make([]string, 0, p.look.Height)
	out = append(out, p.head())
	at, shown := p.top, 0
	for ; shown < p.height() && at.line < p.doc.Len(); shown++ {
		out = append(out, p.find.mark(p.line(at.line)[at.row], p.look))
		at = p.step(at, 1)
	}
	for range p.height() - shown {
		out = append(out, theme.Paint(st.Dim, "~"))
	}
	return append(out, p.footer(at))
}

// head returns the title and the remark; only the title is ever shortened.
func (p *Pager) head() string {
	st := p.look.Styles
	title := sanitize.Line(p.title)
	if p.Remark == "" {
		return theme.Paint(st.User, theme.Short(title, p.look.Width))
	}
	remark := theme.Short(sanitize.Line(p.Remark), p.look.Width)
	if room := p.look.Width - cells.Width(remark) - 3; room >= 10 {
		return theme.Paint(st.User, theme.Short(title, room)) + theme.Paint(st.Warn, " · "+remark)
	}
	return theme.Paint(st.Warn, remark)
}

// footer returns the position in the text and the available keys. end is the place below the
// screen.
func (p *Pager) footer(end place) string {
	st, total := p.look.Styles, length(p.doc)
	switch {
	case p.typing != nil:
		return theme.Paint(st.Accent, theme.Short("/"+sanitize.Line(*p.typing)+"▏", p.look.Width))
	case p.find.running:
		return theme.Paint(st.Accent, theme.Short("looking for "+sanitize.Line(p.find.words)+" · "+p.Keys.Hint("stops", keys.Stop), p.look.Width))
	case p.note != "":
		return theme.Paint(st.Warn, theme.Short(sanitize.Line(p.note), p.look.Width))
	}
	first, last := 0, 0
	if p.doc.Len() > 0 {
		first, _ = p.span(p.top)
		_, last = p.span(p.step(end, -1))
	}
	hints := []string{extent(first, last, total), p.Keys.Hint("back", keys.PagerClose), p.Keys.Hint("search", keys.PagerSearch)}
	if p.find.words != "" {
		hints = append(hints, p.Keys.Hint("next", keys.PagerNext), p.Keys.Hint("previous", keys.PagerPrevious))
	}
	if len(p.starts()) > 1 {
		hints = append(hints, p.Keys.Hint("section", keys.SectionPrevious, keys.SectionNext))
	}
	return theme.Paint(st.Dim, theme.Short(strings.Join(hints, " · "), p.look.Width))
}

// span returns the first and the last line of the text at a row, from 1.
func (p *Pager) span(at place) (first, last int) {
	return spanOf(p.doc, at.line, at.row, max(1, len(p.line(at.line))))
}

// extent formats the range of visible lines.
func extent(first, last, total int) string {
	if first == last {
		return fmt.Sprintf("line %d of %d", first, total)
	}
	return fmt.Sprintf("lines %d–%d of %d", first, last, total)
}

// to scrolls at to the first row, or as close to it as the end of the text allows.
func (p *Pager) to(at place) {
	if end := p.bottom(); end.before(at) {
		at = end
	}
	p.top = at
}

// visible reports whether at is on the screen.
func (p *Pager) visible(at place) bool {
	return !at.before(p.top) && at.before(p.step(p.top, p.height()))
}

// starts returns the first lines of the parts, or nil if the text has no parts.
func (p *Pager) starts() []int {
	if j, ok := p.doc.(*joined); ok {
		return j.starts
	}
	return nil
}
