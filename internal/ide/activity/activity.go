// Package activity tells an editor what this side is doing: that it works, that it
// waits for a person, and for which session. It guarantees that what an editor was
// told last is true at the time, that it is told nothing that lasts for less than
// Gap, and that nobody waits for the editor.
package activity

import (
	"context"
	"sync"
	"time"
)

// Gap is how long a change has to last to be told: what a rule answers at once is
// no question.
const Gap = 100 * time.Millisecond

// bound is how long an editor may take for one message.
const bound = 2 * time.Second

// Editor is told. A client of our own extension is one.
type Editor interface {
	// Hello says which session this is.
	Hello(ctx context.Context, session string) error
	SetStatus(ctx context.Context, state, text, tooltip string) error
	// Done is closed when the editor is gone.
	Done() <-chan struct{}
}

// Activity is what this side is doing. Its methods may be called concurrently and
// do not block, but for Show.
type Activity struct {
	mu      sync.Mutex
	is      doing
	working bool
	asking  int           // questions that stand
	changed chan struct{} // closed when there is something else to be told
}

// doing is what an editor is told.
type doing struct{ state, text, session string }

// New returns the activity of a session in which nothing happens yet.
func New(session string) *Activity {
	a := &Activity{changed: make(chan struct{})}
	a.Use(session)
	return a
}

// Work says whether the model is at work.
func (a *Activity) Work(on bool) { a.change(func() { a.working = on }) }

// Use says which session is in use from now on.
func (a *Activity) Use(session string) { a.change(func() { a.is.session = session }) }

// Asks says that a person is asked, until the returned function is called.
func (a *Activity) Asks() (over func()) {
	a.change(func() { a.asking++ })
	return func() { a.change(func() { a.asking-- }) }
}

// Session is the one in use.
func (a *Activity) Session() string {
	now, _ := a.now()
	return now.session
}

func (a *Activity) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	switch {
	case a.asking > 0:
		a.is.state, a.is.text = "waiting", "waits for you"
	case a.working:
		a.is.state, a.is.text = "working", "working"
	default:
		a.is.state, a.is.text = "idle", ""
	}
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *Activity) now() (doing, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.is, a.changed
}

// Show tells an editor, which knows of session, until it is gone. What it did not
// take it is told again.
func (a *Activity) Show(ctx context.Context, e Editor, session string) {
	told := doing{session: session}
	for {
		now, changed := a.now()
		if now == told || tell(ctx, e, &told, now) == nil {
			select {
			case <-changed:
			case <-e.Done():
				return
			case <-ctx.Done():
				return
			}
		}
		if !pause(ctx, e) {
			return
		}
	}
}

// tell says what is another thing now than what was told.
func tell(ctx context.Context, e Editor, told *doing, now doing) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if now.session != told.session {
		if err := e.Hello(ctx, now.session); err != nil {
			return err
		}
		told.session = now.session
	}
	if now == *told {
		return nil
	}
	err := e.SetStatus(ctx, now.state, now.text, "")
	if err == nil {
		*told = now
	}
	return err
}

// pause waits before the next message; false if there is to be none.
func pause(ctx context.Context, e Editor) bool {
	gap := time.NewTimer(Gap)
	defer gap.Stop()
	select {
	case <-gap.C:
		return true
	case <-e.Done():
		return false
	case <-ctx.Done():
		return false
	}
}
