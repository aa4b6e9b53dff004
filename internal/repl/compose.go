package repl

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/repl/lend"
)

// takeBack takes the newest queued text to the prompt again, if there is any.
func takeBack(m *model) bool {
	text := m.floor.queue.Last()
	m.ed.Insert(text)
	return text != ""
}

// composed is what the user made of the prompt in the editor.
type composed struct {
	text string
	err  error
}

// compose opens the prompt in the user's editor.
func compose(m *model) tea.Cmd {
	if m.opt.Editor == nil {
		return nil
	}
	cmd, result, err := m.opt.Editor("prompt.md", m.ed.Source())
	if err != nil {
		m.out.Problem(err)
		return nil
	}
	return tea.Exec(lend.To(cmd, m.opt.Terminal.In, m.opt.Terminal.Out, m.scr), func(err error) tea.Msg {
		text, err2 := result() // also cleans up
		return composed{text, errors.Join(err, err2)}
	})
}

// tell puts what was saved at the prompt.
func (c composed) tell(m *model) tea.Cmd {
	if c.err != nil {
		m.out.Notice("The editor ended with an error, so the prompt is as it was: " + c.err.Error())
		return nil
	}
	m.ed.Replace(strings.TrimRight(c.text, "\n"))
	return nil
}
