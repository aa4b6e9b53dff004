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
	"github.com/bb2d0cf4/agent/internal/repl/keyboard"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

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
	case keyboard.TooLarge:
		m.out.Notice("The paste is larger than 64 MiB and was dropped. Save it in a file and name the file instead.")
	case keyboard.Unfinished:
		m.out.Notice("The terminal has not ended its paste, so what you type is added to it unseen. Ctrl+C ends the paste and shows it.")
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

// resize adopts the terminal's size. Even an unchanged size counts: the terminal may have
// rewrapped its content in between. A window being dragged changes size many times a second,
// and a frame that meets the next change leaves rows behind. The next frame therefore waits
// until the size has been stable for a moment.
func (m *model) resize(width, height int) tea.Cmd {
	if width <= 0 || height <= 0 {
		return nil
	}
	m.scr.Resize(width, height)
	m.resizes++
	m.resizing = true
	n := m.resizes
	look := m.look
	look.Width, look.Height = width, height
	m.restyle(look)
	return tea.Tick(m.scr.Latency(), func(time.Time) tea.Msg { return resizedMsg(n) })
}

// resizedMsg arrives when the size has been stable for a moment after that resize.
type resizedMsg int

func (m *model) resizeSettled(n resizedMsg) { m.resizing = m.resizing && int(n) != m.resizes }

// tidy requests a reprint if resizing has left rows of earlier frames above the live region.
func (m *model) tidy() {
	if m.scr.Stray() && !m.tidying && m.roomy() {
		m.tidying = true
		m.inbox.Put(stream.Screenful)
	}
}

// roomy reports whether the terminal's size is stable, with room for some conversation beside
// a question.
func (m *model) roomy() bool { return !m.resizing && m.look.Width >= 24 && m.look.Height >= 12 }

// restyle adopts the theme and the terminal's size and background.
func (m *model) restyle(look theme.Look) {
	palette := look.Palette(m.scr.Profile() == colorprofile.ANSI)
	look.Tint = palette[paint.GoodTint] != 0
	m.look, m.out.Look = look, look
	m.scr.SetPalette(palette)
	m.inbox.Put(look)
	m.ask.restyle(look)
	m.view.restyle(look)
}
