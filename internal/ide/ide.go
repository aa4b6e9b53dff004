// Package ide keeps the link to an editor: it finds one, connects, shows it the
// controller's questions, and reports the state of the editor. Every wait for an editor
// is bounded. An editor that is lost, stolen, slow or lying decides nothing and ends
// nothing, a question that was answered elsewhere is taken off the editor's screen, and
// an edit made in the editor is never silently passed over.
//
// A Bridge is the link to whatever editor is there; a link is one connection of it. Package
// idelink joins a Bridge to a session, and package editor defines an editor's state.
package ide

import (
	"context"
	"errors"
	"hash/maphash"

	"github.com/bb2d0cf4/agent/internal/ide/activity"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
)

// ErrNoEditor means that no editor can be linked.
var ErrNoEditor = errors.New("no editor can be linked")

// Bridge is the link to the current editor, if any. Its methods may be called
// concurrently, while Run runs.
type Bridge struct {
	Reviewer *Reviewer
	View     *View
	Terminal Terminal
	// Activity is the agent's state, which our own extension shows.
	Activity *activity.Activity

	opt      *Options
	commands chan command
	links    *current
	status   status
	left     left
}

// New returns a Bridge without a link. It does not look for editors before Run.
func New(o Options) *Bridge {
	o.Clock = o.Clock.withDefaults()
	b := &Bridge{opt: &o, commands: make(chan command), links: &current{trying: o.Auto, changed: make(chan struct{})}}
	b.Terminal = Terminal{b.links}
	b.Activity = activity.New(o.Connect.Session)
	b.Reviewer = &Reviewer{opt: b.opt, links: b.links, doing: b.Activity, proposed: proposed{seed: maphash.MakeSeed()}}
	b.View = &View{opt: b.opt, links: b.links}
	b.status.set(Status{State: Off})
	if o.Auto {
		b.status.set(Status{State: Connecting}) // Run begins with an attempt
	}
	return b
}

// command is a person's request to link or unlink.
type command struct {
	connect bool
	path    string // of the lock file to connect to; empty: the best editor
	done    chan error
}

// Connect links to the editor with the given lock file, or to the best one if path is
// empty, and from then on looks for that editor whenever the link is lost. It returns
// when the link is up or has failed.
func (b *Bridge) Connect(ctx context.Context, path string) error {
	return b.command(ctx, command{connect: true, path: path, done: make(chan error, 1)})
}

// Disconnect ends the link; only Connect links again.
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

// Candidates looks for editors and returns all of them, the best first, each with the
// reason why it cannot be linked, if any.
func (b *Bridge) Candidates(ctx context.Context) []lock.Candidate {
	return lock.Find(ctx, b.opt.Search)
}

// Status returns the state of the link.
func (b *Bridge) Status() Status { return b.status.get() }

// Await waits until the link is up. It returns false when ctx ends, or as soon as it is
// known that no editor can be linked.
func (b *Bridge) Await(ctx context.Context) bool {
	for {
		l, changed := b.links.get()
		switch {
		case l != nil:
			return true
		case b.links.hopeless():
			return false
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}
