package repl

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// spinEvery is the pace of the spinner; only its line is drawn again.
const spinEvery = 250 * time.Millisecond

// outputLines is how much of a running command's output is shown live.
const outputLines = 6

// turn is the state of the running turn, or what is left of the last one.
type turn struct {
	n       int // counts turns, so that an old tick is known as such
	running bool
	cancel  context.CancelFunc
	started time.Time
	spinner int

	tail    []string // unfinished text
	doing   string   // what goes on, for the spinner's line
	title   string   // the running call
	output  string   // the end of its output
	inCalls bool     // the last line printed is a call's
	total   llm.Usage
	context int64
}

// turnDone comes after the last event of a turn.
type turnDone struct{ err error }

// start runs a prompt.
func (m *model) start(prompt string) tea.Cmd {
	m.printPrompt(prompt)
	m.turn = turn{
		n: m.turn.n + 1, running: true, started: m.ui.opt.Now(), doing: "waiting for the model",
		total: m.turn.total, context: m.turn.context,
	}
	sess, box := m.sess, m.ui.box
	m.turn.cancel = m.spawn(func(ctx context.Context) {
		box.put(turnDone{sess.Run(ctx, prompt)})
	})
	return m.nextTick()
}

// cancel stops the running turn; what was done stays.
func (m *model) cancel() {
	if m.turn.running {
		m.turn.cancel()
		m.turn.doing = "stopping"
	}
}

func (m *model) nextTick() tea.Cmd {
	n := m.turn.n
	return tea.Tick(spinEvery, func(time.Time) tea.Msg { return tick{n} })
}

func (m *model) spin(t tick) tea.Cmd {
	if !m.turn.running || t.turn != m.turn.n {
		return nil
	}
	m.turn.spinner++
	return m.nextTick()
}

// turnDone closes the turn, and starts the next one if text is queued. After a
// cancel, queued text goes back to the prompt instead.
func (m *model) turnDone(d turnDone) tea.Cmd {
	m.turn.cancel()
	m.turn.running, m.turn.tail, m.turn.title, m.turn.output = false, nil, "", ""
	queued := strings.Join(m.ui.queue.take(), "\n\n")
	if queued == "" {
		return nil
	}
	if d.err != nil {
		m.ed.Insert(queued)
		return nil
	}
	return m.start(queued)
}

// event follows the running turn.
func (m *model) event(ev session.Event) {
	switch ev := ev.(type) {
	case session.RequestStarted:
		m.turn.doing = "waiting for the model"
	case session.CallPending:
		m.turn.doing = "receiving " + sanitize.Line(ev.Name) + " · " + count(int64(ev.Bytes)) + " bytes"
	case session.Retrying:
		m.turn.doing = "retrying in " + seconds(ev.Wait) + ": " + sanitize.Line(ev.Reason)
	case session.AnswerEnded:
		m.turn.total, m.turn.context = ev.Total, ev.Context
	case session.CallStarted:
		m.turn.title, m.turn.output, m.turn.doing = sanitize.Line(ev.Title), "", ""
	case session.CallOutput:
		m.callOutput(ev.Text)
	case session.CallEnded:
		m.turn.title, m.turn.output = "", ""
		m.printCall(ev)
	case session.Queued:
		m.printPrompt(ev.Text)
	case session.Notice:
		m.notice(ev.Text)
	case session.TurnEnded:
		m.printEnd(ev)
	}
}

// callOutput keeps the end of a running command's output.
func (m *model) callOutput(text string) {
	const most = 4 << 10
	out := m.turn.output + text
	if len(out) > most {
		out = strings.ToValidUTF8(out[len(out)-most:], "")
	}
	m.turn.output = out
}

// printPrompt puts what the user said into the scrollback.
func (m *model) printPrompt(text string) {
	lines := []string{""}
	for i, l := range wrap(sanitize.Text(strings.TrimSpace(text)), "", m.look.width-2) {
		prefix := "  "
		if i == 0 {
			prefix = "❯ "
		}
		lines = append(lines, paint(m.look.st.user, prefix+l))
	}
	m.scr.Print(lines...)
}

// printCall puts the outcome of a call into the scrollback: one line, and the
// diff of what was changed.
func (m *model) printCall(ev session.CallEnded) {
	st, res := m.look.st, ev.Result
	mark := paint(st.good, "●")
	switch {
	case res.Denied != nil:
		mark = paint(st.warn, "○")
	case res.Failed:
		mark = paint(st.bad, "●")
	}
	line := mark + " " + sanitize.Line(ev.Title)
	if res.ForUser != "" {
		line += paint(st.dim, " · "+sanitize.Line(res.ForUser))
	}
	if !m.turn.inCalls {
		m.scr.Print("")
	}
	m.scr.Print(short(line, m.look.width))
	m.turn.inCalls = true
	for _, c := range res.Changes {
		_, lines := diffview.Summarize(c.Path, c.Diff, m.diffOptions()) // the call's own line is the title
		m.scr.Print(lines...)
	}
}

// printEnd says how a turn ended, unless it simply did.
func (m *model) printEnd(ev session.TurnEnded) {
	switch ev.Stop {
	case session.StopDone:
		m.scr.Print("")
	case session.StopCancelled:
		m.scr.Print("", paint(m.look.st.warn, "Cancelled. What was done stays done; say what to do instead."))
	case session.StopDenied:
		m.scr.Print("", paint(m.look.st.warn, "Stopped, as you said no. Say what to do instead."))
	default:
		if ev.Err != nil && !errors.Is(ev.Err, context.Canceled) {
			m.problem(ev.Err)
		}
	}
}

// problem shows an error.
func (m *model) problem(err error) {
	m.scr.Print("")
	for _, l := range wrap(sanitize.Text(err.Error()), "", m.look.width) {
		m.scr.Print(paint(m.look.st.bad, l))
	}
}

// notice shows a remark of the program.
func (m *model) notice(text string) {
	for _, l := range wrap(sanitize.Text(text), "", m.look.width) {
		m.scr.Print(paint(m.look.st.dim, l))
	}
}
