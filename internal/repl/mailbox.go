package repl

import (
	"sync"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/session"
)

// The items of a mailbox are session.Events and these.
type (
	// question is a request that waits for the user. gone is closed when it is
	// no longer on the screen.
	question struct {
		req    confirm.Request
		answer chan confirm.Verdict
		gone   chan struct{}
	}
	// withdraw takes a question off the screen.
	withdraw struct{ *question }
	// queueTaken says that the queued prompts were delivered.
	queueTaken struct{}
	// resized tells the renderer of text the new width.
	resized struct{ width int }
	// themed tells it whether the background is dark.
	themed struct{ dark bool }
)

// mailbox hands items from any goroutine to the one that draws, in order. Text
// that waits there is joined, so that a flood of small pieces costs little.
type mailbox struct {
	wake   chan struct{} // holds one token while items may be waiting
	closed chan struct{} // closed when nobody draws any more
	once   sync.Once

	mu    sync.Mutex // guards items
	items []any
}

func newMailbox() *mailbox {
	return &mailbox{wake: make(chan struct{}, 1), closed: make(chan struct{})}
}

func (b *mailbox) put(item any) {
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
func (b *mailbox) take() []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}

func (b *mailbox) close() { b.once.Do(func() { close(b.closed) }) }

// queue holds the prompts typed during a turn.
type queue struct {
	mu    sync.Mutex // guards texts
	texts []string
}

func (q *queue) add(text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.texts = append(q.texts, text)
}

func (q *queue) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	texts := q.texts
	q.texts = nil
	return texts
}

func (q *queue) list() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]string(nil), q.texts...)
}
