package session

import (
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
)

// disk is where a conversation is kept.
type disk interface {
	records
	Sync() error
	Close() error
}

// records is what there is to keep.
type records interface {
	Append(entries ...history.Entry) error
	AppendUsage(u llm.Usage) error
	State(st archive.State) error
}

// keeper writes a conversation to its store, if it has one. It tells the user
// once that the session is not being saved, and once that it is again: the work
// goes on, and what is missing is written later.
type keeper struct {
	store disk // nil: nothing is kept
	emit  func(Event)
	saved bool // the last write succeeded
}

func (k *keeper) add(entries ...history.Entry) {
	if k.store != nil && len(entries) > 0 {
		k.report(k.store.Append(entries...))
	}
}

func (k *keeper) usage(u llm.Usage) {
	if k.store != nil {
		k.report(k.store.AppendUsage(u))
	}
}

// sync makes all durable, and keeps what is known of the session.
func (k *keeper) sync(st archive.State) {
	if k.store != nil {
		err := k.store.State(st)
		if err == nil { // else Sync fails for the same reason
			err = k.store.Sync()
		}
		k.report(err)
	}
}

func (k *keeper) report(err error) {
	switch {
	case err != nil && k.saved:
		k.emit(Notice{Text: "This session is not on disk: " + archive.Why(err) + ". It is tried again with each step."})
	case err == nil && !k.saved:
		k.emit(Notice{Text: "This session is on disk again."})
	}
	k.saved = err == nil
}
