//go:build unix

package ptytest

import (
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// Type types text. It does not wait for the program to read it.
func (p *Terminal) Type(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.typing = true
	p.send([]byte(text))
}

// Read waits until the program has read all keys so far.
func (p *Terminal) Read() {
	p.t.Helper()
	late := time.After(Deadline)
	for !p.allRead() {
		select { // nobody is told when the last one is read
		case <-time.After(time.Millisecond):
		case <-late:
			p.t.Fatal("the program does not read its keys")
		}
	}
}

// Paste pastes text as terminals do: in brackets if the program asked for them, and
// with carriage returns for newlines.
func (p *Terminal) Paste(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.typing = true
	text = strings.ReplaceAll(text, "\n", "\r")
	if p.model.Modes().BracketedPaste {
		text = "\x1b[200~" + text + "\x1b[201~"
	}
	p.send([]byte(text))
}

// Press presses keys: "a", "enter", "shift+enter", "ctrl+c", "alt+b", "up", "esc". It
// encodes them in the modes that the program has set, and rests after each letter: Type
// is for texts.
func (p *Terminal) Press(keys ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.typing = true
	for _, k := range keys {
		seq := encode(k, p.model.Modes())
		if seq == "" {
			p.t.Fatalf("no such key: %q", k)
		}
		p.send([]byte(seq))
		p.input[len(p.input)-1].alone = len(seq) == 1 && seq[0] > ' ' && seq[0] != 0x7f
	}
}

// codes are keys that have a character of their own, arrows those that do not.
var (
	codes  = map[string]byte{"enter": '\r', "tab": '\t', "backspace": 0x7f, "esc": 0x1b, "space": ' '}
	arrows = map[string]byte{"up": 'A', "down": 'B', "right": 'C', "left": 'D', "end": 'F', "home": 'H'}
	tildes = map[string]int{"insert": 2, "delete": 3, "pgup": 5, "pgdown": 6}
)

// encode returns the bytes that a terminal sends for a key.
func encode(key string, m vt.Modes) string {
	mod, name := split(key)
	switch {
	case arrows[name] != 0 && mod == 1:
		return "\x1b[" + string(rune(arrows[name]))
	case arrows[name] != 0:
		return fmt.Sprintf("\x1b[1;%d%c", mod, arrows[name])
	case tildes[name] != 0 && mod == 1:
		return fmt.Sprintf("\x1b[%d~", tildes[name])
	case tildes[name] != 0:
		return fmt.Sprintf("\x1b[%d;%d~", tildes[name], mod)
	case name == "tab" && mod == 2:
		return "\x1b[Z"
	case codes[name] == 0 && len(name) != 1:
		return ""
	}
	code := codes[name]
	if code == 0 {
		code = name[0]
	}
	return character(code, mod, m)
}

// character returns the bytes for a key with a character of its own.
func character(code byte, mod int, m vt.Modes) string {
	switch {
	case m.KittyKeys&1 != 0 && (mod > 2 || code == 0x1b || mod > 1 && (code < ' ' || code == 0x7f)):
		return fmt.Sprintf("\x1b[%d;%du", code, mod)
	case m.ModifyKeys == 2 && mod > 1 && (mod > 2 || code <= ' '):
		return fmt.Sprintf("\x1b[27;%d;%d~", mod, code)
	}
	prefix := ""
	if (mod-1)&2 != 0 {
		prefix = "\x1b"
	}
	if (mod-1)&4 != 0 {
		code &= 0x1f
	}
	return prefix + string(rune(code))
}

// split separates the modifiers from a key, in any order; mod is in the terminal's
// encoding.
func split(key string) (mod int, name string) {
	bits, name := 0, key
	for again := true; again; {
		again = false
		for i, prefix := range []string{"shift+", "alt+", "ctrl+"} {
			if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
				bits, name, again = bits|1<<i, rest, true
			}
		}
	}
	return 1 + bits, name
}
