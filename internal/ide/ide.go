// Package ide keeps the link to an editor: it finds one, connects, shows the
// editor the questions of the controller and says what the editor sees. It
// guarantees that nothing waits for an editor longer than its bound, that an
// editor which is lost, stolen, slow or lying decides nothing and ends nothing,
// that a question on an editor's screen is taken away when it is answered
// elsewhere, and that an edit made in the editor is never passed over in silence.
package ide

import (
	"context"
	"errors"
	"hash/maphash"
	"math/rand/v2"
	"time"

	"github.com/bb2d0cf4/agent/internal/ide/activity"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
)

// ErrNoEditor means that there is no editor to connect to.
var ErrNoEditor = errors.New("no editor can be linked")

// Options configures a Bridge.
type Options struct {
	// Search says where to look for editors. Connect says how to connect; its
	// Events are the Bridge's own.
	Search  lock.Search
	Connect client.Options
	// Auto connects to the best editor at the start and again when it was lost.
	Auto bool
	// Diffs shows proposals in the editor.
	Diffs bool
	// Inline shows them in the document itself, where the editor can do that.
	Inline bool
	// Alone says that no terminal can answer: a diff that is closed by hand is then
	// a no.
	Alone bool
	Tell  Tell
	Face  Face
	// May says whether the model may be told of a file; nil: of all. Read returns a
	// file's text.
	May   func(path string) bool
	Read  func(path string) (string, error)
	Clock Clock
}

// Tell says what State holds.
type Tell struct{ Tabs, Diagnostics, Selection bool }

// Face is told what a person should see. Its functions must not block; a nil one
// is left out. Texts are not sanitised.
type Face struct {
	// Note sets the remark on the question with the given id; "" removes it.
	Note func(id, text string)
	// Mention puts a file into the prompt; lines are 1-based, 0 for all of it.
	Mention func(path string, start, end int)
	// Changed says that Status or the selection is another one now.
	Changed func()
}

func (f Face) note(id, text string) {
	if f.Note != nil {
		f.Note(id, text)
	}
}

func (f Face) changed() {
	if f.Changed != nil {
		f.Changed()
	}
}

// Clock replaces what time depends on; zero fields stand for the real ones.
type Clock struct {
	// Wall is the time of day, which goes on while the machine sleeps.
	Wall func() time.Time
	// Jitter returns a number in [0, 1).
	Jitter func() float64
}

func (c Clock) withDefaults() Clock {
	if c.Wall == nil {
		c.Wall = func() time.Time { return time.Now().Round(0) }
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	return c
}

// Bridge is the link to an editor, whichever it is at the time. Its methods may
// be called concurrently; they work while Run runs.
type Bridge struct {
	Reviewer *Reviewer
	View     *View
	Terminal Terminal
	// Activity is what our own extension shows of this side.
	Activity *activity.Activity

	opt      *Options
	commands chan command
	now      *current
	status   status
	left     left
}

// New returns a Bridge that is not linked. It looks for nothing before Run.
func New(o Options) *Bridge {
	o.Clock = o.Clock.withDefaults()
	b := &Bridge{opt: &o, commands: make(chan command), now: &current{trying: o.Auto, changed: make(chan struct{})}}
	b.Terminal = Terminal{b.now}
	b.Activity = activity.New(o.Connect.Session)
	b.Reviewer = &Reviewer{opt: b.opt, now: b.now, doing: b.Activity, proposed: proposed{seed: maphash.MakeSeed()}}
	b.View = &View{opt: b.opt, now: b.now}
	b.status.set(Status{State: Off})
	return b
}

// command is what a person asked of the link.
type command struct {
	connect bool
	path    string // of the lock file to connect to; empty: the best there is
	done    chan error
}

// Connect links to the editor with the given lock file, or to the best there is
// if path is empty, and keeps to it: when it is lost, it is looked for again. It
// returns when the link stands or cannot be had.
func (b *Bridge) Connect(ctx context.Context, path string) error {
	return b.command(ctx, command{connect: true, path: path, done: make(chan error, 1)})
}

// Disconnect ends the link; nothing reconnects before Connect.
func (b *Bridge) Disconnect(ctx context.Context) error {
	return b.command(ctx, command{done: make(chan error, 1)})
}

func (b *Bridge) command(ctx context.Context, c command) error {
	select {
	case b.commands <- c:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Candidates looks for editors and returns all that there are, the best first,
// with the reason against each that was not chosen.
func (b *Bridge) Candidates(ctx context.Context) []lock.Candidate {
	return lock.Find(ctx, b.opt.Search)
}

// Status says how things stand with the link.
func (b *Bridge) Status() Status { return b.status.get() }

// Await waits until the link stands. It returns false if that was not so before
// ctx ended, and as soon as it is known that there is no editor to link.
func (b *Bridge) Await(ctx context.Context) bool {
	for {
		l, changed := b.now.get()
		switch {
		case l != nil:
			return true
		case b.now.hopeless():
			return false
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}
