package repl

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/desktop"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// window is the terminal with its title and notifications.
type window struct {
	*screen.Screen
	desk *desktop.Desktop
	sigs *jobcontrol.Signals
	now  func() time.Time
}

// announce shows the state outside the text.
func (w window) announce(s desktop.State, what string) { w.Send(w.desk.Show(s, what, w.now())) }

// terminalReport handles a report of the terminal or of job control.
func (m *model) terminalReport(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.BackgroundColorMsg:
		look := m.look
		look.Dark = msg.IsDark()
		m.restyle(look)
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeSynchronizedOutput {
			m.scr.SetSync(msg.Value != ansi.ModeNotRecognized)
		}
	case tea.CursorPositionMsg:
		if m.scr.Measure(msg.X) {
			look := m.look
			look.Width-- // what keeps its width keeps its layout
			m.restyle(look)
			look.Width++
			m.restyle(look)
		}
	case tea.FocusMsg:
		m.scr.desk.Focus(true)
	case tea.BlurMsg:
		m.scr.desk.Focus(false)
	case jobcontrol.Stop:
		return m.scr.sigs.Suspend(m.scr)
	case jobcontrol.Continued:
		if err := m.scr.Resume(); err != nil {
			return tea.Quit // the terminal is gone
		}
		return m.resize(m.scr.Size())
	}
	return nil
}

// state returns the activity of the program, and the subject of an open question.
func (m *model) state() (desktop.State, string) {
	switch {
	case m.ask.panel != nil:
		return desktop.Waiting, about(m.ask.q.req)
	case m.sched.free():
		return desktop.Idle, ""
	}
	return desktop.Working, ""
}

// about describes a request in a line.
func about(req confirm.Request) string {
	if c := req.File(); c != nil {
		return req.Tool + " " + c.Label()
	}
	title := req.Facts().Title
	return strings.ToLower(title[:min(1, len(title))]) + title[min(1, len(title)):]
}

// preview shows a theme while it is selected, or the present one if name is empty.
func (m *model) preview(name string) {
	if name == "" {
		name = m.opt.Terminal.Theme
	}
	look := theme.New(name, m.scr.Profile() < colorprofile.ANSI)
	look.Width, look.Height, look.Dark, look.Keys = m.look.Width, m.look.Height, m.look.Dark, m.look.Keys
	m.restyle(look)
}
