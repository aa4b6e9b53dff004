// Package plain is the interactive face for a terminal that can do nothing but
// print lines (TERM=dumb, a screen reader, a pipe). It guarantees that no escape
// sequence is written, and that a line typed before a question was shown never
// answers it.
package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Session is the conversation that a UI drives.
type Session interface {
	Run(ctx context.Context, prompt string) error
}

// Options configures a UI.
type Options struct {
	In        io.Reader
	Out       io.Writer
	First     string          // a prompt to begin with
	Interrupt <-chan struct{} // stops the running turn; at the prompt it leaves
}

// UI is the plain face: use it as repl.UI is used.
type UI struct {
	opt   Options
	lines chan string // what was typed, closed at the end of the input

	mu    sync.Mutex // guards out, clean and ahead
	clean sanitize.Stream
	ahead []string // lines typed while a turn ran
}

var _ confirm.Reviewer = (*UI)(nil)

// New returns a UI that reads nothing yet.
func New(opt Options) *UI { return &UI{opt: opt, lines: make(chan string)} }

// Run serves the user until the input ends or ctx does.
func (u *UI) Run(ctx context.Context, sess Session) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go u.read(ctx) // ends with ctx or with the input; a blocked read is left behind
	if u.opt.First != "" {
		u.turn(ctx, sess, u.opt.First)
	}
	for {
		u.say("\n> ")
		prompt, err := u.next(ctx)
		if err != nil {
			u.say("\n")
			return nil
		}
		if prompt = strings.TrimSpace(prompt); prompt == "/quit" {
			return nil
		}
		if prompt != "" {
			u.turn(ctx, sess, prompt)
		}
	}
}

// next returns the next prompt: a line typed ahead, or else a new one.
func (u *UI) next(ctx context.Context) (string, error) {
	if queued := u.Queued(); len(queued) > 0 {
		return strings.Join(queued, "\n"), nil
	}
	select {
	case line, ok := <-u.lines:
		if !ok {
			return "", io.EOF
		}
		return line, nil
	case <-u.opt.Interrupt:
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// turn runs one prompt; an interrupt stops it.
func (u *UI) turn(ctx context.Context, sess Session, prompt string) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		select {
		case <-u.opt.Interrupt:
			cancel()
		case <-ended:
		}
	})
	err := sess.Run(ctx, prompt)
	close(ended)
	work.Wait()
	cancel()
	if err != nil && !errors.Is(err, context.Canceled) {
		u.say("\n" + sanitize.Text(err.Error()) + "\n")
	}
}

// read hands over the lines of the input as they are asked for.
func (u *UI) read(ctx context.Context) {
	defer close(u.lines)
	in := bufio.NewReader(u.opt.In)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			select {
			case u.lines <- strings.TrimRight(line, "\r\n"):
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// say writes text that is safe already. A terminal that is gone is noticed by
// the end of the input.
func (u *UI) say(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, _ = io.WriteString(u.opt.Out, text)
}

// Queued takes the lines typed while a turn was running.
func (u *UI) Queued() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	lines := u.ahead
	u.ahead = nil
	return lines
}

// Emit prints ev.
func (u *UI) Emit(ev session.Event) {
	switch ev := ev.(type) {
	case session.TextDelta:
		u.say(u.clean.Push(ev.Text))
	case session.AnswerEnded:
		u.say(u.clean.Close() + "\n")
	case session.Retrying:
		u.say(fmt.Sprintf("retrying in %s: %s\n", ev.Wait, sanitize.Line(ev.Reason)))
	case session.CallEnded:
		u.say(fmt.Sprintf("* %s: %s\n", sanitize.Line(ev.Title), sanitize.Line(ev.Result.ForUser)))
	case session.Notice:
		u.say(sanitize.Text(ev.Text) + "\n")
	case session.TurnEnded:
		if ev.Stop == session.StopCancelled {
			u.say("Cancelled.\n")
		}
	}
}

// Review prints req and waits for a line that answers it.
func (u *UI) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	u.setAside()
	u.say("\n" + describe(req) + "\n")
	for {
		u.say("Yes, no, or no with a reason? [y / n / reason] ")
		select {
		case <-ctx.Done():
			u.say("(withdrawn)\n")
			return confirm.Verdict{}, ctx.Err()
		case line, ok := <-u.lines:
			if !ok {
				return confirm.Verdict{}, confirm.ErrUndecided
			}
			if v, ok := parse(line); ok {
				return v, nil
			}
		}
	}
}

// setAside keeps the line that was typed before the question for later.
func (u *UI) setAside() {
	select {
	case line, ok := <-u.lines:
		if ok {
			u.mu.Lock()
			u.ahead = append(u.ahead, line)
			u.mu.Unlock()
		}
	default:
	}
}

// parse reads an answer: anything that is neither yes nor no is the reason for
// a no.
func parse(line string) (confirm.Verdict, bool) {
	v := confirm.Verdict{By: "terminal"}
	switch answer := strings.TrimSpace(line); strings.ToLower(answer) {
	case "":
		return v, false
	case "y", "yes":
		v.Decision = confirm.Approve
	case "n", "no":
	default:
		v.Feedback = answer
	}
	return v, true
}

// describe tells what is asked, whole.
func describe(req confirm.Request) string {
	var b strings.Builder
	for _, n := range req.Notes {
		fmt.Fprintf(&b, "! %s\n", sanitize.Line(n))
	}
	switch {
	case req.Change != nil:
		c := req.Change
		b.WriteString(sanitize.Text(diff.Unified("a/"+c.Name, "b/"+c.Name, c.Text, c.After)))
	case req.Command != nil:
		fmt.Fprintf(&b, "run in %s:\n%s", sanitize.Line(req.Command.Dir), sanitize.Text(req.Command.Line))
	case req.Read != nil:
		fmt.Fprintf(&b, "read a file outside the workspace: %s", sanitize.Line(req.Read.Path))
	}
	return b.String()
}
