// Package repl is the interactive interface: a prompt, the conversation above it and, when an
// answer is needed, a panel below the conversation. It guarantees that finished lines reach
// the terminal's scrollback exactly once, so that the cost of a frame does not grow with the
// session; that keys typed ahead never answer a question; and that the terminal is restored.
//
// Of its packages, theme defines the styles and paint applies them to lines of text; stream
// renders the answer while it comes, printer the finished parts; screen writes both to the
// terminal.
package repl

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/desktop"
	"github.com/bb2d0cf4/agent/internal/repl/input"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/stream"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Session is the conversation behind a UI.
type Session = command.Session

// External opens text in the user's own editor. Run cmd in the terminal; result then returns
// the saved text and cleans up.
type External func(name, text string) (cmd *exec.Cmd, result func() (string, error), err error)

// Terminal describes the terminal of a UI.
type Terminal struct {
	In, Out *os.File // must be a terminal
	Env     []string // "KEY=value", for its colors and habits
	Theme   string   // one of theme.Names
	Diff    string   // auto, unified or split
	Keys    keys.Map
	Vi      bool     // use the keys of vi at the prompt
	Still   bool     // no animation
	Status  []string // items of the status line, such as "mode"
	// Window configures the window title and notifications; Dir and Env are filled in.
	Window desktop.Options
}

// Start is the initial state of a UI.
type Start struct {
	Version string
	Dir     string   // the working folder
	Notes   []string // remarks for the user
	Prompt  string   // submitted at once, as if typed; may be empty
	Suggest string   // a first prompt that Tab accepts, if there is no Prompt; may be empty
}

func (s Start) suggestion() string {
	if s.Prompt != "" {
		return ""
	}
	return s.Suggest
}

// Images creates placeholders for images.
type Images interface {
	input.Images
	// Paste returns a placeholder for the image in the clipboard; it may be slow.
	Paste(ctx context.Context) (mark string, err error)
}

// Options configures a UI.
type Options struct {
	Terminal Terminal
	Start    Start
	Status   func() app.Status
	NextMode func() string // switches the permission mode and returns it; nil if unsupported
	// NextEffort changes how much the model thinks and returns the new effort; empty for the
	// default. Nil if unsupported.
	NextEffort func() (string, error)
	Commands   []command.Command // besides those of the screen itself
	Served     command.Source    // more commands; nil for none
	Editor     External
	// Today returns the cost of the day and its limit in US dollars; zero for no limit. Nil if
	// unsupported.
	Today func() (usd, limit float64)
	// ToBackground moves the running command to the background. Nil if unsupported.
	ToBackground func() error
	// Shell runs a command line typed after a !; its progress arrives through Emit. Nil if
	// unsupported.
	Shell    func(ctx context.Context, line string) error
	Surfaces Surfaces                    // nil if questions appear only here
	Images   Images                      // nil if unsupported
	Files    func(query string) []string // completes @file; returns at once
	Remark   func() string               // what Files leaves out; nil for nothing
	History  input.History
	Now      func() time.Time // nil means time.Now
	Shown    func()           // called once, after the first drawing; nil for nothing
}

// UI is the interactive interface. Create it with New, pass Emit, Queued and the UI itself
// (as a confirm.Reviewer) to its clients, then call Run.
type UI struct {
	opt   Options
	inbox *stream.Inbox
	queue *queue
}

var _ confirm.Reviewer = (*UI)(nil)

// queueTaken reports that the queued prompts were delivered.
type queueTaken struct{}

// New returns a UI that Run will show.
func New(opt Options) *UI {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Shown == nil {
		opt.Shown = func() {}
	}
	opt.Shown = sync.OnceFunc(opt.Shown)
	return &UI{opt: opt, inbox: stream.NewInbox(), queue: &queue{}}
}

// Emit shows ev after everything emitted before. It is safe for concurrent use and does not
// block.
func (u *UI) Emit(ev session.Event) { u.inbox.Put(ev) }

// Queued removes and returns the prompts typed during a turn. It is safe for concurrent use.
func (u *UI) Queued() []string {
	text := u.queue.take()
	if len(text) > 0 {
		u.inbox.Put(queueTaken{})
	}
	return text
}

// Surfaces are other places that show a question, such as an editor. Its methods return
// within a second or so.
type Surfaces interface {
	// Claim reserves the question for the terminal, which is about to edit its proposal. It
	// returns the text as edited elsewhere.
	Claim(ctx context.Context, id string) (text string, edited bool)
	// Release shows the question everywhere again, with text as the proposal.
	Release(ctx context.Context, id, text string)
	// Show brings the question to the front in the editor that app.Status.Shows names.
	Show(ctx context.Context, id string) error
}

// Remark shows text beside the question with the given id and replaces an earlier remark; ""
// removes it. Like Insert and Refresh, it is safe for concurrent use and does not block.
func (u *UI) Remark(id, text string) { u.inbox.Put(stream.Aside{Item: remark{id, text}}) }

// Insert inserts text at the prompt's cursor, on one line, between blanks.
func (u *UI) Insert(text string) { u.inbox.Put(stream.Aside{Item: insertion{text}}) }

// Refresh redraws the status line.
func (u *UI) Refresh() { u.inbox.Put(stream.Aside{Item: refresh{}}) }

// NamesChanged refreshes the list of completions: files, resources or commands have changed.
func (u *UI) NamesChanged() { u.inbox.Put(stream.Aside{Item: namesChanged{}}) }

// Inbox items from other surfaces.
type (
	// remark is text beside the question with that id; an empty text removes it.
	remark struct{ id, text string }
	// insertion is text for the prompt.
	insertion struct{ text string }
	// refresh redraws the screen, because the status has changed.
	refresh struct{}
	// namesChanged refreshes the list of completions.
	namesChanged struct{}
)
