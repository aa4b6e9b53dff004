package keys

import (
	"iter"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/bb2d0cf4/agent/internal/cells"
)

// cell is the width of an entry of the short list.
const cell = 38

// noKey is shown for an action without a key.
const noKey = "no key"

// Key returns the key to mention for an action, formatted for people.
func (m Map) Key(a Action) string {
	if key := m.First(a); key != "" {
		return key
	}
	return noKey
}

// First is like Key, but returns an empty string if the action has no key.
func (m Map) First(a Action) string {
	if keys := m.of(a); len(keys) > 0 {
		return Spell(keys[0])
	}
	return ""
}

// Hint returns what actions do, behind their keys: "Enter sends". If some of several actions have
// a key, only those are named.
func (m Map) Hint(does string, actions ...Action) string {
	var words []string
	for _, a := range actions {
		switch key := m.First(a); {
		case key == Spell("space"):
			words = append(words, "space") // begins no sentence
		case key != "":
			words = append(words, key)
		}
	}
	if len(words) == 0 {
		words = []string{noKey}
	}
	return strings.TrimSpace(strings.Join(words, " ") + " " + does)
}

// Brief returns the short list of keys, in as many columns as fit into width.
func (m Map) Brief(width int) []string {
	var entries []string
	for _, b := range table {
		if keys := m.of(b.Action); b.Brief != "" && len(keys) > 0 {
			entries = append(entries, lipgloss.NewStyle().Width(12).Render(Spell(keys[0]))+b.Brief)
		}
	}
	height := (len(entries)-1)/max(1, min(width/cell, len(entries))) + 1
	var columns []string
	for column := range slices.Chunk(entries, height) {
		columns = append(columns, lipgloss.NewStyle().Width(cell).Render(strings.Join(column, "\n")))
	}
	lines := strings.Split(lipgloss.JoinHorizontal(lipgloss.Top, columns...), "\n")
	for i, l := range lines {
		lines[i] = cells.Truncate(strings.TrimRight(l, " "), max(0, width), "…")
	}
	return lines
}

// All returns the full list by place: the keys of each action, and its help with its name.
func (m Map) All() iter.Seq2[Place, [][2]string] {
	return func(yield func(Place, [][2]string) bool) {
		for _, p := range places {
			var entries [][2]string
			for _, r := range table {
				if r.Place == p {
					entries = append(entries, [2]string{spelled(m.of(r.Action)), r.Help + " (" + string(r.Action) + ")"})
				}
			}
			if !yield(p, entries) {
				return
			}
		}
	}
}

func spelled(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = Spell(k)
	}
	return strings.Join(out, ", ")
}
