// Package picker lets a person choose one of a list by typing a part of its name. It
// guarantees that the item under the cursor is on the screen, and that it stays
// under the cursor while the list is redrawn.
package picker

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"

	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Item is one choice. Its texts need not be sanitised.
type Item struct {
	Title  string // what the filter matches first
	Detail string // shown dimmed behind the title; matched too
}

// Options say what the list is called and for which terminal it is drawn.
type Options struct {
	Title   string
	NoColor bool
}

// Outcome says what a key came to.
type Outcome int

// The outcomes of a key.
const (
	Open      Outcome = iota // the list stays
	Chosen                   // Selected is the choice
	Cancelled                // the person wants none
	Ignored                  // the key is none of the picker's
)

// page is how far a page key moves.
const page = 10

// Picker is a filtered list with a cursor. It belongs to one goroutine.
type Picker struct {
	opt     Options
	items   []Item
	filter  string
	matches []fuzzy.Match
	cursor  int // in matches
	top     int // the first match on the screen
}

// New returns a Picker over items, in their order.
func New(items []Item, o Options) *Picker {
	p := &Picker{opt: o, items: make([]Item, len(items))}
	for i, it := range items {
		p.items[i] = Item{Title: sanitize.Line(it.Title), Detail: sanitize.Line(it.Detail)}
	}
	p.SetFilter("")
	return p
}

// Press handles a key by its name ("up", "ctrl+n", "enter", "esc", "backspace");
// text is what the key types, empty for keys that type nothing.
func (p *Picker) Press(key, text string) Outcome {
	switch key {
	case "up", "ctrl+p", "shift+tab":
		p.move(-1)
	case "down", "ctrl+n", "tab":
		p.move(1)
	case "pgup":
		p.move(-page)
	case "pgdown":
		p.move(page)
	case "home":
		p.cursor = 0
	case "end":
		p.cursor = max(0, len(p.matches)-1)
	case "enter":
		if len(p.matches) > 0 {
			return Chosen
		}
	case "esc", "ctrl+c", "ctrl+g":
		return Cancelled
	case "backspace", "ctrl+h":
		_, n := utf8.DecodeLastRuneInString(p.filter)
		p.SetFilter(p.filter[:len(p.filter)-n])
	case "ctrl+u":
		p.SetFilter("")
	default:
		if text == "" {
			return Ignored
		}
		p.SetFilter(p.filter + text)
	}
	return Open
}

// move moves the cursor; a single step goes round at the ends.
func (p *Picker) move(n int) {
	last := len(p.matches) - 1
	switch to := p.cursor + n; {
	case last < 0:
	case n == -1 && to < 0:
		p.cursor = last
	case n == 1 && to > last:
		p.cursor = 0
	default:
		p.cursor = max(0, min(to, last))
	}
}

// SetFilter replaces the filter's text. The best match is then under the cursor.
func (p *Picker) SetFilter(filter string) {
	p.filter = filter
	p.cursor, p.top = 0, 0
	p.matches = p.matches[:0]
	if strings.TrimSpace(filter) == "" {
		for i := range p.items {
			p.matches = append(p.matches, fuzzy.Match{Index: i})
		}
		return
	}
	p.matches = fuzzy.FindFrom(strings.ReplaceAll(filter, " ", ""), titles(p.items))
	found := make(map[int]bool, len(p.matches))
	for _, m := range p.matches {
		found[m.Index] = true
	}
	needle := strings.ToLower(strings.TrimSpace(filter))
	for i, it := range p.items {
		if !found[i] && strings.Contains(strings.ToLower(it.Detail), needle) {
			p.matches = append(p.matches, fuzzy.Match{Index: i})
		}
	}
}

type titles []Item

func (t titles) String(i int) string { return t[i].Title }
func (t titles) Len() int            { return len(t) }

// Filter returns the filter's text.
func (p *Picker) Filter() string { return p.filter }

// Selected returns the index, in the items given to New, of the item under the
// cursor; false if no item matches.
func (p *Picker) Selected() (int, bool) {
	if p.cursor >= len(p.matches) {
		return 0, false
	}
	return p.matches[p.cursor].Index, true
}

// Len returns the number of items that match.
func (p *Picker) Len() int { return len(p.matches) }

var (
	styleTitle  = paint.Style{Attr: paint.Bold}
	styleDim    = paint.Style{FG: paint.Dim}
	styleCursor = paint.Style{FG: paint.Accent, Attr: paint.Bold}
	styleMatch  = paint.Style{Attr: paint.Underline}
)

// View returns at most height lines, none wider than width columns: a title with
// the filter if the picker has a title, then the items around the cursor.
func (p *Picker) View(width, height int) []string {
	var lines []string
	line := func(spans ...paint.Span) {
		lines = append(lines, paint.Line(p.opt.NoColor, paint.Truncate(spans, width)...))
	}
	if p.opt.Title != "" && height > 1 {
		line(p.head()...)
		height--
	}
	if len(p.matches) == 0 && height > 0 {
		line(paint.Span{Text: "  nothing matches", Style: styleDim})
	}
	p.scroll(height)
	for i := p.top; i < min(p.top+height, len(p.matches)); i++ {
		line(p.row(i)...)
	}
	return lines
}

func (p *Picker) head() []paint.Span {
	return []paint.Span{
		{Text: sanitize.Line(p.opt.Title), Style: styleTitle},
		{Text: " " + sanitize.Line(p.filter)},
		{Text: "▏", Style: styleDim},
		{Text: fmt.Sprintf(" %d of %d · type to filter · ↑ ↓ Enter · Esc", len(p.matches), len(p.items)), Style: styleDim},
	}
}

// scroll keeps the cursor among the rows on the screen.
func (p *Picker) scroll(height int) {
	p.top = min(p.top, p.cursor, max(0, len(p.matches)-height))
	p.top = max(p.top, p.cursor-height+1, 0)
}

func (p *Picker) row(i int) []paint.Span {
	m := p.matches[i]
	it := p.items[m.Index]
	mark, base := "  ", paint.Style{}
	if i == p.cursor {
		mark, base = "› ", styleCursor
	}
	spans := []paint.Span{{Text: mark, Style: base}}
	at := 0
	for _, hit := range m.MatchedIndexes {
		_, n := utf8.DecodeRuneInString(it.Title[hit:])
		spans = append(spans, paint.Span{Text: it.Title[at:hit], Style: base},
			paint.Span{Text: it.Title[hit : hit+n], Style: styleMatch.Over(base)})
		at = hit + n
	}
	spans = append(spans, paint.Span{Text: it.Title[at:], Style: base})
	if it.Detail != "" {
		spans = append(spans, paint.Span{Text: "  " + it.Detail, Style: styleDim})
	}
	return spans
}
