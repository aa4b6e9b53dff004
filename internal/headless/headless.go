// Package headless answers one prompt without a screen. It guarantees that standard
// output has the answer (or the requested JSON) and nothing else, that all of it is
// written before Run returns, however slow its reader is, and that the exit status
// tells the outcome.
package headless

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bb2d0cf4/agent/internal/answerschema"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Format is the format of standard output.
type Format string

// The formats.
const (
	Text       Format = "text"        // the answer
	JSON       Format = "json"        // one object at the end
	StreamJSON Format = "stream-json" // one object per line and event, then that object
)

// The exit statuses.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitDenied      = 3 // done, but a call of the model was denied
	ExitInterrupted = 130
)

// Runner answers prompts, like *session.Loop.
type Runner interface {
	Run(ctx context.Context, prompt string) error
}

// Options configures the output.
type Options struct {
	Format         Format
	SessionID      string
	Stdout, Stderr io.Writer
	// StdoutTTY shows text as it comes, sanitized. Otherwise standard output only gets
	// the last answer, once it is complete, as the model wrote it.
	StdoutTTY bool
	// StderrTTY shows tool calls on Stderr, one line each. In the text format denied
	// calls are always shown.
	StderrTTY bool
	// Told holds lines that Stderr has already; a failure in the same words is not repeated.
	Told []string
	// Schema is that of the answer, which then appears once it was checked; nil: it is in words.
	Schema *answerschema.Schema
	Now    func() time.Time // nil means time.Now
}

// Face shows one turn on the standard streams. It is used for one Run.
type Face struct {
	opt Options
	out *output

	mu     sync.Mutex // guards the fields below, and Stderr
	sum    Collector
	screen sanitize.Stream // filters text for a terminal
	column column
	blanks string // the beginning of an answer that has only blanks so far
	spoke  bool   // the answer has more than blanks
	notice string // the last one
}

// column is the position of the terminal's cursor.
type column int

const (
	atStart column = iota // nothing written yet
	inLine
	afterLine
)

// New returns a Face; pass its Emit to the session.
func New(opt Options) *Face {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	opt.StdoutTTY = opt.StdoutTTY && opt.Schema == nil
	return &Face{opt: opt, out: newOutput(opt.Stdout)}
}

// Run answers prompt and returns the exit status. If standard output breaks (its reader
// has gone), it cancels the turn: nobody would see the rest. Once ctx has ended it
// waits at most two seconds for a slow reader.
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
	err = f.finish(err, f.opt.Now().Sub(began))
	outErr := stop()
	if outErr != nil {
		if !isBroken(outErr) && ctx.Err() == nil {
			f.mu.Lock()
			f.complain("the answer could not be written: " + outErr.Error())
			f.mu.Unlock()
		}
		err = outErr
	}
	return f.status(ctx, err)
}

// catchBrokenPipes makes writes to a pipe without a reader return an error; the default
// is that the process dies and its commands run on. (Ignoring the signal would have the
// same effect, but commands inherit that.)
func catchBrokenPipes() (undo func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

// Emit shows an event. It is safe for concurrent use, also before and after Run: MCP
// servers report from goroutines of their own.
func (f *Face) Emit(ev session.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
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

// finish writes the output after the last event. It returns err, or why the answer is not valid.
func (f *Face) finish(err error, took time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var value json.RawMessage
	if f.opt.Schema != nil && err == nil {
		if value, err = f.opt.Schema.Check(f.sum.Answer()); err != nil {
			err = fmt.Errorf("the answer is not valid against the JSON Schema: %w", err)
		}
	}
	switch {
	case f.opt.Format != Text:
		r := f.sum.result(f.opt.SessionID, err, took)
		if r.Output = value; value != nil {
			r.Result = string(value)
		}
		f.line(r)
		return err
	case f.opt.Schema != nil && err == nil:
		f.out.write(string(value) + "\n")
	case f.opt.Schema != nil:
	case f.opt.StdoutTTY:
		f.endLine()
	case strings.TrimSpace(f.sum.Answer()) != "":
		f.out.write(strings.TrimSuffix(f.sum.Answer(), "\n") + "\n")
	}
	if err != nil && !f.told(reason(err)) {
		f.out.drain()
		f.complain(reason(err))
	}
	return err
}

// told reports whether the last notice, or a line from before the turn, gives a reason. A
// notice is a sentence.
func (f *Face) told(reason string) bool {
	same := func(line string) bool {
		return strings.EqualFold(strings.TrimSuffix(line, "."), strings.TrimSuffix(reason, "."))
	}
	return same(f.notice) || slices.ContainsFunc(f.opt.Told, same)
}

func (f *Face) status(ctx context.Context, err error) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sum.status(err, ctx.Err() != nil)
}

// showText shows the model's text on a terminal.
func (f *Face) showText(ev session.Event) {
	switch ev := ev.(type) {
	case session.RequestStarted:
		f.blanks, f.spoke = "", false
		f.endLine()
		if ev.Round > 1 && f.column == afterLine {
			f.put("\n")
		}
	case session.TextDelta:
		f.showAnswer(ev.Text)
	case session.CallEnded:
		if ev.Result.Answer != "" {
			f.endLine()
			f.showAnswer(ev.Result.Answer)
		}
	case session.Retrying:
		f.blanks, f.spoke = "", false
		if ev.Void {
			f.endLine()
			f.put(session.BrokeOff + "\n")
		}
	}
}

// showAnswer shows a piece of an answer. It holds back blanks at the beginning, because a
// blank answer counts as missing.
func (f *Face) showAnswer(text string) {
	if !f.spoke {
		f.blanks += text
		if f.spoke = strings.TrimSpace(f.blanks) != ""; !f.spoke {
			return
		}
		text, f.blanks = f.blanks, ""
	}
	f.put(f.screen.Push(text))
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

// endLine ends the line of the text shown so far.
func (f *Face) endLine() {
	f.put(f.screen.Close())
	if f.column == inLine {
		f.put("\n")
	}
}

// showProgress writes a line about a call to Stderr, below the text shown before.
func (f *Face) showProgress(ev session.Event) {
	var line string
	switch ev := ev.(type) {
	case session.CallEnded:
		if !f.opt.StderrTTY && (f.opt.Format != Text || ev.Result.Denied == nil) {
			return // readers of JSON find it there
		}
		line = "• " + ev.Title
		if ev.Result.ForUser != "" {
			line += " – " + strings.ReplaceAll(ev.Result.ForUser, "\n", "; ")
		}
	case session.Retrying:
		line = ev.String()
	case session.Notice:
		line, f.notice = ev.Text, ev.Text
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

// toStderr writes one line, sanitized even if Stderr is not a terminal: people read
// logs on one.
func (f *Face) toStderr(line string) {
	// If this fails nobody is left to tell.
	_, _ = io.WriteString(f.opt.Stderr, sanitize.Line(line)+"\n")
}
