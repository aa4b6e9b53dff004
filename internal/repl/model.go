package repl

import (
	"context"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/bb2d0cf4/agent/internal/crash"

	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/keyboard"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
)

// quitWindow is the time within which a second Ctrl+C leaves the program.
const quitWindow = 2 * time.Second

// spawner starts work beside the prompt; it ends with the program at the latest.
type spawner func(func(context.Context)) context.CancelFunc

// model is the state of the interface. Bubble Tea's event loop owns it and its
// parts: nothing else touches them.
type model struct {
	opt *Options
	box *stream.Inbox

	scr   window
	look  theme.Look
	ed    *input.Editor
	out   *printer.Printer
	floor *floor
	ask   *asking
	menu  *menu
	view  *viewer

	resizes  int  // counts changes of the terminal's size
	resizing bool // the last one is too recent to draw
	tidying  bool // the screen is about to be printed again

	quitAt time.Time // the first Ctrl+C of two
	hint   hint      // in the place of the status, until the next key
}

// hint is a line for the user, or the short list of keys.
type hint struct {
	text  string
	keys  bool
	again bool // the key again does what the text says
}

// started asks for the first prompt, once the first frame is drawn.
type started struct{}

// Init asks for the first prompt, if there is one.
func (m *model) Init() tea.Cmd {
	return func() tea.Msg { return started{} }
}

// Update handles a message. A terminal that is gone ends the program. A panic gives the
// terminal back here already: Bubble Tea says what it was before Run goes on.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer crash.Guard()
	if m.scr.Err() != nil {
		return m, tea.Quit
	}
	cmd := m.handle(msg)
	return m, tea.Batch(cmd, m.ask.settle(m.floor.free(), m.covered()))
}

// covered says whether a page or a list has the keys, and not a question.
func (m *model) covered() bool { return m.view.page != nil || m.menu.pick != nil }

func (m *model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		m.scr.desk.Key(m.opt.Now())
		return m.press(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case keyboard.TooLarge:
		m.out.Notice("Pasted text of more than 64 MiB is not taken. Put it in a file, and name the file.")
	case tea.WindowSizeMsg:
		return m.resize(msg.Width, msg.Height)
	case resized:
		m.settled(msg)
	case started:
		return m.said(strings.TrimSpace(m.opt.Start.Prompt), false)
	case stream.Update:
		return m.take(msg)
	case tick:
		return m.floor.turn.spin(msg)
	case armed:
		return m.ask.wake(m.covered())
	case edited:
		return m.ask.edited(msg)
	case composed:
		if problem := msg.Put(m.ed); problem != "" {
			m.out.Notice(problem)
		}
	case news:
		return msg.tell(m)
	default:
		return m.reported(msg)
	}
	return nil
}

// View draws what changed. Bubble Tea's own renderer is off: the frame goes to
// the terminal through the screen, which writes only the difference.
// While the size changes nothing is drawn: see resize.
func (m *model) View() tea.View {
	defer crash.Guard()
	if !m.resizing {
		m.draw()
	}
	return tea.View{}
}

// take prints what the feed finished and handles its items in order.
func (m *model) take(up stream.Update) tea.Cmd {
	switch {
	case up.Reprint == stream.Conversation:
		m.out.Reprint(up.Lines)
	case up.Reprint == stream.Screenful:
		m.tidying = false
		if m.roomy() {
			m.scr.Tidied()
			m.out.Repeat(up.Lines, m.look.Height)
		}
	case len(up.Lines) > 0:
		m.out.Stream(up.Lines)
	}
	m.floor.turn.shown.Streams(up.Tail)
	m.floor.turn.shown.Received(up.Bytes)
	var cmds []tea.Cmd
	for _, item := range up.Items {
		cmds = append(cmds, m.item(item))
	}
	return tea.Batch(cmds...)
}

func (m *model) item(item any) tea.Cmd {
	switch it := item.(type) {
	case *question:
		return m.ask.pose(it)
	case withdraw:
		cmd, shown := m.ask.drop(it.question)
		if shown {
			m.draw() // off the screen before anybody is told so
		}
		close(it.gone)
		return cmd
	case stream.Answer:
		m.out.Answer(it.Text)
	case queueTaken: // the queue is drawn as it is
	case turnDone:
		return m.turnDone(it)
	case session.Event:
		m.floor.turn.event(it)
	default:
		m.other(item)
	}
	return nil
}

