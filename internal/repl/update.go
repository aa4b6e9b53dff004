package repl

import (
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/jobcontrol"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Init requests the first prompt.
func (m *model) Init() tea.Cmd {
	return func() tea.Msg { return startedMsg{} }
}

// update handles a message. It ends the program if the terminal is gone. It guards against
// panics here, to restore the terminal before Bubble Tea prints them.
func (m *model) update(msg tea.Msg) tea.Cmd {
	defer crash.Guard()
	if m.scr.Err() != nil {
		return tea.Quit
	}
	cmd := m.handle(msg)
	m.strokes.refused()
	return tea.Batch(cmd, m.ask.updateKeys(m.sched.free(), m.covered()))
}

// covered reports whether a page or a list, not a question, has the keys.
func (m *model) covered() bool { return m.view.page != nil || m.menu.pick != nil }

func (m *model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		m.scr.desk.Key(m.opt.Now())
		return m.strokes.after(m.press(msg))
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.WindowSizeMsg:
		return m.resize(msg.Width, msg.Height)
	case resizedMsg:
		m.resizeSettled(msg)
	case startedMsg:
		return m.submitText(strings.TrimSpace(m.opt.Start.Prompt), false)
	case stream.Update:
		return m.streamed(msg)
	case tickMsg:
		return m.sched.turn.spin(msg)
	case armedMsg:
		return m.ask.wake(m.covered())
	case aloneMsg:
		return m.strokes.alone()
	case editedMsg:
		return m.ask.edited(msg)
	case composedMsg:
		if problem := msg.Put(m.ed); problem != "" {
			m.out.Notice(problem)
		}
	case result:
		return msg.apply(m)
	default:
		return m.terminalReport(msg)
	}
	return nil
}

// streamed prints the lines of an update and handles its items in order.
func (m *model) streamed(up stream.Update) tea.Cmd {
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
	m.sched.turn.shown.streams(up.Tail, up.Thinking)
	m.sched.turn.shown.received(up.Bytes)
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
			m.show() // before the reviewer returns
		}
		close(it.gone)
		return cmd
	case *refusal:
		m.strokes.refuses(it)
	case stream.Thought:
		m.sched.turn.shown.thought()
		m.out.Thought(it.Text, it.Took)
	case stream.Answer:
		m.out.Answer(it.Text)
	case queueTaken: // only redraws the queue
	case turnDone:
		return m.turnDone(it)
	case session.Event:
		m.sched.turn.event(it)
	default:
		m.other(item)
	}
	return nil
}

// turnDone ends the turn and submits queued text. After an error or a cancellation, queued
// text returns to the prompt instead.
func (m *model) turnDone(d turnDone) tea.Cmd {
	m.sched.turn.end()
	if d.err != nil {
		m.recallQueue()
		return nil
	}
	return m.flush()
}

// press handles a pressed key, or Esc Esc that arrived as one.
func (m *model) press(key tea.KeyPressMsg) tea.Cmd {
	if key.Code != tea.KeyEscape || key.Mod != tea.ModAlt {
		return m.key(key)
	}
	key.Mod = 0
	return tea.Sequence(m.key(key), m.key(key))
}

// key handles a key. The suspend key comes first, then an open page, picker or panel, then
// the screen's own keys, then the prompt.
func (m *model) key(key tea.KeyPressMsg) tea.Cmd {
	shown := m.hint
	m.hint = hint{}
	if m.opt.Terminal.Keys.Is(key, keys.Suspend) {
		m.strokes.held = held{}
		return m.scr.sigs.Suspend(m.scr)
	}
	for _, first := range []func(tea.KeyPressMsg) (tea.Cmd, bool){m.view.key, m.menu.key, m.strokes.key} {
		if cmd, used := first(key); used {
			return cmd
		}
	}
	if cmd, used := m.screenKey(key, shown); used {
		return cmd
	}
	switch m.ed.Handle(key) {
	case input.Submit:
		m.ask.promptTouched(m.sched.free()) // also by Enter at an empty prompt
		m.strokes.sent = true
		runs, asPrompt := m.ed.Runs(), m.ed.AsPrompt()
		text := strings.TrimSpace(m.ed.Take())
		if err := m.ed.Err(); err != nil {
			m.out.Problem(err)
		}
		var cmd tea.Cmd
		if runs {
			cmd = m.submit(text)
		} else {
			cmd = m.submitText(text, asPrompt)
		}
		again, _ := m.ask.backToQuestion()
		return tea.Batch(cmd, again)
	case input.Ignored:
		if m.opt.Terminal.Keys.Is(key, keys.Stop) {
			return m.escape(shown)
		}
	case input.Handled:
		m.ask.promptTouched(m.sched.free())
	}
	return nil
}

