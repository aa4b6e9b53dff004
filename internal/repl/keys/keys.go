// Package keys is the table of key bindings: what each key does where, its help text, and the
// user's own bindings. It guarantees that a key does one thing in one place, and that no key
// that types text answers a question unless the table says so.
//
// The screen looks up actions in the table. Its parts know the default keys only: In
// translates a pressed key for them.
package keys

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Action is the name of an action in the key file.
type Action string

// Place is where a key works.
type Place string

// The places. Keys of Everywhere work in all others, too.
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
	Brief  string // for the short list; empty to omit it

	fixed   bool // cannot be changed
	needed  bool // needs at least one key
	answers bool // answers a question
	own     bool // handled by the screen itself, unknown to its parts
}

// Table returns the default bindings.
func Table() []Binding { return slices.Clone(table) }

// Map is the bindings in force. The zero Map is the defaults.
type Map struct {
	keys map[Action][]string         // the user's changes
	to   map[Place]map[string]string // default keys by pressed key; empty for no action
}

// Is reports whether key triggers a.
func (m Map) Is(key tea.KeyPressMsg, a Action) bool {
	return slices.Contains(m.of(a), nameOf(key))
}

// In translates key for a part of the screen: to the default key of the action that it
// triggers there. A key whose action has moved to another key becomes a key that does
// nothing.
func (m Map) In(p Place, key tea.KeyPressMsg) tea.KeyPressMsg {
	name := nameOf(key)
	to, ok := m.to[p][name]
	if p == Search && !ok { // other keys end the search and keep their meaning
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

// translate fills the translation for the changed keys.
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
				case to[k] == "": // if the table has a key twice, the first row wins
					to[k] = b.Keys[0]
				}
			}
		}
		m.to[p] = to
	}
}

// rows returns the bindings that work at p.
func rows(p Place) []Binding {
	var out []Binding
	for _, b := range table {
		if b.Place == p || b.Place == Everywhere {
			out = append(out, b)
		}
	}
	return out
}
