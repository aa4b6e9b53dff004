// Package picker lets a person choose one of a list by typing a part of its name. It
// guarantees that the item under the cursor is on the screen, and that it stays
// under the cursor while the list is redrawn.
package picker

import (
	"strings"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Item is one choice. Its texts need not be sanitised.
type Item struct {
	Title  string // what the filter matches first
	Detail string // shown dimmed behind the title; matched too
	// Cells are columns at the right, dimmed; matched too. Where there is no room
	// the last ones go first.
	Cells []string
	// Preview returns what is shown below the list while the cursor is on the item;
	// it is called once. It may be nil.
	Preview func() string
}

// Options say what the list is called and for which terminal it is drawn.
type Options struct {
	Title   string
	NoColor bool
	// Rename puts the user's own keys into a hint; nil: they are the usual ones.
	Rename func(hint string) string
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
	cursor  int              // in matches
	top     int              // the first match on the screen
	cells   []int            // the widths of the columns
	shown   map[int][]string // the previews so far, by item
	texts   texts
}

// New returns a Picker over items, in their order.
func New(items []Item, o Options) *Picker {
	p := &Picker{opt: o, items: make([]Item, len(items)), shown: map[int][]string{}}
	for i, it := range items {
		clean := Item{Title: sanitize.Line(it.Title), Detail: sanitize.Line(it.Detail), Preview: it.Preview}
		for _, c := range it.Cells {
			clean.Cells = append(clean.Cells, sanitize.Line(c))
		}
		p.items[i] = clean
	}
	p.cells = widths(p.items)
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
	clear(p.texts.hits)
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
