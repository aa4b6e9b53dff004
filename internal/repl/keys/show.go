package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
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

// Rename returns a function that replaces the default keys in a hint by those in force. The
// hint's parts, separated by " · ", may begin with keys. Rename returns nil if nothing has
// changed.
func (m Map) Rename(p Place) func(hint string) string {
	names, changed := map[string]string{}, false
	for _, b := range rows(p) {
		for _, k := range b.Keys {
			name := strings.ToLower(Spell(k))
			switch now := m.of(b.Action); {
			case !slices.Contains(now, k):
				names[name], changed = m.Key(b.Action), true
			case names[name] == "":
				names[name] = Spell(k)
			}
		}
	}
	if !changed {
		return nil
	}
	return func(hint string) string {
		parts := strings.Split(hint, " · ")
		for i, part := range parts {
			words := strings.Split(part, " ")
			for j, w := range words {
				now, ok := names[strings.ToLower(w)]
				if !ok {
					break
				}
				if !strings.EqualFold(w, now) {
					words[j] = now
				}
				if now == noKey && j+1 < len(words) && names[strings.ToLower(words[j+1])] != "" {
					words[j] = "" // the next word is a key with the same effect
				}
			}
			parts[i] = strings.TrimLeft(strings.Join(words, " "), " ")
		}
		return strings.Join(parts, " · ")
	}
}

// Brief returns the short list of keys, in as many columns as fit into width.
func (m Map) Brief(width int) []string {
	var entries []string
	for _, b := range table {
		if keys := m.of(b.Action); b.Brief != "" && len(keys) > 0 {
			entries = append(entries, pad(pad(Spell(keys[0]), 11)+" "+b.Brief, cell))
		}
	}
	columns := max(1, min(width/cell, len(entries)))
	height := (len(entries) + columns - 1) / columns
	lines := make([]string, height)
	for i, e := range entries {
		lines[i%height] += e
	}
	for i, l := range lines {
		lines[i] = cells.Truncate(strings.TrimRight(l, " "), max(0, width), "…")
	}
	return lines
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-cells.Width(s)))
}

// Text returns the full list, with the names of the actions, in lines of at most width
// columns.
func (m Map) Text(width int) []string {
	var lines []string
	for _, p := range places {
		var entries [][2]string
		for _, r := range table {
			if r.Place == p {
				entries = append(entries, [2]string{spelled(m.of(r.Action), ", "), r.Help + " (" + string(r.Action) + ")"})
			}
		}
		lines = append(append(append(lines, string(p)), theme.Columns(entries, "  ", width)...), "")
	}
	return lines
}

// Markdown returns the full list of default keys for the documentation.
func Markdown() string {
	var b strings.Builder
	for _, p := range places {
		fmt.Fprintf(&b, "### %s\n\n| Key | Does | Action |\n|---|---|---|\n", p)
		for _, r := range table {
			if r.Place == p {
				fmt.Fprintf(&b, "| %s | %s | `%s` |\n", spelled(r.Keys, ", "), r.Help, r.Action)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func spelled(keys []string, between string) string {
	if len(keys) == 0 {
		return "none"
	}
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = Spell(k)
	}
	return strings.Join(out, between)
}
