package session

import (
	"sync"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// store is where a conversation is saved.
type store interface {
	recordStore
	Sync() error
	Close() error
}

// recordStore takes the records of a conversation.
type recordStore interface {
	Append(entries ...history.Entry) error
	AppendUsage(u llm.Usage, beside bool) error
	State(st archive.State) error
}

// saver writes a conversation to its store, if it has one. If saving fails it tells the
// user once, and once again when saving works. Meanwhile the work goes on; the store
// writes the missing records later. It is safe for concurrent use.
type saver struct {
	emit func(Event)

	mu    sync.Mutex // guards the fields below
	store store      // nil: nothing is saved
	ok    bool       // the last write succeeded
}

func (s *saver) add(entries ...history.Entry) {
	if len(entries) > 0 {
		s.save(func(to store) error { return to.Append(entries...) })
	}
}

// usage saves the usage of a request; beside reports whether it was not one of the conversation.
func (s *saver) usage(u llm.Usage, beside bool) {
	s.save(func(to store) error { return to.AppendUsage(u, beside) })
}

// sync makes everything durable, with the session's state.
func (s *saver) sync(st archive.State) {
	s.save(func(to store) error {
		if err := to.State(st); err != nil {
			return err // Sync would fail for the same reason
		}
		return to.Sync()
	})
}

// leave returns the store, in which nothing is saved any more; nil without one.
func (s *saver) leave() store {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.store
	s.store = nil
	return left
}

// save writes to the store, if there is one, and tells the user if that begins or ceases to fail.
func (s *saver) save(write func(store) error) {
	s.mu.Lock()
	if s.store == nil {
		s.mu.Unlock()
		return
	}
	err := write(s.store)
	news := s.ok != (err == nil)
	s.ok = err == nil
	s.mu.Unlock()
	switch {
	case news && err != nil:
		s.emit(Notice{Text: "This session is not being saved: " + archive.Reason(err) + ". Every step tries again."})
	case news:
		s.emit(Notice{Text: "This session is saved again."})
	}
}
