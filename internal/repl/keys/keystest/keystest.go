// Package keystest presses keys in tests of the parts of the screen.
package keystest

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

var named = map[string]rune{
	"enter": tea.KeyEnter, "tab": tea.KeyTab, "backspace": tea.KeyBackspace, "esc": tea.KeyEscape, "space": tea.KeySpace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"home": tea.KeyHome, "end": tea.KeyEnd, "insert": tea.KeyInsert, "delete": tea.KeyDelete,
	"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6,
	"f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12,
}

var modifiers = map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}

// Key returns the press of a key by its name in the key file, such as ctrl+alt+x.
func Key(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	for {
		mod, rest, ok := strings.Cut(name, "+")
		if !ok || rest == "" || modifiers[mod] == 0 {
			break
		}
		k.Mod |= modifiers[mod]
		name = rest
	}
	if code, ok := named[name]; ok {
		if k.Code = code; code == tea.KeySpace && k.Mod == 0 {
			k.Text = " "
		}
		return k
	}
	k.Code, _ = utf8.DecodeRuneInString(name)
	if k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		k.Text = name
	}
	return k
}
