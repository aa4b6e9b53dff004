// Package headless answers one prompt without a screen. It guarantees that
// standard output holds the answer (or the JSON that was asked for) and nothing
// else, that all of it is written before Run returns, however slow its reader
// is, and that the exit status says what happened.
package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Format is what goes to standard output.
type Format string

// The formats.
const (
	Text       Format = "text"        // the answer
	JSON       Format = "json"        // one object at the end
	StreamJSON Format = "stream-json" // an object a line for each event, then that object
)

// The exit statuses.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitDenied      = 3 // done, but something that the model wanted was denied
	ExitInterrupted = 130
)

// Runner answers prompts; *session.Loop is one.
type Runner interface {
	Run(ctx context.Context, prompt string) error
}

// errEmpty says that a turn ended without a word for whoever has asked.
var errEmpty = errors.New("the model ended its turn with an empty answer: ask again, or another model")

// Options says where the output goes and how.
type Options struct {
	Format         Format
	SessionID      string
	Stdout, Stderr io.Writer
	// StdoutTTY has text shown as it comes, sanitised. Anything else is given
	// the last answer alone, when it is complete, as the model wrote it.
	StdoutTTY bool
	// StderrTTY has tool calls shown on Stderr, a line each; in the text format,
	// those that were denied always are.
	StderrTTY bool
	Now       func() time.Time // nil means time.Now
}

// Face shows one turn on the standard streams. It serves one Run.
type Face struct {
	opt    Options
	sum    Collector
	out    *output
	screen sanitize.Stream // what text for a terminal passes
	column column
}

// column says where the terminal's cursor is.
type column int

const (
	atStart column = iota // nothing was written yet
	inLine
	afterLine
)

// New returns a Face; its Emit goes into session.Options.
func New(opt Options) *Face {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Face{opt: opt, out: newOutput(opt.Stdout)}
}

// Run answers prompt and returns the exit status. If standard output breaks (its
// reader has gone), the turn is cancelled: nobody would see the rest. After ctx
// has ended it waits for a slow reader no longer than two seconds.
func (f *Face) Run(ctx context.Context, loop Runner, prompt string) int {
	defer catchBrokenPipes()()
	began := f.opt.Now()
	turn, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := f.out.start(ctx, cancel)
	if f.opt.Format == StreamJSON {
		f.line(startEvent{Type: "start", SessionID: f.opt.SessionID, Prompt: prompt})
	}
	err := loop.Run(turn, prompt)
	if err == nil && strings.TrimSpace(f.sum.Answer()) == "" && len(f.sum.denied) == 0 {
		err = errEmpty
	}
	f.finish(err, f.opt.Now().Sub(began))
	outErr := stop()
	if outErr != nil {
		if !errors.Is(outErr, syscall.EPIPE) && ctx.Err() == nil {
			f.complain("the answer could not be written: " + outErr.Error())
		}
		err = outErr
	}
	return f.status(ctx, err)
}

// catchBrokenPipes makes a write to a pipe without a reader fail, where the
// system would end the process and leave its commands running. (Ignoring the
// signal would do so too, but commands inherit that.)
func catchBrokenPipes() (undo func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

// Emit takes an event of the turn. It is called by one goroutine at a time,
// while Run runs.
func (f *Face) Emit(ev session.Event) {
	f.sum.Add(ev)
	switch f.opt.Format {
	case StreamJSON:
		if e := jsonEvent(ev); e != nil {
			f.line(e)
		}
	case Text:
		if f.opt.StdoutTTY {
			f.showText(ev)
		}
	}
	f.showProgress(ev)
}

// finish writes what comes after the last event.
func (f *Face) finish(err error, took time.Duration) {
	switch {
	case f.opt.Format != Text:
		f.line(f.sum.result(f.opt.SessionID, err, took))
		return
	case f.opt.StdoutTTY:
		f.endLine()
	case f.sum.Answer() != "":
		f.out.write(strings.TrimSuffix(f.sum.Answer(), "\n") + "\n")
	}
	if err != nil {
		f.out.drain()
		f.complain(reason(err))
	}
}

func (f *Face) status(ctx context.Context, err error) int {
	switch {
	case err != nil && ctx.Err() != nil:
		return ExitInterrupted
	case err != nil:
		return ExitFailed
	case len(f.sum.denied) > 0:
		return ExitDenied
	}
	return ExitDone
}

// showText shows the model's text on a terminal.
func (f *Face) showText(ev session.Event) {
	switch ev := ev.(type) {
	case session.RequestStarted:
		f.endLine()
		if ev.Round > 1 && f.column == afterLine {
			f.put("\n")
		}
	case session.TextDelta:
		f.put(f.screen.Push(ev.Text))
	}
}

// put writes s to the terminal.
func (f *Face) put(s string) {
	if s == "" {
		return
	}
	f.out.write(s)
	f.column = inLine
	if strings.HasSuffix(s, "\n") {
		f.column = afterLine
	}
}

// endLine ends the text that was shown so far.
func (f *Face) endLine() {
	f.put(f.screen.Close())
	if f.column == inLine {
		f.put("\n")
	}
}

// showProgress writes a line for a call to the other stream, below all that was
// shown before.
func (f *Face) showProgress(ev session.Event) {
	var line string
	switch ev := ev.(type) {
	case session.CallEnded:
		if !f.opt.StderrTTY && (f.opt.Format != Text || ev.Result.Denied == nil) {
			return // who reads JSON finds it there
		}
		line = "• " + ev.Title
		if ev.Result.ForUser != "" {
			line += " – " + strings.ReplaceAll(ev.Result.ForUser, "\n", "; ")
		}
	case session.Retrying:
		line = fmt.Sprintf("%s; trying again in %.0f s (%d of %d)", ev.Reason, ev.Wait.Seconds(), ev.Attempt, ev.Max)
	case session.Notice:
		line = ev.Text
	default:
		return
	}
	if f.opt.Format == Text && f.opt.StdoutTTY {
		f.endLine()
		f.out.drain()
	}
	f.toStderr(line)
}

func (f *Face) complain(what string) { f.toStderr("agent: " + what) }

// toStderr writes one line, on a terminal or not: logs are read there too.
func (f *Face) toStderr(line string) {
	// Where this cannot be written there is nobody left to be told.
	_, _ = io.WriteString(f.opt.Stderr, sanitize.Line(line)+"\n")
}
