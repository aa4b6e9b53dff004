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

	"github.com/bb2d0cf4/agent/internal/ide/activity"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
)

// ErrNoEditor means that there is no editor to connect to.
var ErrNoEditor = errors.New("no editor can be linked")

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
