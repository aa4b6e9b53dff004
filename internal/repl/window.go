package repl

import (
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

// window is the terminal: its text, and what is around that.
type window struct {
	*screen.Screen
	desk *desktop.Desktop
	sigs *jobcontrol.Signals
	now  func() time.Time
}

// tell says around the text what the program does.
func (w window) tell(s desktop.State, what string) { w.Send(w.desk.Show(s, what, w.now())) }

// reported takes a report of the terminal, or of the shell's job control.
func (m *model) reported(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.BackgroundColorMsg:
		look := m.look
		look.Dark = msg.IsDark()
		m.restyle(look)
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeSynchronizedOutput {
			m.scr.SetSync(msg.Value != ansi.ModeNotRecognized)
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

// state is what the program does, and what a question is about.
func (m *model) state() (desktop.State, string) {
	switch {
	case m.ask.panel != nil:
		return desktop.Waiting, about(m.ask.q.req)
	case m.floor.free():
		return desktop.Idle, ""
	}
	return desktop.Working, ""
}

// about names what is asked in a line.
func about(req confirm.Request) string {
	switch {
	case req.Change != nil:
		return req.Tool + " " + req.Change.Name
	case req.Command != nil:
		return "run " + req.Command.Line
	case req.Save != nil:
		return "save " + req.Save.Name
	case req.Read != nil:
		return "read " + req.Read.Path
	}
	return req.Tool
}

// preview shows a theme while it is being chosen; for an empty one, that in force.
func (m *model) preview(name string) {
	if name == "" {
		name = m.opt.Terminal.Theme
	}
	look := theme.New(name, m.scr.Profile() < colorprofile.ANSI)
	look.Width, look.Height, look.Dark, look.Keys = m.look.Width, m.look.Height, m.look.Dark, m.look.Keys
	m.restyle(look)
}
