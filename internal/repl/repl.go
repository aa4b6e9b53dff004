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
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/repl/feed"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Session is the conversation that a UI drives. Its methods are called by one
// goroutine at a time.
type Session interface {
	// Run answers a prompt; its progress arrives through UI.Emit.
	Run(ctx context.Context, prompt string) error
	// Messages returns the conversation so far, for drawing a resumed session.
	Messages() []llm.Message
}

// Status is what the line at the bottom shows.
type Status struct {
	Model         string
	Branch        string
	ContextWindow int64 // tokens; zero if not known
	// Editor names the linked editor and what is selected in it; empty: none.
	Editor string
}

// Modes is the permission mode, as the status line shows it and Shift+Tab
// changes it.
type Modes interface {
	Current() string
	Next() string // switches and returns the new mode
	Set(name string) error
}

// Choice is an entry of a picker.
type Choice struct{ ID, Title, Detail string }

// Action is a slash command that answers with text, shown as it is but sanitised.
// args is what follows the command. It may be slow: it runs beside the prompt.
type Action func(ctx context.Context, args string) (string, error)

// Actions is what the slash commands do. A command whose function is nil is not
// offered.
type Actions struct {
	Undo    Action // args: empty, or "turn" for all changes of the last turn
	Diff    Action // unified diff of the session's changes
	Context Action // what the model is told
	Config  Action
	Export  Action // args: the file, or empty
	IDE     Action // args: connect and which, disconnect, status, or empty

	// Editors lists those that /ide connect can choose from.
	Editors  func(ctx context.Context) ([]Choice, error)
	Models   func(ctx context.Context) ([]Choice, error)
	SetModel func(name string) error
	Sessions func() ([]Choice, error)
	// Resume and Clear replace the session.
	Resume func(ctx context.Context, id string) (Session, error)
	Clear  func() (Session, error)
}

// External opens text in the user's own editor. Cmd is run with the terminal;
// Result returns what was saved, and cleans up.
type External func(name, text string) (cmd *exec.Cmd, result func() (string, error), err error)

// Terminal is where a UI is drawn.
type Terminal struct {
	In, Out *os.File // a terminal
	Env     []string // "KEY=value", for its colours and habits
	Theme   string   // auto, dark, light or none
}

// Start is what a UI begins with.
type Start struct {
	Version string
	Dir     string   // where it works
	Notes   []string // remarks for the user
	Prompt  string   // run at once, as if typed; may be empty
}

// Options configures a UI.
type Options struct {
	Terminal Terminal
	Start    Start
	Status   func() Status
	Modes    Modes
	Actions  Actions
	Editor   External
	Surfaces Surfaces        // nil: questions stand here alone
	Files    func() []string // for @file completion; returns at once
	History  input.History
	Now      func() time.Time // nil means time.Now
}

// UI is the interactive face. Create it with New, hand Emit, Queued and the UI
// itself (as a confirm.Reviewer) to what they serve, then call Run.
type UI struct {
	opt   Options
	box   *feed.Box
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
	return &UI{opt: opt, box: feed.NewBox(), queue: &queue{}}
}

// Emit shows ev, after everything emitted before. It may be called from any
// goroutine and does not block.
func (u *UI) Emit(ev session.Event) { u.box.Put(ev) }

// Queued takes the prompts that were typed while a turn was running. It may be
// called from any goroutine.
func (u *UI) Queued() []string {
	text := u.queue.take()
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
