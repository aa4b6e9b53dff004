package undo

import (
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// Entry is a change in effect: an edit, all that a command changed, or a call with the
// hooks after it.
type Entry struct {
	ID      string // for Scope.Entry
	Tool    string
	Command string   // the line of the command; empty for an edit
	Names   []string // of its files
	At      time.Time
}

// List returns the newest changes in effect that s selects, at most most.
func (l *Log) List(s Scope, most int) []Entry {
	s.Range = LastChange
	var all []Entry
	seen := map[string]bool{}
	for i, e := range slices.Backward(l.past) {
		switch {
		case len(all) == most:
			return all
		case seen[e.ID] || isUndo(e) || !s.selects(e):
			continue
		}
		out := Entry{ID: e.ID, Tool: e.Tool, Command: e.Command, At: time.Unix(0, e.Time)}
		together := s.with(e)
		for _, o := range l.past[:i+1] {
			if o.ID == e.ID || together != nil && together(o) && s.selects(o) {
				seen[o.ID] = true
				out.add(o)
			}
		}
		all = append(all, out)
	}
	return all
}

// add adds the file of an entry.
func (e *Entry) add(o journal.Past) {
	if !slices.Contains(e.Names, o.Name) {
		e.Names = append(e.Names, o.Name)
	}
}
