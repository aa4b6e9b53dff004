package repl

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/stream"

	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
)

const (
	// spinEvery is the pace of the spinner; only its line is drawn again.
	spinEvery = 250 * time.Millisecond
	// stillEvery is the pace where nothing is to move: only the seconds change.
	stillEvery = 5 * time.Second
)

// turns runs prompts, one at a time, and knows how far the running one is.
type turns struct {
	sess    Session
	spawn   spawner
	box     *stream.Inbox
	out     *printer.Printer
	now     func() time.Time
	still   bool   // nothing moves by itself
	stopKey string // ends the turn

	n       int // counts turns, so that an old tick is known as such
	running bool
	stop    context.CancelFunc
	shown   progress

	used
}

// used is what the session has used, and what its context holds.
type used struct {
	total   llm.Usage
	context int64 // tokens
	window  int64 // that the model has room for; zero if not known
}

// tick advances the spinner.
type tick struct{ turn int }

// turnDone comes after the last event of a turn.
type turnDone struct{ err error }

// start runs a prompt.
func (t *turns) start(prompt string) tea.Cmd {
	return t.begin(prompt, t.sess.Run, prompt)
}

// begin runs what the user said: a prompt, or a command line.
func (t *turns) begin(said string, run func(context.Context, string) error, text string) tea.Cmd {
	t.out.Prompt(said)
	t.n, t.running, t.shown = t.n+1, true, beginProgress(t.now())
	box := t.box
	t.stop = t.spawn(func(ctx context.Context) { box.Put(turnDone{run(ctx, text)}) })
	return t.nextTick()
}

// cancel stops the running turn; what was done stays.
func (t *turns) cancel() {
	if t.running {
		t.stop()
		t.shown.Stopping()
	}
}

// end follows the last event of the turn.
func (t *turns) end() {
	t.stop()
	t.running, t.shown = false, progress{}
}

// use goes on with another session.
func (t *turns) use(sess Session) {
	t.sess = sess // its own Filled says what it has used
}

func (t *turns) nextTick() tea.Cmd {
	n, pace := t.n, spinEvery
	if t.still {
		pace = stillEvery
	}
	return tea.Tick(pace, func(time.Time) tea.Msg { return tick{n} })
}

func (t *turns) spin(due tick) tea.Cmd {
	if !t.running || due.turn != t.n {
		return nil
	}
	t.shown.Spin()
	return t.nextTick()
}

// event follows the running turn.
func (t *turns) event(ev session.Event) {
	switch ev := ev.(type) {
	case session.AnswerEnded:
		t.used = used{ev.Total, ev.Context, ev.Window}
	case session.Filled:
		t.used = used{ev.Total, ev.Context, ev.Window}
	case session.CallEnded:
		lines, above := t.shown.Output()
		t.out.Call(ev, lines, above)
	case session.Queued:
		t.out.Prompt(ev.Text)
	case session.Notice:
		t.out.Notice(ev.Text)
	case session.TurnEnded:
		t.out.End(ev)
	}
	t.shown.Follow(ev, t.now())
}

// line is the spinner's line. A standing question is what the turn waits for.
func (t *turns) line(look theme.Look, asking bool) string {
	return t.shown.Line(look, surroundings{Now: t.now(), Asking: asking, Used: t.total, Stop: t.stopKey, Still: t.still})
}
