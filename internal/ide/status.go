package ide

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
)

// State is the state of the link.
type State int

// The states.
const (
	Off        State = iota // not linked, and not trying
	Looking                 // not linked, trying again from time to time
	Connecting              // trying to link
	Connected
)

// Status is a snapshot of the link. Texts are not sanitized.
type Status struct {
	State State
	// Why explains to a person why there is no link; it may be empty.
	Why string
	// Editor, Info and Since describe the link, if State is Connected.
	Editor lock.Candidate
	Info   client.Info
	Since  time.Time
}

// status holds a Status that many goroutines read and one writes.
type status struct{ p atomic.Pointer[Status] }

func (s *status) set(v Status) { s.p.Store(&v) }

func (s *status) get() Status { return *s.p.Load() }

// current holds the current link and wakes goroutines that wait for another.
type current struct {
	mu      sync.Mutex
	link    *link         // or nil
	ever    bool          // there has been a link
	trying  bool          // an attempt is in progress, or the first is about to begin
	nobody  bool          // the last attempt found no editor to connect to
	changed chan struct{} // closed when link is replaced, and when an attempt ends
}

func (c *current) get() (*link, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link, c.changed
}

// soon returns the link, or nil. If an attempt is in progress, it waits for that until
// ctx ends: a program that has just started has no link yet.
func (c *current) soon(ctx context.Context) *link {
	for {
		c.mu.Lock()
		l, trying, changed := c.link, c.trying, c.changed
		c.mu.Unlock()
		if l == nil && !trying || l != nil && !l.lost() {
			return l
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// attempt records the start of an attempt.
func (c *current) attempt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trying = true
}

// ended records the end of an attempt, and whether it found no editor.
func (c *current) ended(nobody bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trying, c.nobody = false, nobody
	c.wake()
}

// hopeless reports whether there is no link and the last attempt found no editor.
func (c *current) hopeless() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link == nil && !c.trying && c.nobody
}

// never reports whether there has been no link yet.
func (c *current) never() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.ever
}

func (c *current) set(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link, c.ever = l, c.ever || l != nil
	c.wake()
}

// wake wakes all waiting goroutines; mu is held.
func (c *current) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}
