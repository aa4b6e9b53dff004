// Package vi implements vi keys for the prompt: those that people rely on in a shell's vi
// mode. It guarantees that the cursor stays in the text, that a command that cannot be
// carried out changes nothing, and that no count makes a key slow.
//
// There are no named registers: a prompt is short.
package vi

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
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
type press struct {
	action keys.Action
	text   string // that it types
}

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

// Key handles a key, whose action at the prompt is a. text is the text that it types, if any. Alt
// with a character means Esc and the character: many terminals send the same for both.
func (m *Mode) Key(t *edit.Text, key tea.KeyPressMsg, a keys.Action, text string) Result {
	if text == "" && key.Mod&^tea.ModShift == tea.ModAlt && unicode.IsPrint(key.Code) && key.Code != tea.KeySpace {
		c := string(key.Code)
		if key.Mod&tea.ModShift != 0 {
			c = strings.ToUpper(c)
		}
		m.press(t, press{action: keys.Stop})
		return m.press(t, press{text: c})
	}
	return m.press(t, press{a, text})
}

func (m *Mode) press(t *edit.Text, k press) Result {
	switch m.record(k); {
	case !m.normal:
		return m.inserting(t, k.action)
	case k.text == "":
		return m.special(t, k.action)
	}
	text := k.text
	if m.selecting(t) {
		return m.visually(t, text)
	}
	res, done := m.char(t, text)
	if done {
		m.finish(t, res)
	}
	return res
}

// inserting handles a key of a text; only Esc is one of vi.
func (m *Mode) inserting(t *edit.Text, a keys.Action) Result {
	if a != keys.Stop {
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
func (m *Mode) special(t *edit.Text, a keys.Action) Result {
	half := m.cmd != command{}
	m.cmd, m.again.keys = command{}, nil
	if m.selecting(t) {
		m.visual.keyed = true
		if a == keys.Stop {
			m.visual, half = visual{}, true
		}
	}
	switch {
	case a == keys.History: // redo is on the same key in vi
		t.Redo()
	case a == keys.Stop && half:
	case a == keys.DeleteLeft:
		t.MoveTo(t.At - 1)
	default:
		return None
	}
	clamp(t)
	return Done
}

// record records a key for the dot.
func (m *Mode) record(k press) {
	if r := &m.again; !r.playing && (m.normal && k.text != "" || r.keys != nil) && len(r.keys) < maxCount {
		r.keys = append(r.keys, k)
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
		switch {
		case m.press(t, k) != None:
		case k.text != "":
			t.Type(k.text)
		default:
			t.Key(k.action)
		}
	}
	m.normal, m.again.playing = true, false
}

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