// turnDone closes the turn, and starts the next one if text is queued. After a
// cancel, queued text goes back to the prompt instead.
func (m *model) turnDone(d turnDone) tea.Cmd {
	m.floor.turn.end()
	if d.err != nil {
		m.recallQueue()
		return nil
	}
	return m.flush()
}

// resize follows the terminal. A size that is the same again still counts: the
// terminal may have rewrapped what it shows on the way there. A window that is dragged
// changes its size many times a second; a frame that meets the next change on its way
// leaves rows behind. So the next frame waits until the size has stayed for a moment.
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
	return tea.Tick(m.scr.Latency(), func(time.Time) tea.Msg { return resized(n) })
}

// resized is due when the size has stayed for a moment since that resize.
type resized int

func (m *model) settled(n resized) { m.resizing = m.resizing && int(n) != m.resizes }

// tidy prints the screen again if changes of its size have left rows of earlier frames
// above the live region.
func (m *model) tidy() {
	if m.scr.Stray() && !m.tidying && m.roomy() {
		m.tidying = true
		m.box.Put(stream.Screenful)
	}
}

// roomy reports whether the terminal has a size that stays, with room for some lines of
// the conversation beside a question.
func (m *model) roomy() bool { return !m.resizing && m.look.Width >= 24 && m.look.Height >= 12 }

// restyle follows the theme and the terminal's size and background.
func (m *model) restyle(look theme.Look) {
	palette := look.Palette(m.scr.Profile() == colorprofile.ANSI)
	look.Tint = palette[paint.GoodTint] != 0
	m.look, m.out.Look = look, look
	m.scr.SetPalette(palette)
	m.box.Put(look)
	m.ask.restyle(look)
	m.view.restyle(look)
}

// press handles what was pressed: a key, or an Esc Esc that came at once.
func (m *model) press(key tea.KeyPressMsg) tea.Cmd {
	if key.String() != "alt+esc" {
		return m.key(key)
	}
	key.Mod = 0
	return tea.Sequence(m.key(key), m.key(key))
}

// key handles a key: a page, a picker or a panel comes first, but for the key that gives
// the terminal to the shell, then the program's
// own keys, then the prompt.
func (m *model) key(key tea.KeyPressMsg) tea.Cmd {
	shown := m.hint
	m.hint = hint{}
	if m.opt.Terminal.Keys.Is(key, keys.Suspend) {
		return m.scr.sigs.Suspend(m.scr)
	}
	for _, first := range []func(tea.KeyPressMsg) (tea.Cmd, bool){m.view.key, m.menu.key, m.ask.key} {
		if cmd, used := first(key); used {
			return cmd
		}
	}
	if cmd, used := m.own(key, shown); used {
		return cmd
	}
	where := keys.Prompt
	if m.ed.Searching() {
		where = keys.Search
	}
	switch m.ed.Handle(m.opt.Terminal.Keys.In(where, key)) {
	case input.Submit:
		runs, asPrompt := m.ed.Runs(), m.ed.AsPrompt()
		text := strings.TrimSpace(m.ed.Take())
		if err := m.ed.Err(); err != nil {
			m.out.Problem(err)
		}
		var cmd tea.Cmd
		if runs {
			cmd = m.submit(text)
		} else {
			cmd = m.said(text, asPrompt)
		}
		again, _ := m.ask.back()
		return tea.Batch(cmd, again)
	case input.Ignored:
		if m.opt.Terminal.Keys.Is(key, keys.Stop) {
			return m.escape(shown)
		}
	case input.Handled:
		m.ask.touched(m.floor.free())
	}
	return nil
}

