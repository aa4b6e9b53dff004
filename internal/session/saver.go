package session

import (
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
	AppendUsage(u llm.Usage, delegated bool) error
	State(st archive.State) error
}

// saver writes a conversation to its store, if it has one. If saving fails it tells the
// user once, and once again when saving works. Meanwhile the work goes on; the store
// writes the missing records later.
type saver struct {
	store store // nil: nothing is saved
	emit  func(Event)
	ok    bool // the last write succeeded
}

func (s *saver) add(entries ...history.Entry) {
	if s.store != nil && len(entries) > 0 {
		s.report(s.store.Append(entries...))
	}
}

// usage saves the usage of a request; delegated reports whether a sub-agent made it.
func (s *saver) usage(u llm.Usage, delegated bool) {
	if s.store != nil {
		s.report(s.store.AppendUsage(u, delegated))
	}
}

// sync makes everything durable, with the session's state.
func (s *saver) sync(st archive.State) {
	if s.store == nil {
		return
	}
	err := s.store.State(st)
	if err == nil { // else Sync fails for the same reason
		err = s.store.Sync()
	}
	s.report(err)
}

func (s *saver) report(err error) {
	switch {
	case err != nil && s.ok:
		s.emit(Notice{Text: "This session is not being saved: " + archive.Reason(err) + ". Every step tries again."})
	case err == nil && !s.ok:
		s.emit(Notice{Text: "This session is saved again."})
	}
	s.ok = err == nil
}
