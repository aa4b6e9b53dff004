// Package picker lets a person choose one of a list by typing a part of its name.
package picker

// Item is one choice.
type Item struct {
	Title  string // what the filter matches
	Detail string // shown dimmed behind the title; matched too
}

// Options say what the list is called and for which terminal it is drawn.
type Options struct {
	Title   string
	Dark    bool
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

// Picker is a filtered list with a cursor.
type Picker struct{ opt Options }

// New returns a Picker over items, in their order.
func New(items []Item, o Options) *Picker { return &Picker{opt: o} }

// Press handles a key by its name ("up", "ctrl+n", "enter", "esc", "backspace");
// text is what the key types, empty for keys that type nothing.
func (p *Picker) Press(key, text string) Outcome { return Ignored }

// SetFilter replaces the filter's text; for lists whose filter is typed elsewhere.
func (p *Picker) SetFilter(filter string) {}

// Filter returns the filter's text.
func (p *Picker) Filter() string { return "" }

// Selected returns the index, in the items given to New, of the item under the
// cursor; false if no item matches.
func (p *Picker) Selected() (int, bool) { return 0, false }

// Len returns the number of items that match.
func (p *Picker) Len() int { return 0 }

// View returns at most height lines, none wider than width columns.
func (p *Picker) View(width, height int) []string { return nil }
