package feed

import (
	"sync"

	"github.com/bb2d0cf4/agent/internal/session"
)

// Box hands items from any goroutine to the one that draws, in order. Text
// that waits there is joined, so that a flood of small pieces costs little.
type Box struct {
	wake   chan struct{} // holds one token while items may be waiting
	closed chan struct{} // closed when nobody draws any more
	once   sync.Once

	mu    sync.Mutex // guards items
	items []any
}

// Aside is an item that has nothing to do with the conversation: it is handed on
// without ending the text that is being shown. Items are comparable; one that
// repeats the last one is left out.
type Aside struct{ Item any }

// Again asks for an Update with the same value, which holds all that has come of the
// answer that is being shown. The zero value does nothing.
type Again int

// What can be printed again.
const (
	Conversation Again = iota + 1 // print the conversation again
	Screenful                     // only as much of it as the screen shows
)

// NewBox returns an empty box.
func NewBox() *Box {
	return &Box{wake: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Put adds an item: a session.Event, a theme.Look, or whatever else the model is to have
// in order with them. It does not block.
func (b *Box) Put(item any) {
	b.mu.Lock()
	b.items = join(b.items, item)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // a token is there already
	}
}

// join appends item, or adds it to the last one if both are text of one kind.
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
			return items // nobody has seen the first one yet
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

// take returns the waiting items and leaves none.
func (b *Box) take() []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}

// Closed is closed when nobody draws any more.
func (b *Box) Closed() <-chan struct{} { return b.closed }

func (b *Box) close() { b.once.Do(func() { close(b.closed) }) }
