package repl

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/printer"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/session"
)

// scheduler decides when prompts run: one at a time, and not beside a command that needs the
// session. Others wait in the queue.
type scheduler struct {
	turn    *turns
	queue   *queue
	command *job   // the command that has the session, or nil
	beside  []*job // the slow commands beside it, the newest last
}

// job is a command in progress.
type job struct {
	name string
	stop context.CancelFunc
	slow bool // long enough to mention it
}

func (s *scheduler) free() bool { return !s.turn.running && s.command == nil }

// say gives a prompt to the model, now or when the session is free.
func (s *scheduler) say(text string) tea.Cmd {
	if s.free() {
		return s.turn.start(text)
	}
	s.queue.add(text, false)
	return nil
}

// shell runs a command line typed after !, now or when the session is free.
func (s *scheduler) shell(text string, run func(context.Context, string) error) tea.Cmd {
	if s.free() {
		return s.turn.begin(text, run, strings.TrimSpace(text[1:]))
	}
	s.queue.add(text, true)
	return nil
}

// end records that j is done.
func (s *scheduler) end(j *job) {
	if s.command == j {
		s.command = nil
	}
	s.beside = slices.DeleteFunc(s.beside, func(b *job) bool { return b == j })
}

// stop stops the newest slow command, or else the running turn or command, and reports whether there
// was one.
func (s *scheduler) stop() bool {
	switch {
	case len(s.beside) > 0:
		j := s.beside[len(s.beside)-1]
		s.end(j)
		j.stop()
	case s.turn.running:
		s.turn.cancel()
	case s.command != nil:
		s.command.stop()
	default:
		return false
	}
	return true
}

const (
	// spinEvery is the interval of the spinner; only its line is redrawn.
	spinEvery = 250 * time.Millisecond
	// stillEvery is the interval without animation: only the seconds change.
	stillEvery = 5 * time.Second
)

// turns runs prompts, one at a time, and tracks the running one.
type turns struct {
	sess       Session
	spawn      spawner
	inbox      *stream.Inbox
	out        *printer.Printer
	now        func() time.Time
	still      bool   // no animation
	stopKey    string // stops the turn
	background string // the hint of the key that moves a command there; empty if unsupported

	n         int // number of turns, to recognize old ticks
	running   bool
	cancelRun context.CancelFunc
	shown     progress
	before    llm.Usage // of the session when the turn began
	spent     command.Spending
	model     func() string // the name of the present one

	usage
}

// usage is the usage of the session and the size of its context.
type usage struct {
	total   llm.Usage
	context int64 // tokens
	window  int64 // the model's limit in tokens; zero if unknown
}

// tickMsg advances the spinner.
type tickMsg struct{ turn int }

// turnDone follows the last event of a turn.
type turnDone struct{ err error }

// start runs a prompt.
func (t *turns) start(prompt string) tea.Cmd {
	return t.begin(prompt, t.sess.Run, prompt)
}

// begin runs a prompt or a command line.
func (t *turns) begin(shown string, run func(context.Context, string) error, text string) tea.Cmd {
	t.out.Prompt(shown)
	t.n, t.running, t.shown, t.before = t.n+1, true, beginProgress(t.now()), t.total
	inbox := t.inbox
	t.cancelRun = t.spawn(func(ctx context.Context) { inbox.Put(turnDone{run(ctx, text)}) })
	return t.nextTick()
}

// cancel stops the running turn and keeps its results.
func (t *turns) cancel() {
	if t.running {
		t.cancelRun()
		t.shown.stopping()
	}
}

// end handles the end of the turn.
func (t *turns) end() {
	t.cancelRun()
	t.running, t.shown = false, progress{}
	if t.total != t.before {
		t.spent.Turn(t.before, t.total)
	}
}

// use switches to another session.
func (t *turns) use(sess Session) {
	t.sess = sess // its Filled event will report its usage
	t.out.Title = sess.Describe
}

func (t *turns) nextTick() tea.Cmd {
	n, pace := t.n, spinEvery
	if t.still {
		pace = stillEvery
	}
	return tea.Tick(pace, func(time.Time) tea.Msg { return tickMsg{n} })
}

func (t *turns) spin(due tickMsg) tea.Cmd {
	if !t.running || due.turn != t.n {
		return nil
	}
	t.shown.spin()
	return t.nextTick()
}

// event handles an event of the running turn.
func (t *turns) event(ev session.Event) {
	switch ev := ev.(type) {
	case session.AnswerEnded:
		t.usage = usage{ev.Total, ev.Context, ev.Window}
		t.spent.Answered(t.model(), ev.Usage)
	case session.Spent:
		t.total = ev.Total
	case session.Filled:
		t.usage = usage{ev.Total, ev.Context, ev.Window}
	case session.Retrying:
		if ev.Void {
			t.out.Notice(session.BrokeOff)
		}
	case session.CallEnded:
		if ev.Result.Task != nil {
			t.spent.Helpers = append(t.spent.Helpers, command.Helper{Title: ev.Title, Used: ev.Result.Used})
		}
		lines, above := t.shown.output()
		t.out.Call(ev, lines, above)
	case session.Queued:
		t.out.Prompt(ev.Text)
	case session.Notice:
		t.out.Notice(ev.Text)
	case session.TurnEnded:
		t.out.End(ev)
	}
	t.shown.follow(ev, t.now())
}

// line returns the line of the spinner, with the tokens of this turn. During a question, the
// turn waits.
func (t *turns) line(look theme.Look, asking bool) string {
	used := llm.Usage{Input: t.total.Input - t.before.Input, Output: t.total.Output - t.before.Output}
	return t.shown.line(look, surroundings{now: t.now(), asking: asking, used: used, stop: t.stopKey, still: t.still})
}

// live returns the live part of the turn, with its work.
func (t *turns) live(look theme.Look, work app.Work) []string {
	return t.shown.live(look, work, t.background, t.now())
}

// spawner runs a function in the background until the program ends, or until cancelled.
type spawner func(func(context.Context)) context.CancelFunc
