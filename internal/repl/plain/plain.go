// Package plain is the interface for terminals that only print lines (TERM=dumb, a pipe) and,
// with labels, for people who use a screen reader. It guarantees that it writes no escape
// sequences, whatever a model, a tool or a file name contains; that each line is one prompt
// or one answer; and that a line entered before a question was shown never answers it.
package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Session is the conversation behind a UI. It reports everything about a prompt, errors
// included, through UI.Emit.
type Session = command.Session

// Options configures a UI.
type Options struct {
	In        io.Reader // read line by line until Run returns, or longer
	Out       io.Writer
	Notes     []string        // printed at the start
	First     string          // the first prompt
	Echo      bool            // In does not echo: repeat prompts on Out
	Again     bool            // In continues after its end, like a terminal after Ctrl+D
	Interrupt <-chan struct{} // stops the running turn; at the prompt it leaves
	Commands  []command.Command
	Served    command.Source // more commands; nil for none
	// Shell runs a command line entered after a !; its progress arrives through Emit. Nil if
	// unsupported.
	Shell  func(ctx context.Context, line string) error
	Status func() app.Status // nil: unknown
	// Today returns the cost of the day and its limit in US dollars; zero for no limit.
	Today func() (usd, limit float64)
	// Attach returns a placeholder for the image in a file; ok is false if it is not an
	// image. Nil if unsupported.
	Attach func(path string) (mark string, ok bool)
	// Labels prefixes lines with their kind (you, agent, tool, question, note), turns tables
	// into "header: value" lines and numbers the answers to a question.
	Labels bool
}

// UI is the plain interface. Create it with New, pass Emit and the UI itself (as a
// confirm.Reviewer) to its clients, then call Run.
type UI struct {
	opt   Options
	typed *inbox
	sess  Session // owned by Run
	told  bool    // owned by Run: the warning about commands in the background was printed
	now   func() time.Time

	mu      sync.Mutex // guards the following, and Out
	clean   sanitize.Stream
	flat    flat
	inText  bool   // the last line of the answer is incomplete
	asked   string // id of the open question
	unsent  []confirm.Comment
	used    llm.Usage
	spent   command.Spending
	thought thought
	output  *shellOutput // of the user's running command line, or nil
}

var _ confirm.Reviewer = (*UI)(nil)

// New returns a UI.
func New(opt Options) *UI { return &UI{opt: opt, typed: newInbox(), now: time.Now} }

// label returns the prefix of a line.
func (o Options) label(mark, name string) string {
	if o.Labels {
		return name + ": "
	}
	return mark
}

// Remark prints a remark of another surface about the question with the given id. It is safe
// for concurrent use.
func (u *UI) Remark(id, text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if text != "" && id == u.asked {
		u.write("\n" + u.opt.label("! ", "note") + sanitize.Line(text) + "\n")
	}
}

// Run serves the user until the input or ctx ends. Lines entered during a turn become the
// next prompts.
func (u *UI) Run(ctx context.Context, sess Session) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	u.sess = sess
	go u.typed.fill(ctx, u.opt.In) // abandoned if a read blocks
	for _, n := range u.opt.Notes {
		u.say(sanitize.Text(n) + "\n")
	}
	if u.opt.First != "" {
		u.line(ctx, u.opt.First)
	}
	for {
		line, err := u.prompt(ctx)
		if errors.Is(err, errInterrupted) || errors.Is(err, io.EOF) {
			if u.opt.Again && !u.leaves("") && (errors.Is(err, errInterrupted) || u.typed.goOn(time.Time{})) {
				continue
			}
			return nil
		}
		if err != nil {
			return err
		}
		if leave := u.line(ctx, line); leave {
			return nil
		}
	}
}

// prompt reads the next line. It repeats a line that the terminal echoed elsewhere.
func (u *UI) prompt(ctx context.Context) (string, error) {
	u.say("\n" + u.opt.label("> ", "you"))
	shown := time.Now()
	e, err := u.typed.next(ctx, time.Time{}, u.opt.Interrupt)
	if err != nil {
		u.say("\n")
		return "", err
	}
	if u.opt.Echo || e.at.Before(shown) {
		u.say(sanitize.Line(e.text) + "\n")
	}
	return strings.TrimSpace(e.text), nil
}