// escape is an Esc that nothing else took. It goes back to a question; else it stops what runs; else the second one
// clears the prompt or, if it is empty, goes back to an earlier one.
func (m *model) escape(shown hint) tea.Cmd {
	if cmd, ok := m.ask.back(); ok {
		return cmd
	}
	switch {
	case m.floor.stop():
	case shown.again && m.ed.Empty():
		return m.submit("/rewind")
	case m.opt.Terminal.Vi && !m.ed.Empty(): // where it is pressed again and again
	case shown.again:
		m.ed.Drop()
	case m.ed.Empty():
		m.hint = hint{text: m.floor.turn.stopKey + " again goes back to an earlier prompt", again: true}
	default:
		m.hint = hint{text: m.floor.turn.stopKey + " again clears the prompt; " + m.opt.Terminal.Keys.Key(keys.Previous) + " brings it back", again: true}
	}
	return nil
}

// own does what the screen itself does with a key; shown is the hint that was
// there.
func (m *model) own(key tea.KeyPressMsg, shown hint) (cmd tea.Cmd, used bool) {
	is := func(a keys.Action) bool { return m.opt.Terminal.Keys.Is(key, a) }
	if is(keys.Interrupt) {
		return m.interrupt(), true
	}
	m.quitAt = time.Time{}
	switch {
	case is(keys.Reprint):
		cmd := m.resize(m.scr.Size()) // the key may overtake the signal
		m.box.Put(stream.Conversation)
		return cmd, true
	case is(keys.Mode) && m.opt.Modes != nil:
		m.opt.Modes.Next()
		return nil, true
	case is(keys.Compose) && !m.ed.Completing() && m.opt.Editor != nil:
		lent := func(cmd *exec.Cmd) tea.ExecCommand {
			return jobcontrol.Exec(cmd, m.opt.Terminal.In, m.opt.Terminal.Out, m.scr)
		}
		return compose(m.ed, openEditor(m.opt.Editor), lent), true
	case is(keys.Image) && m.opt.Images != nil:
		return pasteImage(m.floor.turn.spawn, m.opt.Images.Paste), true
	case m.ed.Empty():
		return m.onEmpty(is, shown)
	}
	return nil, false
}

// onEmpty does what a key does only while nothing is typed.
func (m *model) onEmpty(is func(keys.Action) bool, shown hint) (cmd tea.Cmd, used bool) {
	switch {
	case is(keys.Leave):
		return tea.Quit, true
	case is(keys.Previous):
		return nil, m.takeBack()
	case is(keys.Show):
		m.hint.keys = !shown.keys
		return nil, true
	}
	return nil, false
}

// interrupt is Ctrl+C: it clears the prompt, else stops what runs; the next one
// within two seconds leaves the program, if nothing was left to stop.
func (m *model) interrupt() tea.Cmd {
	now := m.opt.Now()
	if !m.quitAt.IsZero() && now.Sub(m.quitAt) < quitWindow {
		return tea.Quit
	}
	draft := !m.ed.Empty()
	if draft {
		m.ed.Drop() // ↑ brings it back
	}
	if draft && !m.floor.free() {
		m.hint.text = "Ctrl+C again stops the model"
		return nil
	}
	if !draft {
		m.floor.stop()
	}
	m.quitAt, m.hint.text = now, quitHint
	return m.unhint(now)
}

// quitHint is shown while Ctrl+C leaves.
const quitHint = "Ctrl+C again to quit"

// expired is due when the Ctrl+C that was pressed at a time no longer counts.
type expired struct{ pressed time.Time }

// unhint ends the time in which a second Ctrl+C leaves.
func (m *model) unhint(pressed time.Time) tea.Cmd {
	left := quitWindow - m.opt.Now().Sub(pressed)
	return tea.Tick(max(0, left), func(time.Time) tea.Msg { return expired{pressed} })
}

// tell takes the hint away, if it is still the one of that Ctrl+C.
func (e expired) tell(m *model) tea.Cmd {
	switch {
	case !m.quitAt.Equal(e.pressed):
		return nil
	case m.opt.Now().Sub(e.pressed) < quitWindow:
		return m.unhint(e.pressed)
	case m.hint.text == quitHint:
		m.hint = hint{}
	}
	m.quitAt = time.Time{}
	return nil
}

// paste goes to whatever takes text. A panel takes none but in a comment: pasted
// text never answers.
func (m *model) paste(text string) {
	if !m.view.paste(text) && !m.ask.paste(text) {
		m.ed.Paste(text)
	}
}
