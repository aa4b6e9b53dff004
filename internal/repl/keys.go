package repl

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
)

// quitWindow is the time within which a second Ctrl+C leaves the program.
const quitWindow = 2 * time.Second

// key handles a key: a panel or a picker comes first, then the program's own
// keys, then the prompt.
func (m *model) key(key tea.KeyPressMsg) tea.Cmd {
	m.hint = ""
	if m.ask != nil {
		if cmd, used := m.panelKey(key); used {
			return cmd
		}
	} else if m.pick != nil {
		return m.pickKey(key)
	}
	name := key.String()
	if name != "ctrl+c" {
		m.quitAt = time.Time{}
	}
	switch name {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+d":
		if m.ed.Empty() {
			return tea.Quit
		}
	case "ctrl+z":
		return m.suspend()
	case "shift+tab":
		m.nextMode()
		return nil
	case "esc":
		if !m.ed.Completing() && m.turn.running {
			m.cancel()
			return nil
		}
	}
	if m.ed.Handle(key) == input.Submit {
		return m.submit()
	}
	return nil
}

// interrupt is Ctrl+C: it clears the prompt, else stops the turn; the second one
// within two seconds leaves the program.
func (m *model) interrupt() tea.Cmd {
	now := m.ui.opt.Now()
	if !m.quitAt.IsZero() && now.Sub(m.quitAt) < quitWindow {
		return tea.Quit
	}
	m.quitAt = now
	switch {
	case !m.ed.Empty():
		m.ed.Reset()
	case m.turn.running:
		m.cancel()
	}
	m.hint = "Ctrl+C again to quit"
	return nil
}

func (m *model) nextMode() {
	if m.ui.opt.Modes != nil {
		m.ui.opt.Modes.Next()
	}
}

// paste goes to whatever takes text. A panel takes none: pasted text never
// answers.
func (m *model) paste(text string) {
	switch {
	case m.ask != nil && m.ask.note != nil:
		m.ask.note.Paste(text)
	case m.ask != nil && !m.ask.armed:
		m.ask.quietSince = m.ui.opt.Now()
		m.ed.Paste(text)
	default:
		m.ed.Paste(text)
	}
}

// submit takes what is in the prompt: a command, a prompt, or text for the
// running turn.
func (m *model) submit() tea.Cmd {
	text := strings.TrimSpace(m.ed.Take())
	switch {
	case text == "":
		return nil
	case strings.HasPrefix(text, "/") && m.isCommand(text):
		return m.command(text)
	case m.turn.running:
		m.ui.queue.add(text)
		return nil
	}
	return m.start(text)
}

// first runs the prompt that the program was started with.
func (m *model) first() tea.Cmd {
	if text := strings.TrimSpace(m.ui.opt.First); text != "" {
		return m.start(text)
	}
	return nil
}

// pickKey handles a key while a picker is open.
func (m *model) pickKey(key tea.KeyPressMsg) tea.Cmd {
	switch m.pick.Press(key.String(), key.Text) {
	case picker.Chosen:
		i, ok := m.pick.Selected()
		choose := m.pick.choose
		m.pick = nil
		if ok {
			return choose(i)
		}
	case picker.Cancelled:
		m.pick = nil
	case picker.Open, picker.Ignored:
		if key.String() == "ctrl+c" {
			m.pick = nil
		}
	}
	return nil
}
