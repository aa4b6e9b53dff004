// Package plain is the interactive face for a terminal that can do nothing but
// print lines (TERM=dumb, a pipe) and, with labels, for a person who listens to a
// screen reader. It guarantees that no escape
// sequence is written, whatever a model, a tool or a file name holds, that each
// line is one prompt or one answer, and that a line entered before a question was
// shown never answers it.
package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Session is the conversation that a UI drives. All that there is to say about a
// prompt, an error too, comes through UI.Emit.
type Session = command.Session

// Options configures a UI.
type Options struct {
	In        io.Reader // read as it comes, a line at a time, until Run returns or longer
	Out       io.Writer
	Notes     []string        // lines to begin with
	First     string          // a prompt to begin with
	Echo      bool            // In shows nothing by itself: repeat its prompts on Out
	Again     bool            // In goes on after its end, as a terminal does after Ctrl+D
	Interrupt <-chan struct{} // stops the running turn; at the prompt it leaves
	Commands  []command.Command
	// Shell runs a command line that was entered behind a !; its progress arrives
	// through Emit. Nil: there is no such thing.
	Shell func(ctx context.Context, line string) error
	// Attach makes a placeholder for the image in a file; ok is false if it is none. Nil:
	// none are attached.
	Attach func(path string) (mark string, ok bool)
	// Labels says what each line is (you, agent, tool, question, note), lays tables
	// out as "header: value" and numbers the answers to a question.
	Labels bool
}

// UI is the plain face. Create it with New, hand Emit and the UI itself (as a
// confirm.Reviewer) to what they serve, then call Run.
type UI struct {
	opt   Options
	typed *inbox
	sess  Session // belongs to Run

	mu     sync.Mutex // guards what follows, and Out
	clean  sanitize.Stream
	flat   flat
	inText bool   // the last line of the answer is not ended
	asked  string // the id of the question that stands
	used   llm.Usage
	output *printed // by a command line that the user runs; nil: none does
}

var _ confirm.Reviewer = (*UI)(nil)

// New returns a UI that reads nothing yet.
func New(opt Options) *UI { return &UI{opt: opt, typed: newInbox()} }

// label is what a line begins with.
func (o Options) label(mark, name string) string {
	if o.Labels {
		return name + ": "
	}
	return mark
}

// Remark prints what another surface tells about the question with the given id. It
// may be called from any goroutine.
func (u *UI) Remark(id, text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if text != "" && id == u.asked {
		u.write("\n" + u.opt.label("! ", "note") + sanitize.Line(text) + "\n")
	}
}

// Run serves the user until the input ends or ctx does. Lines entered during a
// turn are the prompts of the next ones.
func (u *UI) Run(ctx context.Context, sess Session) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	u.sess = sess
	go u.typed.fill(ctx, u.opt.In) // a read that blocks is left behind
	for _, n := range u.opt.Notes {
		u.say(sanitize.Text(n) + "\n")
	}
	if u.opt.First != "" {
		u.line(ctx, u.opt.First)
	}
	for {
		line, err := u.prompt(ctx)
		if errors.Is(err, errInterrupted) || errors.Is(err, io.EOF) {
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

// prompt asks for the next line. One that the terminal has shown elsewhere is
// shown again where it counts.
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

// line does what a line at the prompt says.
func (u *UI) line(ctx context.Context, line string) (leave bool) {
	if line == "" {
		return false
	}
	if name, args, ok := command.Split(line); ok {
		return u.command(ctx, name, args)
	}
	if typed, ok := strings.CutPrefix(line, "!"); ok && u.opt.Shell != nil {
		shell(ctx, u, strings.TrimSpace(typed))
		return false
	}
	u.turn(ctx, u.attach(line))
	return false
}

// turn runs one prompt.
func (u *UI) turn(ctx context.Context, prompt string) {
	u.stoppable(ctx, func(ctx context.Context) {
		_ = u.sess.Run(ctx, prompt) // its error has come with TurnEnded
	})
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

// say writes text that is safe already. A terminal that is gone is noticed by
// the end of the input.
func (u *UI) say(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.write(text)
}

// write is say for a caller that holds the lock. It ends the answer's last line
// first.
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
	switch ev := ev.(type) {
	case session.TextDelta:
		u.answer(ev.Text)
	case session.AnswerEnded:
		u.spent(ev.Total)
	case session.Filled:
		u.spent(ev.Total)
	case session.CallOutput:
		u.prints(ev.Text, false)
	case session.Retrying:
		u.say(u.opt.label("! ", "note") + fmt.Sprintf("%s; trying again in %.0f s (%d of %d)\n", sanitize.Line(ev.Reason), ev.Wait.Seconds(), ev.Attempt, ev.Max))
	case session.CallEnded:
		u.prints("", true)
		u.say(u.opt.label("* ", "tool") + outcome(ev) + "\n")
	case session.Notice:
		u.say(u.opt.label("! ", "note") + sanitize.Text(ev.Text) + "\n")
	case session.TurnEnded:
		u.ended(ev)
	}
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

// ended says how a turn ended, unless it simply did or a notice has said it.
func (u *UI) ended(ev session.TurnEnded) {
	switch ev.Stop {
	case session.StopCancelled:
		u.say("Cancelled. What was done stays done.\n")
	case session.StopDenied:
		u.say("Stopped, as you said no. Say what to do instead.\n")
	case session.StopFailed:
		if ev.Err != nil {
			u.say(u.opt.label("! ", "error") + sanitize.Text(ev.Err.Error()) + "\n")
		}
	case session.StopDone, session.StopLimit:
	}
}
