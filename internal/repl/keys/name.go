package keys

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

type modifier struct {
	name string
	mod  tea.KeyMod
	show string
}

// mods lists the modifiers in the order of a name.
var mods = []modifier{{"ctrl", tea.ModCtrl, "Ctrl"}, {"alt", tea.ModAlt, "Alt"}, {"shift", tea.ModShift, "Shift"}}

// named lists the keys that type nothing.
var named = map[string]struct {
	code rune
	show string
}{
	"enter": {tea.KeyEnter, "Enter"}, "tab": {tea.KeyTab, "Tab"}, "esc": {tea.KeyEscape, "Esc"},
	"space": {tea.KeySpace, "Space"}, "backspace": {tea.KeyBackspace, "Backspace"},
	"insert": {tea.KeyInsert, "Insert"}, "delete": {tea.KeyDelete, "Delete"},
	"up": {tea.KeyUp, "↑"}, "down": {tea.KeyDown, "↓"}, "left": {tea.KeyLeft, "←"}, "right": {tea.KeyRight, "→"},
	"home": {tea.KeyHome, "Home"}, "end": {tea.KeyEnd, "End"}, "pgup": {tea.KeyPgUp, "PgUp"}, "pgdown": {tea.KeyPgDown, "PgDn"},
	"f1": {tea.KeyF1, "F1"}, "f2": {tea.KeyF2, "F2"}, "f3": {tea.KeyF3, "F3"}, "f4": {tea.KeyF4, "F4"},
	"f5": {tea.KeyF5, "F5"}, "f6": {tea.KeyF6, "F6"}, "f7": {tea.KeyF7, "F7"}, "f8": {tea.KeyF8, "F8"},
	"f9": {tea.KeyF9, "F9"}, "f10": {tea.KeyF10, "F10"}, "f11": {tea.KeyF11, "F11"}, "f12": {tea.KeyF12, "F12"},
}

// others lists alternative spellings.
var others = map[string]string{
	"return": "enter", "escape": "esc", "del": "delete", "ins": "insert", "pageup": "pgup", "pagedown": "pgdown", "pgdn": "pgdown",
	"control": "ctrl", "option": "alt", "opt": "alt",
}

// same maps keys to those that most terminals cannot distinguish from them.
var same = map[string]string{"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "esc"}

// nameOf returns the name of a pressed key: the text that it types, or its keystroke.
func nameOf(key tea.KeyPressMsg) string {
	const other = tea.ModCtrl | tea.ModAlt | tea.ModSuper | tea.ModMeta | tea.ModHyper
	if key.Text != "" && key.Text != " " && key.Mod&other == 0 {
		return key.Text
	}
	name := key.Keystroke()
	return cmp.Or(same[name], name)
}

// split splits the modifiers off a name.
func split(name string) (tea.KeyMod, string) {
	var mod tea.KeyMod
	for _, m := range mods {
		if rest, ok := strings.CutPrefix(name, m.name+"+"); ok && rest != "" {
			mod, name = mod|m.mod, rest
		}
	}
	return mod, name
}

// parseKey parses a key as written by a person and returns its name.
func parseKey(text string) (string, error) {
	parts := strings.Split(strings.TrimSpace(text), "+")
	base := parts[len(parts)-1]
	if n := len(parts); n > 2 && base == "" && parts[n-2] == "" || text == "+" { // "ctrl++"
		base, parts = "+", parts[:n-1]
	}
	mod, ok := modOf(parts[:len(parts)-1])
	if !ok {
		return "", wrongKey(text, parts[:len(parts)-1], base)
	}
	low := strings.ToLower(base)
	if o, ok := others[low]; ok {
		low = o
	}
	_, isNamed := named[low]
	switch one := utf8.RuneCountInString(base) == 1; {
	case isNamed:
		base = low
	case !one || !unicode.IsPrint(firstRune(base)):
		return "", wrongKey(text, parts[:len(parts)-1], base)
	case mod&^tea.ModShift != 0:
		base = low
	case mod == tea.ModShift:
		base, mod = strings.ToUpper(base), 0
	}
	name := join(mod, base)
	if s := same[name]; s != "" {
		return "", fmt.Errorf("terminals cannot distinguish %s from %s", name, s)
	}
	return name, nil
}

// modOf parses modifiers.
func modOf(parts []string) (tea.KeyMod, bool) {
	var mod tea.KeyMod
	for _, p := range parts {
		p = strings.ToLower(p)
		if o, ok := others[p]; ok {
			p = o
		}
		i := slices.IndexFunc(mods, func(m modifier) bool { return m.name == p })
		if i < 0 {
			return 0, false
		}
		mod |= mods[i].mod
	}
	return mod, true
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func join(mod tea.KeyMod, base string) string {
	name := ""
	for _, m := range mods {
		if mod&m.mod != 0 {
			name += m.name + "+"
		}
	}
	return name + base
}

// wrongKey explains a misspelled key and suggests the nearest valid one.
func wrongKey(text string, before []string, base string) error {
	known := make([]string, len(mods))
	for i, m := range mods {
		known[i] = m.name
	}
	best := slices.Clone(before)
	for i, p := range best {
		best[i] = nearest.Name(p, known)
	}
	if utf8.RuneCountInString(base) != 1 {
		base = nearest.Name(base, slices.Sorted(maps.Keys(named)))
	}
	if best = append(best, base); slices.Contains(best, "") || !unicode.IsPrint(firstRune(base)) {
		return fmt.Errorf("%q is not a key; write keys like ctrl+g, alt+enter, f2 or up", sanitize.Line(text))
	}
	return fmt.Errorf("%q is not a key; did you mean %s?", sanitize.Line(text), strings.Join(best, "+"))
}

// typesText reports whether a key types text.
func typesText(name string) bool {
	mod, base := split(name)
	if mod&^tea.ModShift != 0 {
		return false
	}
	return utf8.RuneCountInString(base) == 1 || slices.Contains([]string{"enter", "tab", "space", "backspace"}, base)
}

// Spell formats a key for people.
func Spell(name string) string {
	mod, base := split(name)
	if n, ok := named[base]; ok {
		base = n.show
	} else if mod != 0 {
		base = strings.ToUpper(base)
	}
	var parts []string
	for _, m := range mods {
		if mod&m.mod != 0 {
			parts = append(parts, m.show)
		}
	}
	return strings.Join(append(parts, base), "+")
}