// escape handles an Esc that nothing else handled. It returns to a question, or stops what
// runs; otherwise the second one clears the prompt or, if it is empty, returns to an earlier
// one.
func (m *model) escape(shown hint) tea.Cmd {
	if cmd, ok := m.ask.backToQuestion(); ok {
		return cmd
	}
	switch {
	case m.sched.stop():
	case shown.again && m.ed.Empty():
		return m.submit("/rewind")
	case m.opt.Terminal.Vi && !m.ed.Empty(): // in vi mode Esc is pressed again and again
	case shown.again:
		m.ed.Drop()
	case m.ed.Empty():
		m.hint = hint{text: m.sched.turn.stopKey + " again goes back to an earlier prompt", again: true}
	default:
		m.hint = hint{text: m.sched.turn.stopKey + " again clears the prompt; " + m.opt.Terminal.Keys.Hint("brings it back", keys.Previous), again: true}
	}
	return nil
}

// screenKey handles the keys of the screen itself; shown is the hint on the screen.
func (m *model) screenKey(key tea.KeyPressMsg, shown hint) (cmd tea.Cmd, used bool) {
	is := func(a keys.Action) bool { return m.opt.Terminal.Keys.Is(key, a) }
	if is(keys.Interrupt) {
		return m.interrupt(), true
	}
	m.quitAt = time.Time{}
	switch {
	case is(keys.Reprint):
		cmd := m.resize(m.scr.Size()) // the key may arrive before the signal
		m.inbox.Put(stream.Conversation)
		return cmd, true
	case is(keys.Mode) && m.opt.NextMode != nil:
		m.nextMode()
		return nil, true
	case is(keys.Effort) && m.opt.NextEffort != nil:
		m.nextEffort()
		return nil, true
	case is(keys.Compose) && !m.ed.Completing() && m.opt.Editor != nil:
		inTerminal := func(cmd *exec.Cmd) tea.ExecCommand {
			return jobcontrol.Exec(cmd, m.opt.Terminal.In, m.opt.Terminal.Out, m.scr)
		}
		return compose(m.ed, openEditor(m.opt.Editor), inTerminal), true
	case is(keys.Image) && m.opt.Images != nil:
		return pasteImage(m.sched.turn.spawn, m.opt.Images.Paste), true
	case is(keys.Background) && m.toBackground():
		return nil, true
	case m.ed.Empty():
		return m.emptyKey(is, shown)
	}
	return nil, false
}

// nextMode changes the permission mode, which an open question does not follow.
func (m *model) nextMode() {
	if mode := m.opt.NextMode(); m.ask.panel != nil {
		m.ask.panel.Say(mode + " mode from the next question on; this one still needs your answer")
	}
}

// toBackground lets the command that the turn waits for run on in the background; false without one.
func (m *model) toBackground() bool {
	if m.opt.ToBackground == nil || m.current().Front == nil {
		return false
	}
	if err := m.opt.ToBackground(); err != nil {
		m.hint.text = sanitize.Line(err.Error())
	}
	return true
}

// leave quits. Unless the person knows that commands in the background end with the program, it
// warns instead.
func (m *model) leave(knows bool) tea.Cmd {
	jobs := m.current().Lines()
	if len(jobs) == 0 || knows {
		return tea.Quit
	}
	m.hint = hint{text: m.opt.Terminal.Keys.Hint("again ends "+plural.Of(len(jobs), "job")+" and exits", keys.Leave) + ": " + sanitize.Line(strings.Join(jobs, ", ")), leaves: true}
	return nil
}

