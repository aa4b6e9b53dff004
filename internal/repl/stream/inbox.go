package stream

import (
	"sync"

	"github.com/bb2d0cf4/agent/internal/session"
)

// Inbox passes items from any goroutine to the renderer, in order. It merges waiting text, so
// that a flood of small pieces is cheap.
type Inbox struct {
	wake   chan struct{} // holds one token while items may be waiting
	closed chan struct{} // closed when Run has returned
	once   sync.Once

	mu    sync.Mutex // guards items
	items []any
}

// Aside is an item unrelated to the conversation: it does not end the streaming text. Items
// must be comparable; one equal to the last waiting Aside is dropped.
type Aside struct{ Item any }

// Reprint requests an Update that carries the same value and everything received of the
// current answer. The zero value does nothing.
type Reprint int

// What to print again.
const (
	Conversation Reprint = iota + 1 // the conversation
	Screenful                       // only as much as fits on the screen
)

// NewInbox returns an empty Inbox.
func NewInbox() *Inbox {
	return &Inbox{wake: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Put adds an item: a session.Event, a theme.Look, or anything the interface needs in order
// with them. It does not block.
func (b *Inbox) Put(item any) {
	b.mu.Lock()
	b.items = join(b.items, item)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // already signaled
	}
}

// join appends item, or merges it into the last one if both are text.
func join(items []any, item any) []any {
	var last any
	if len(items) > 0 {
		last = items[len(items)-1]
	}
	switch next := item.(type) {
	case session.TextDelta:
		if prev, ok := last.(*textRun); ok {
			prev.text = append(prev.text, next.Text...)
			return items
		}
		item = &textRun{text: []byte(next.Text)}
	case Aside:
		if prev, ok := last.(Aside); ok && prev == next {
			return items // the first is still waiting
		}
	case session.CallPending:
		if _, ok := last.(session.CallPending); ok {
			items[len(items)-1] = next
			return items
		}
	}
	return append(items, item)
}

// textRun is consecutive text of the answer.
type textRun struct{ text []byte }

// take removes and returns the waiting items.
func (b *Inbox) take() []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}

// Closed returns a channel that is closed when Run has returned.
func (b *Inbox) Closed() <-chan struct{} { return b.closed }

func (b *Inbox) close() { b.once.Do(func() { close(b.closed) }) }
