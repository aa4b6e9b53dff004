// Package picker lets a person choose from a list by typing part of a name. It guarantees
// that the item under the cursor is on the screen and stays under the cursor while the list
// is redrawn.
package picker

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/fuzzy"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Item is one choice. Its texts need not be sanitized.
type Item struct {
	Title  string // matched first by the filter
	Detail string // shown dimmed after the title; matched, too
	// Cells are dimmed columns on the right, matched, too. The last ones are dropped first if
	// there is no room.
	Cells []string
	// Preview returns the text below the list while the cursor is on the item. It is called
	// once, and may be nil.
	Preview func() string
}

// Options describes the list and its terminal.
type Options struct {
	Title   string
	NoColor bool
	Keys    keys.Map
}

// Outcome is the effect of a key.
type Outcome int

// The effects of a key.
const (
	Open      Outcome = iota // the list stays open
	Chosen                   // Selected is the choice
	Cancelled                // the person chose nothing
	Ignored                  // not a key of the picker
)

// page is the distance of a page key.
const page = 10

// Picker is a filtered list with a cursor. It is not safe for concurrent use.
type Picker struct {
	opt     Options
	items   []Item
	titles  []string
	filter  string
	matches []fuzzy.Match
	cursor  int              // index in matches
	top     int              // first match on the screen
	cells   []int            // widths of the columns
	shown   map[int][]string // previews by item
	texts   texts
}

// New returns a Picker over items, in the given order.
func New(items []Item, o Options) *Picker {
	p := &Picker{opt: o, items: make([]Item, len(items)), shown: map[int][]string{}}
	for i, it := range items {
		clean := Item{Title: sanitize.Line(it.Title), Detail: sanitize.Line(it.Detail), Preview: it.Preview}
		for _, c := range it.Cells {
			clean.Cells = append(clean.Cells, sanitize.Line(c))
		}
		p.items[i] = clean
		p.titles = append(p.titles, clean.Title)
	}
	p.cells = widths(p.items)
	p.SetFilter("")
	return p
}

// Press handles a key. One without an action here types the filter.
func (p *Picker) Press(key tea.KeyPressMsg) Outcome {
	switch p.opt.Keys.At(keys.List, key) {
	case keys.ListUp, keys.Mode: // Shift+Tab goes back as Tab goes on
		p.move(-1)
	case keys.ListDown:
		p.move(1)
	case keys.ListPageUp:
		p.move(-page)
	case keys.ListPageDown:
		p.move(page)
	case keys.ListStart:
		p.cursor = 0
	case keys.ListEnd:
		p.ToEnd()
	case keys.Choose:
		if len(p.matches) > 0 {
			return Chosen
		}
	case keys.ListClose, keys.Interrupt:
		return Cancelled
	case keys.FilterDelete:
		_, n := utf8.DecodeLastRuneInString(p.filter)
		p.SetFilter(p.filter[:len(p.filter)-n])
	case keys.FilterClear:
		p.SetFilter("")
	default:
		if key.Text == "" {
			return Ignored
		}
		p.SetFilter(p.filter + key.Text)
	}
	return Open
}

// ToEnd moves the cursor to the last item.
func (p *Picker) ToEnd() { p.cursor = max(0, len(p.matches)-1) }

// move moves the cursor; a single step wraps around at the ends.
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

// SetFilter replaces the filter's text and puts the cursor on the best match.
func (p *Picker) SetFilter(filter string) {
	p.filter = filter
	p.cursor, p.top = 0, 0
	clear(p.texts.hits)
	p.matches = p.matches[:0]
	if strings.TrimSpace(filter) == "" {
		for i := range p.items {
			p.matches = append(p.matches, fuzzy.Match{Index: i})
		}
		return
	}
	p.matches = fuzzy.Rank(strings.ReplaceAll(filter, " ", ""), p.titles)
	found := make(map[int]bool, len(p.matches))
	for _, m := range p.matches {
		found[m.Index] = true
	}
	needle := strings.ToLower(strings.TrimSpace(filter))
	for i, it := range p.items {
		if !found[i] && strings.Contains(strings.ToLower(it.Detail+" "+strings.Join(it.Cells, " ")), needle) {
			p.matches = append(p.matches, fuzzy.Match{Index: i})
			found[i] = true
		}
	}
	for i := range p.items {
		if !found[i] && p.texts.has(i, needle) {
			p.matches = append(p.matches, fuzzy.Match{Index: i})
		}
	}
}

// Filter returns the filter's text.
func (p *Picker) Filter() string { return p.filter }

// Selected returns the index, in the items given to New, of the item under the cursor, or
// false if no item matches.
func (p *Picker) Selected() (int, bool) {
	if p.cursor >= len(p.matches) {
		return 0, false
	}
	return p.matches[p.cursor].Index, true
}

// Matches returns the indices of the items that match, in the order of the list.
func (p *Picker) Matches() []int {
	all := make([]int, len(p.matches))
	for i, m := range p.matches {
		all[i] = m.Index
	}
	return all
}

// Len returns the number of items that match.
func (p *Picker) Len() int { return len(p.matches) }