// line handles a line entered at the prompt.
func (u *UI) line(ctx context.Context, line string) (leave bool) {
	if line == "" {
		return false
	}
	if line != "/quit" {
		u.told = false
	}
	if name, args, ok := command.Typed(line); ok {
		return u.command(ctx, name, args)
	}
	if typed, ok := strings.CutPrefix(line, "!"); ok && u.opt.Shell != nil {
		u.shell(ctx, strings.TrimSpace(typed))
		return false
	}
	u.turn(ctx, u.withUnsent(u.attach(line)))
	return false
}

// turn runs one prompt.
func (u *UI) turn(ctx context.Context, prompt string) {
	before := u.total()
	u.stoppable(ctx, func(ctx context.Context) {
		_ = u.sess.Run(ctx, prompt) // TurnEnded reported the error
	})
	if after := u.total(); after != before {
		u.spent.Turn(before, after)
	}
}

// stoppable runs f; an interrupt stops it.
func (u *UI) stoppable(ctx context.Context, f func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	var work crash.Group
	work.Go(func() {
		select {
		case <-u.opt.Interrupt:
			cancel()
			if n := u.typed.drop(); n > 0 {
				u.say(fmt.Sprintf("(%d waiting lines dropped)\n", n))
			}
		case <-ended:
		}
	})
	f(ctx)
	close(ended)
	work.Wait()
}

// say writes sanitized text. If the terminal is gone, the end of the input reveals it.
func (u *UI) say(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.write(text)
}

// write is say for callers that hold the lock. It first ends an incomplete line of the
// answer.
func (u *UI) write(text string) {
	if u.inText {
		end := u.clean.Close()
		if u.opt.Labels {
			end = u.flat.push(end) + u.flat.close()
		}
		text = end + "\n" + text
		u.inText = false
	}
	_, _ = io.WriteString(u.opt.Out, text)
}

// Emit prints ev.
func (u *UI) Emit(ev session.Event) {
	u.think(ev)
	switch ev := ev.(type) {
	case session.TextDelta:
		u.answer(ev.Text)
	case session.AnswerEnded:
		u.uses(ev.Total)
		u.answered(ev.Usage)
	case session.Spent:
		u.uses(ev.Total)
	case session.Filled:
		u.uses(ev.Total)
	case session.CallOutput:
		u.prints(ev.Text, false)
	case session.Retrying:
		if ev.Void {
			u.say(u.opt.label("", "note") + session.BrokeOff + "\n")
		}
		u.say(u.opt.label("! ", "note") + sanitize.Line(ev.String()) + "\n")
	case session.CallEnded:
		if ev.Result.Task != nil {
			u.helped(ev)
		}
		u.prints("", true)
		u.say(u.opt.label("* ", "tool") + outcome(ev) + "\n")
	case session.Notice:
		u.say(u.opt.label("! ", "note") + sanitize.Text(ev.Text) + "\n")
	case session.TurnEnded:
		u.ended(ev)
	}
}

// answered records the usage of an answer.
func (u *UI) answered(used llm.Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.opt.Status != nil {
		u.spent.Answered(u.opt.Status().Model, used)
	}
}

// helped records the usage of a sub-agent that has ended.
func (u *UI) helped(ev session.CallEnded) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.spent.Helpers = append(u.spent.Helpers, command.Helper{Title: ev.Title, Used: ev.Result.Used})
}

// answer prints a piece of the model's answer.
func (u *UI) answer(piece string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	text := u.clean.Push(piece)
	if u.opt.Labels {
		text = u.flat.push(text)
		if !u.inText {
			text = "agent: " + text
		}
	}
	_, _ = io.WriteString(u.opt.Out, text)
	u.inText = u.inText || piece != ""
}

func outcome(ev session.CallEnded) string {
	line := sanitize.Line(ev.Title)
	switch said := ev.Result.ForUser; {
	case strings.Contains(said, "\n"):
		line += ":\n  " + strings.ReplaceAll(sanitize.Text(said), "\n", "\n  ")
	case said != "":
		line += ": " + sanitize.Line(said)
	}
	return line
}

// ended prints how a turn ended, unless it ended normally or a notice has reported it.
func (u *UI) ended(ev session.TurnEnded) {
	switch ev.Stop {
	case session.StopCancelled:
		u.say(session.Cancelled + "\n")
	case session.StopDenied:
		u.say(session.Declined + "\n")
	case session.StopFailed:
		if ev.Err != nil {
			u.say(u.opt.label("! ", "error") + sanitize.Text(ev.Err.Error()) + "\n")
		}
	case session.StopDone, session.StopLimit:
	}
}
