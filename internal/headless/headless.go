// Package headless answers one prompt without a screen. It guarantees that
// standard output holds the answer (or the JSON that was asked for) and nothing
// else, that all of it is written before Run returns, and that the exit status
// says what happened.
package headless

import (
	"context"
	"io"
	"time"

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

// Options says where the output goes and how.
type Options struct {
	Format         Format
	SessionID      string
	Stdout, Stderr io.Writer
	// StdoutTTY has the text sanitised and shown as it comes; into a pipe goes
	// the last answer alone, as the model wrote it.
	StdoutTTY bool
	// StderrTTY has tool calls shown on Stderr, a line each.
	StderrTTY bool
	Now       func() time.Time // nil means time.Now
}

// Face shows one turn on the standard streams.
type Face struct{}

// New returns a Face; its Emit goes into session.Options.
func New(opt Options) *Face { return &Face{} }

// Emit takes an event of the turn. It is called by one goroutine at a time,
// while Run runs.
func (f *Face) Emit(ev session.Event) {}

// Run answers prompt and returns the exit status.
func (f *Face) Run(ctx context.Context, loop Runner, prompt string) int { return ExitFailed }
