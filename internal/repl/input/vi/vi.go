// Package vi is the keys of vi at the prompt: what people rely on in a shell's vi mode.
// It guarantees that whatever is typed the cursor stays in the text, that a command
// that cannot be carried out changes nothing, and that no count makes a key slow.
//
// There are no named registers: a prompt is short.
package vi

import (
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
)

// Result says what a key came to.
type Result int

// The results.
const (
	None   Result = iota // the key is not vi's: it does what it does without it
	Done                 // vi has done it
	Up                   // to the row above, or into the history
	Down                 // to the row below, or out of the history
	Search               // through the history
)

// maxCount bounds counts.
const maxCount = 9999

// Mode is the state of the keys. The zero Mode inserts. It belongs to one goroutine.
type Mode struct {
	normal bool
	cmd    command
	last   find
	cut    cut
	again  repeat
	visual visual
}

// command is what was typed of a command so far.
type command struct {
	count int    // 0: none
	op    string // d, c, y, >, < or none
	opN   int    // the count before it
	wait  string // f, F, t, T, r, g, i or a: another character belongs to it
}

// cut is what was deleted or yanked.
type cut struct {
	gs    []edit.Glyph
	lines bool // whole lines
}

// press is a key as it is kept for the dot.
type press struct{ name, text string }

// repeat is the last change, for the dot.
type repeat struct {
	keys    []press // of the command that is being typed, or inserted for
	change  []press // of the last change
	playing bool
}

// Normal says whether keys are commands now.
func (m *Mode) Normal() bool { return m.normal }

// Reset begins a new text, in insert mode.
func (m *Mode) Reset() {
	m.normal, m.cmd, m.again.keys, m.visual = false, command{}, nil, visual{}
}

// Key handles a key. text is what it types, empty if it types nothing. Alt with a
// character is Esc and then that character: many terminals send the same for both.
func (m *Mode) Key(t *edit.Text, name, text string) Result {
	if c, ok := strings.CutPrefix(name, "alt+"); ok && text == "" {
		if big, ok := strings.CutPrefix(c, "shift+"); ok {
			c = strings.ToUpper(big)
		}
		if utf8.RuneCountInString(c) == 1 {
			m.Key(t, "esc", "")
			return m.Key(t, c, c)
		}
	}
	if !m.normal {
		return m.inserting(t, name, text)
	}
	if text == "" {
		return m.special(t, name)
	}
	m.record(name, text)
	if m.selecting(t) {
		return m.visually(t, text)
	}
	res, done := m.char(t, text)
	if done {
		m.finish(t, res)
	}
	return res
}

// inserting takes note of what is typed; only Esc is vi's.
func (m *Mode) inserting(t *edit.Text, name, text string) Result {
	m.record(name, text)
	if name != "esc" && name != "ctrl+[" {
		return None
	}
	m.normal = true
	if m.again.keys != nil && !m.again.playing {
		m.again.change, m.again.keys = m.again.keys, nil
	}
	if t.At > lineStart(t.Gs, t.At) {
		t.MoveTo(t.At - 1)
	}
	return Done
}

// special handles the keys that type nothing: Esc gives a half command up, and what
// is none of vi's does what it does without it.
func (m *Mode) special(t *edit.Text, name string) Result {
	half := m.cmd != command{}
	m.cmd, m.again.keys = command{}, nil
	if m.selecting(t) {
		m.visual.keyed = true
		if name == "esc" || name == "ctrl+[" {
			m.visual, half = visual{}, true
		}
	}
	switch {
	case name == "ctrl+r":
		t.Redo()
	case (name == "esc" || name == "ctrl+[") && half:
	case name == "backspace":
		t.MoveTo(t.At - 1)
	default:
		return None
	}
	clamp(t)
	return Done
}

// record keeps a key for the dot.
func (m *Mode) record(name, text string) {
	if r := &m.again; !r.playing && (m.normal || r.keys != nil) && len(r.keys) < maxCount {
		r.keys = append(r.keys, press{name, text})
	}
}

// finish follows a complete command.
func (m *Mode) finish(t *edit.Text, res Result) {
	m.cmd = command{}
	if m.normal {
		clamp(t)
		m.again.keys = nil
	}
	if res == Up || res == Down {
		m.again.keys = nil
	}
}

// changed keeps the keys of a change that leaves normal mode where it is.
func (m *Mode) changed() {
	if !m.again.playing {
		m.again.change = m.again.keys
	}
}

// dot makes the last change again.
func (m *Mode) dot(t *edit.Text) {
	m.again.playing = true
	m.cmd = command{}
	for _, k := range m.again.change {
		if m.Key(t, k.name, k.text) != None {
			continue
		}
		switch {
		case k.text != "":
			t.Type(k.text)
		case newlines[k.name]:
			t.Edit(edit.Other, func() { t.Insert(edit.Newline) })
		default:
			t.Key(k.name)
		}
	}
	m.normal, m.again.playing = true, false
}

var newlines = map[string]bool{"shift+enter": true, "alt+enter": true, "ctrl+enter": true, "ctrl+j": true}

// clamp keeps the cursor on a glyph of its line, where there is one.
func clamp(t *edit.Text) {
	at := min(max(0, t.At), len(t.Gs))
	if at == lineEnd(t.Gs, at) && at > lineStart(t.Gs, at) {
		at--
	}
	if at != t.At {
		t.MoveTo(at)
	}
}
