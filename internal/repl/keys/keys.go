// Package keys is the table of key bindings: what each key does where, its help text, and the
// user's own bindings. It guarantees that a key does one thing in one place, and that no key
// that types text answers a question unless the table says so.
//
// All parts of the screen switch on actions and make their hints of them: a key is named nowhere
// else.
package keys

import (
	"slices"
	"strconv"
	"strings"

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
	Search     Place = "While you search older prompts"
	Question   Place = "On a question"
	List       Place = "In a list"
	Pager      Place = "In the pager"
)

var places = []Place{Everywhere, Prompt, Search, Question, List, Pager}

// binding is a row of the table.
type binding struct {
	Action Action
	Place  Place
	Keys   []string
	Help   string
	Brief  string // for the short list; empty to omit it

	fixed   bool // cannot be changed
	needed  bool // needs at least one key
	answers bool // answers a question
	own     bool // of the screen itself, not of its parts
}

// Map is the bindings in force. The zero Map is the defaults.
type Map struct {
	keys map[Action][]string // the user's changes
}

// Is reports whether key triggers a.
func (m Map) Is(key tea.KeyPressMsg, a Action) bool {
	return slices.Contains(m.of(a), nameOf(key))
}

// At returns the action that key triggers in a part of the screen; "" for none. Keys that end a
// search of the history keep their meaning.
func (m Map) At(p Place, key tea.KeyPressMsg) Action {
	for _, b := range rows(p) { // if the table has a key twice, the first row wins
		if !b.own && m.Is(key, b.Action) {
			return b.Action
		}
	}
	name := nameOf(key)
	switch {
	case p == Search:
		return m.At(Prompt, key)
	case p == Question && len(name) == 1 && name >= "4" && name <= "9":
		return Action(answerPrefix + name)
	}
	return ""
}

const answerPrefix = "answer-"

// Number returns the number of an answer, from 1; zero for another action. Those after the third
// have their digits.
func (a Action) Number() int {
	n, _ := strconv.Atoi(strings.TrimPrefix(string(a), answerPrefix))
	return n
}

// of returns the keys of an action.
func (m Map) of(a Action) []string {
	if changed, ok := m.keys[a]; ok {
		return changed
	}
	i := slices.IndexFunc(table, func(b binding) bool { return b.Action == a })
	return table[i].Keys
}

// rows returns the bindings that work at p.
func rows(p Place) []binding {
	var out []binding
	for _, b := range table {
		if b.Place == p || b.Place == Everywhere {
			out = append(out, b)
		}
	}
	return out
}
