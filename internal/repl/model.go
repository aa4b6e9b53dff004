package repl

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
	"github.com/bb2d0cf4/agent/internal/repl/screen"
	"github.com/bb2d0cf4/agent/internal/session"
)

// model is the state of the interface. Bubble Tea's event loop owns it: nothing
// else touches it.
type model struct {
	ui    *UI
	scr   *screen.Screen
	spawn func(func(context.Context)) context.CancelFunc
	sess  Session

	look   look
	ed     *input.Editor
	turn   turn
	ask    *panel
	pick   *chooser
	quitAt time.Time // the first Ctrl+C of two
	hint   string    // one line below the prompt, until the next key
}

// look is what drawing depends on.
type look struct {
	width, height int
	dark, noColor bool
	st            styles
}

// chooser is a picker and what its choice does.
type chooser struct {
	*picker.Picker
	choose func(i int) tea.Cmd
}

// Messages of the model, beside Bubble Tea's own.
type (
	// armed is due when a panel may take keys.
	armed struct{ *panel }
	// tick advances the spinner.
	tick struct{ turn int }
	// started asks for the first prompt, once the first frame is drawn.
	started struct{}
)

// Init asks for the first prompt, if there is one.
func (m *model) Init() tea.Cmd {
	return func() tea.Msg { return started{} }
}

// Update handles a message. A terminal that is gone ends the program.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if m.scr.Err() != nil {
		return m, tea.Quit
	}
	return m, m.handle(msg)
}

func (m *model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		if m.ui.opt.Theme == "auto" {
			m.theme(msg.IsDark())
		}
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeSynchronizedOutput {
			m.scr.SetSync(msg.Value != ansi.ModeNotRecognized)
		}
	case started:
		return m.first()
	case update:
		return m.take(msg)
	case armed:
		return m.wakePanel(msg.panel)
	case tick:
		return m.spin(msg)
	case edited:
		return m.editedProposal(msg)
	case done:
		return m.commandDone(msg)
	case choices:
		m.open(msg)
	}
	return nil
}

// View draws what changed. Bubble Tea's own renderer is off: the frame goes to
// the terminal through the screen, which writes only the difference.
func (m *model) View() tea.View {
	m.draw()
	return tea.View{}
}

// take prints what the feed finished and handles its items in order.
func (m *model) take(up update) tea.Cmd {
	if len(up.lines) > 0 {
		m.scr.Print(up.lines...)
		m.turn.inCalls = false
	}
	m.turn.tail = up.tail
	var cmds []tea.Cmd
	for _, item := range up.items {
		cmds = append(cmds, m.item(item))
	}
	return tea.Batch(cmds...)
}

func (m *model) item(item any) tea.Cmd {
	switch it := item.(type) {
	case *question:
		return m.pose(it)
	case withdraw:
		m.withdrawn(it.question)
	case queueTaken: // the queue is drawn as it is
	case turnDone:
		return m.turnDone(it)
	case session.Event:
		m.event(it)
	}
	return nil
}

// pose puts a question on the screen.
func (m *model) pose(q *question) tea.Cmd {
	m.ask = newPanel(q, m.diffOptions(), m.ui.opt.Now())
	return m.armLater()
}

// withdrawn takes a question off the screen: it was answered elsewhere, or its
// turn was cancelled.
func (m *model) withdrawn(q *question) {
	if m.ask != nil && m.ask.q == q {
		m.fullScreen(false)
		m.ask = nil
		m.draw() // off the screen before anybody is told so
	}
	close(q.gone)
}

// armLater looks at the panel again when it may take keys.
func (m *model) armLater() tea.Cmd {
	p := m.ask
	wait := guard - m.ui.opt.Now().Sub(p.quietSince)
	return tea.Tick(max(0, wait), func(time.Time) tea.Msg { return armed{p} })
}

func (m *model) wakePanel(p *panel) tea.Cmd {
	if p != m.ask || p.armed || p.arm(m.ui.opt.Now()) {
		return nil
	}
	return m.armLater()
}

func (m *model) diffOptions() diffview.Options {
	return diffview.Options{Width: m.look.width, Dark: m.look.dark, NoColor: m.look.noColor}
}

// resize follows the terminal. A size that is the same again still counts: the
// terminal may have rewrapped what it shows on the way there.
func (m *model) resize(width, height int) {
	if width <= 0 || height <= 0 {
		return
	}
	m.look.width, m.look.height = width, height
	m.scr.Resize(width, height)
	m.ui.box.put(resized{width})
	if m.ask != nil {
		m.ask.body.Resize(width)
		m.ask.scroll(0, m.panelHeight())
	}
}

// theme follows the terminal's background.
func (m *model) theme(dark bool) {
	m.look.dark = dark
	m.look.st = newStyles(dark, m.look.noColor)
	m.ui.box.put(themed{dark})
	m.ed.SetTheme(dark)
	if m.ask != nil {
		m.ask.build(m.diffOptions())
	}
}
