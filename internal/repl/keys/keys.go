// Package keys is the table of keys: which key does what where, what people are
// told of it, and what they have changed of it in their own file. It guarantees
// that in one place a key does one thing, and that no key that types text answers
// a question unless the table says so.
//
// The screen asks the table by action. Its parts go by the keys of the table: what
// was pressed is translated for them, so that they know nothing of the file.
package keys

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Action is what a key does, as the file of keys calls it.
type Action string

// Place is where a key counts.
type Place string

// The places. What counts everywhere counts in each of the others, too.
const (
	Everywhere Place = "Everywhere"
	Prompt     Place = "At the prompt"
	Search     Place = "While older prompts are searched"
	Question   Place = "On a question"
	List       Place = "In a list"
	Pager      Place = "In the pager"
)

var places = []Place{Everywhere, Prompt, Search, Question, List, Pager}

// Binding is a row of the table.
type Binding struct {
	Action Action
	Place  Place
	Keys   []string
	Help   string
	Brief  string // in the short list; empty: not in it

	fixed   bool // it cannot be changed
	needed  bool // it cannot be without a key
	answers bool // it answers a question
	own     bool // the screen does it: its parts do not know it
}

// Table returns all keys, as they are if nobody has changed them.
func Table() []Binding { return slices.Clone(table) }

// Map is the keys in force. The zero Map is the table's.
type Map struct {
	keys map[Action][]string         // what was changed
	to   map[Place]map[string]string // keys by the table's; those of no action are empty
}

// Is says whether key does what a is.
func (m Map) Is(key tea.KeyPressMsg, a Action) bool {
	return slices.Contains(m.of(a), nameOf(key))
}

// In returns key as the part of the screen knows it: as one of the table's keys
// for the action that it has there. A key whose action has another one now does
// nothing.
func (m Map) In(p Place, key tea.KeyPressMsg) tea.KeyPressMsg {
	name := nameOf(key)
	to, ok := m.to[p][name]
	if p == Search && !ok { // it ends the search, and does what it always does
		to, ok = m.to[Prompt][name]
	}
	switch {
	case !ok || to == name:
		return key
	case to == "":
		return tea.KeyPressMsg{}
	}
	return press(to)
}

// of returns the keys of an action.
func (m Map) of(a Action) []string {
	if changed, ok := m.keys[a]; ok {
		return changed
	}
	i := slices.IndexFunc(table, func(b Binding) bool { return b.Action == a })
	return table[i].Keys
}

// translate fills in the translation for the keys that were changed.
func (m *Map) translate() {
	m.to = map[Place]map[string]string{}
	for _, p := range places {
		to := map[string]string{}
		here := slices.DeleteFunc(rows(p), func(b Binding) bool { return b.own })
		for _, b := range here {
			for _, k := range b.Keys {
				to[k] = ""
			}
		}
		for _, b := range here {
			for _, k := range m.of(b.Action) {
				switch {
				case slices.Contains(b.Keys, k):
					to[k] = k
				case to[k] == "": // the first row counts, where the table has a key twice
					to[k] = b.Keys[0]
				}
			}
		}
		m.to[p] = to
	}
}

// rows are the bindings that count at p.
func rows(p Place) []Binding {
	var out []Binding
	for _, b := range table {
		if b.Place == p || b.Place == Everywhere {
			out = append(out, b)
		}
	}
	return out
}
