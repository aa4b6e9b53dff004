package ide

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
)

// State is how things stand with the link.
type State int

// The states.
const (
	Off        State = iota // not linked, and not trying
	Looking                 // not linked, trying again from time to time
	Connecting              // an attempt is under way
	Connected
)

// Status is a snapshot of the link. Texts are not sanitised.
type Status struct {
	State State
	// Why says why there is no link, in words for a person; it may be empty.
	Why string
	// Editor, Info and Since are of the link that stands.
	Editor lock.Candidate
	Info   client.Info
	Since  time.Time
}

// status holds a Status for readers in other goroutines than its writer's.
type status struct{ p atomic.Pointer[Status] }

func (s *status) set(v Status) { s.p.Store(&v) }

func (s *status) get() Status { return *s.p.Load() }

// current holds the link of now and wakes those who wait for another.
type current struct {
	mu      sync.Mutex
	link    *link         // nil while there is none
	ever    bool          // there was one
	trying  bool          // an attempt is under way, or the first is about to be
	nobody  bool          // the last attempt found no editor to connect to
	changed chan struct{} // closed when link is replaced, and when an attempt ends
}

func (c *current) get() (*link, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link, c.changed
}

// soon returns the link. Without one it waits, until ctx ends, for the attempt
// that is under way: a program that has just been started has no link yet.
func (c *current) soon(ctx context.Context) *link {
	for {
		c.mu.Lock()
		l, trying, changed := c.link, c.trying, c.changed
		c.mu.Unlock()
		if l != nil || !trying {
			return l
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// attempt says that an attempt is under way.
func (c *current) attempt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trying = true
}

// ended says that the attempt is over, and whether there was nobody to connect to.
func (c *current) ended(nobody bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trying, c.nobody = false, nobody
	c.wake()
}

// hopeless says that there is no link, and that the last attempt found nobody.
func (c *current) hopeless() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link == nil && !c.trying && c.nobody
}

// never says that there has been no link yet.
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

// wake wakes those who wait; mu is held.
func (c *current) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}
