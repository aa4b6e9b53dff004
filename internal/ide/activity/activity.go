// Package activity reports the agent's state to an editor: working, waiting for a
// person, and for which session. The last report is always true, states that last for
// less than Gap are not reported, and nobody waits for the editor.
package activity

import (
	"context"
	"sync"
	"time"
)

// Gap is how long a state must last to be reported: a question that a rule answers at
// once is never reported.
const Gap = 100 * time.Millisecond

// bound is the time for one message.
const bound = 2 * time.Second

// Editor receives the reports. A client of our own extension is one.
type Editor interface {
	// Hello names the session.
	Hello(ctx context.Context, session string) error
	SetStatus(ctx context.Context, state, text, tooltip string) error
	// Done is closed when the editor is gone.
	Done() <-chan struct{}
}

// Activity is the agent's state. Its methods may be called concurrently; only Show
// blocks.
type Activity struct {
	mu      sync.Mutex
	is      doing
	working bool
	asking  int           // pending questions
	changed chan struct{} // closed when there is something new to report
}

// doing is a state that is reported.
type doing struct{ state, text, session string }

// New returns the activity of an idle session.
func New(session string) *Activity {
	a := &Activity{changed: make(chan struct{})}
	a.Use(session)
	return a
}

// Work sets whether the model is working.
func (a *Activity) Work(on bool) { a.change(func() { a.working = on }) }

// Use sets the session.
func (a *Activity) Use(session string) { a.change(func() { a.is.session = session }) }

// Asks records a question to a person, until the returned function is called.
func (a *Activity) Asks() (over func()) {
	a.change(func() { a.asking++ })
	return func() { a.change(func() { a.asking-- }) }
}

// Session returns the current session.
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

// Show reports to an editor, which already knows session, until it is gone. It repeats
// reports that failed.
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

// tell sends the differences to the last report.
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

// pause waits before the next message; it returns false if no message should follow.
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