// quit is /quit. A second one in a row ends the commands in the background.
func (m *model) quit() tea.Cmd {
	jobs := m.current().Lines()
	if len(jobs) == 0 || m.quits {
		return tea.Quit
	}
	m.quits = true
	m.out.Notice(plural.Of(len(jobs), "job") + " still running: " + sanitize.Line(strings.Join(jobs, ", ")) + ". /quit again ends it and exits; /tasks shows it.")
	return nil
}

// emptyKey handles keys that work only at an empty prompt.
func (m *model) emptyKey(is func(keys.Action) bool, shown hint) (cmd tea.Cmd, used bool) {
	switch {
	case is(keys.Leave):
		return m.leave(shown.leaves), true
	case is(keys.Previous):
		return nil, m.takeBack()
	case is(keys.Show):
		m.hint.keys = !shown.keys
		return nil, true
	}
	return nil, false
}

// interrupt handles Ctrl+C: it clears the prompt or stops what runs. The next one within two
// seconds quits, if there was nothing to stop.
func (m *model) interrupt() tea.Cmd {
	now := m.opt.Now()
	if !m.quitAt.IsZero() && now.Sub(m.quitAt) < quitWindow {
		return tea.Quit
	}
	draft := !m.ed.Empty()
	if draft {
		m.ed.Drop() // ↑ brings it back
	}
	if draft && !m.sched.free() {
		m.hint.text = m.opt.Terminal.Keys.Hint("again stops the model", keys.Interrupt)
		return nil
	}
	if !draft {
		m.sched.stop()
	}
	m.quitAt, m.hint = now, hint{text: m.opt.Terminal.Keys.Hint("again to quit", keys.Interrupt), quits: true}
	if n := len(m.current().Jobs); n > 0 {
		m.hint.text += " and end " + plural.Of(n, "job")
	}
	return m.unhint(now)
}

// quitExpiredMsg arrives when the Ctrl+C of that time has lapsed.
type quitExpiredMsg struct{ pressed time.Time }

// unhint schedules the end of the hint.
func (m *model) unhint(pressed time.Time) tea.Cmd {
	left := quitWindow - m.opt.Now().Sub(pressed)
	return tea.Tick(max(0, left), func(time.Time) tea.Msg { return quitExpiredMsg{pressed} })
}

// apply removes the hint, if it belongs to that Ctrl+C.
func (e quitExpiredMsg) apply(m *model) tea.Cmd {
	switch {
	case !m.quitAt.Equal(e.pressed):
		return nil
	case m.opt.Now().Sub(e.pressed) < quitWindow:
		return m.unhint(e.pressed)
	case m.hint.quits:
		m.hint = hint{}
	}
	m.quitAt = time.Time{}
	return nil
}

// paste sends pasted text to whatever accepts text: never to a panel, except for a comment.
func (m *model) paste(text string) {
	if !m.view.paste(text) && !m.strokes.paste(text) {
		m.ed.Paste(text)
	}
}

// startedMsg requests the first prompt, after the first frame.
type startedMsg struct{}

// quitWindow is the time within which a second Ctrl+C quits.
const quitWindow = 2 * time.Second

// nextEffort changes how much the model thinks. The status line shows it, except the default.
func (m *model) nextEffort() {
	switch effort, err := m.opt.NextEffort(); {
	case err != nil:
		m.hint.text = err.Error()
	case effort == "":
		m.hint.text = "effort: the model's default"
	}
}

// other handles an item from another surface.
func (m *model) other(item any) {
	switch it := item.(type) {
	case remark:
		m.ask.remark = it
		m.ask.recall()
	case insertion:
		m.ed.InsertWord(sanitize.Line(strings.Join(strings.Fields(it.text), " ")))
	case namesChanged:
		m.ed.NamesChanged()
	case refresh: // only redraws
		m.ask.recall()
	}
}
