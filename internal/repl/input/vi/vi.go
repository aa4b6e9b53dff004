// Package vi implements vi keys for the prompt: those that people rely on in a shell's vi
// mode. It guarantees that the cursor stays in the text, that a command that cannot be
// carried out changes nothing, and that no count makes a key slow.
//
// There are no named registers: a prompt is short.
package vi

import (
	"strings"
	"unicode/utf8"

	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
)

// Result is the effect of a key.
type Result int

// The effects of a key.
const (
	None   Result = iota // not a key of vi: it has its usual effect
	Done                 // handled
	Up                   // move to the row above, or into the history
	Down                 // move to the row below, or out of the history
	Search               // search the history
)

// maxCount bounds counts.
const maxCount = 9999

// Mode is the state of vi mode. The zero Mode inserts. It is not safe for concurrent use.
type Mode struct {
	normal bool
	cmd    command
	last   find
	cut    cut
	again  repeat
	visual visual
}

// command is an incomplete command.
type command struct {
	count int    // 0 for none
	op    string // d, c, y, >, < or empty
	opN   int    // the count before op
	wait  string // f, F, t, T, r, g, i or a: needs another character
}

// cut is deleted or yanked text.
type cut struct {
	gs    []edit.Glyph
	lines bool // whole lines
}

// press is a recorded key, for the dot.
type press struct{ name, text string }

// repeat records the last change, for the dot.
type repeat struct {
	keys    []press // of the incomplete command or the current insertion
	change  []press // of the last change
	playing bool
}

// Normal reports whether keys are commands now.
func (m *Mode) Normal() bool { return m.normal }

// Reset starts a new text in insert mode.
func (m *Mode) Reset() {
	m.normal, m.cmd, m.again.keys, m.visual = false, command{}, nil, visual{}
}

// Key handles a key. text is the text that it types, if any. Alt with a character means Esc
// and the character: many terminals send the same for both.
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

// inserting records typed text; only Esc is a key of vi.
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

// special handles keys that type nothing: Esc cancels an incomplete command, and unknown keys
// have their usual effect.
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

// record records a key for the dot.
func (m *Mode) record(name, text string) {
	if r := &m.again; !r.playing && (m.normal || r.keys != nil) && len(r.keys) < maxCount {
		r.keys = append(r.keys, press{name, text})
	}
}

// finish completes a command.
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

// changed keeps the keys of a change that stays in normal mode.
func (m *Mode) changed() {
	if !m.again.playing {
		m.again.change = m.again.keys
	}
}

// dot repeats the last change.
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

// clamp keeps the cursor on a glyph of its line, if the line has any.
func clamp(t *edit.Text) {
	at := min(max(0, t.At), len(t.Gs))
	if at == lineEnd(t.Gs, at) && at > lineStart(t.Gs, at) {
		at--
	}
	if at != t.At {
		t.MoveTo(at)
	}
}
