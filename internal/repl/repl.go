// Package repl is the interactive face of the program: a prompt, the
// conversation above it and, when something needs an answer, a panel below the
// conversation. It guarantees that finished lines go to the terminal's own
// scrollback exactly once, so that the cost of a frame does not grow with the
// session, that keys typed ahead never answer a question, and that the terminal
// is left as it was found.
package repl

import (
	"context"
	"os"
	"os/exec"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/repl/desktop"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Session is the conversation that a UI drives.
type Session = command.Session

// Status is what the line at the bottom shows.
type Status struct {
	Model  string
	Branch string
	// Editor names the linked editor and what is selected in it; empty: none.
	Editor string
	// Shows names the editor that can be asked to show a question; empty: none.
	Shows string
}

// Modes is the permission mode, as the status line shows it and Shift+Tab
// changes it.
type Modes interface {
	Current() string
	Next() string // switches and returns the new mode
}

// External opens text in the user's own editor. Cmd is run with the terminal;
// Result returns what was saved, and cleans up.
type External func(name, text string) (cmd *exec.Cmd, result func() (string, error), err error)

// Terminal is where a UI is drawn.
type Terminal struct {
	In, Out *os.File // a terminal
	Env     []string // "KEY=value", for its colours and habits
	Theme   string   // one of theme.Names
	Diff    string   // auto, unified or split
	Keys    keys.Map
	Vi      bool     // the keys of vi at the prompt
	Still   bool     // nothing moves by itself
	Status  []string // what the status line shows: see StatusItems
	// Window says what is told around the text; Dir and Env are filled in.
	Window desktop.Options
}

// Start is what a UI begins with.
type Start struct {
	Version string
	Dir     string   // where it works
	Notes   []string // remarks for the user
	Prompt  string   // run at once, as if typed; may be empty
	Suggest string   // a first prompt, which Tab takes, where there is no Prompt; may be empty
}

func (s Start) suggestion() string {
	if s.Prompt != "" {
		return ""
	}
	return s.Suggest
}

// Images makes placeholders for images.
type Images interface {
	input.Images
	// Paste is about the image in the clipboard; it may be slow.
	Paste(ctx context.Context) (mark string, err error)
}

// Options configures a UI.
type Options struct {
	Terminal Terminal
	Start    Start
	Status   func() Status
	Modes    Modes
	Commands []command.Command // beside those of the screen itself
	Editor   External
	// Shell runs a command line that was typed behind a !; its progress arrives
	// through Emit. Nil: there is no such thing.
	Shell    func(ctx context.Context, line string) error
	Surfaces Surfaces                    // nil: questions stand here alone
	Images   Images                      // nil: none are attached
	Files    func(query string) []string // for @file completion; returns at once
	History  input.History
	Now      func() time.Time // nil means time.Now
}

// UI is the interactive face. Create it with New, hand Emit, Queued and the UI
// itself (as a confirm.Reviewer) to what they serve, then call Run.
type UI struct {
	opt   Options
	box   *stream.Inbox
	queue *queue
}

var _ confirm.Reviewer = (*UI)(nil)

// queueTaken says that the queued prompts were delivered.
type queueTaken struct{}

// New returns a UI that is not on the screen yet.
func New(opt Options) *UI {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &UI{opt: opt, box: stream.NewInbox(), queue: &queue{}}
}

// Emit shows ev, after everything emitted before. It may be called from any
// goroutine and does not block.
func (u *UI) Emit(ev session.Event) { u.box.Put(ev) }

// Queued takes the prompts that were typed while a turn was running. It may be
// called from any goroutine.
func (u *UI) Queued() []string {
	text := u.queue.Take()
	if len(text) > 0 {
		u.box.Put(queueTaken{})
	}
	return text
}

// Review asks the user about req in a panel. When ctx ends the panel goes away
// before Review returns.
func (u *UI) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	q := &question{req: req, answer: make(chan confirm.Verdict, 1), gone: make(chan struct{})}
	u.box.Put(q)
	select {
	case v := <-q.answer:
		return v, nil
	case <-ctx.Done():
	case <-u.box.Closed():
		return confirm.Verdict{}, confirm.ErrUndecided
	}
	u.box.Put(withdraw{q})
	select {
	case <-q.gone:
	case <-u.box.Closed():
	}
	return confirm.Verdict{}, ctx.Err()
}
