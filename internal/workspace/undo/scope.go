package undo

import (
	"slices"
	"time"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// What says which changes are meant.
type What int

// What there is to take back.
const (
	LastChange What = iota // the last change that stands
	LastTurn               // all changes that stand of the turn of the last one
	LastUndo               // the last undo, if nothing was changed after it
	Everything             // all changes that stand
	Rewind                 // all that was done, undos too: the files get what they held before it
)

// Scope is a choice of changes. Fields that are empty do not narrow it.
type Scope struct {
	What    What
	Session string
	// From are the sessions that Session is a fork of. Their changes are meant where
	// Since.After knows the call: it is in what the fork was made with.
	From  []string
	File  string // by its path or its name
	Since Since
	// Others takes in files that somebody else has changed since, or between: what
	// they changed goes too, and comes back with the undo of the undo.
	Others bool
}

// Since is an instant in a session.
type Since struct {
	// After says of a call of the model whether it came after the instant. Where
	// that is known it is so whatever the clock said.
	After func(call string) (after, known bool)
	Time  time.Time // decides about other changes; zero: with After, they came before
}

// before says that e came before s.
func (s Since) before(e journal.Past) bool {
	if s.After != nil {
		if after, known := s.After(e.Call); known {
			return !after
		}
	}
	if s.Time.IsZero() {
		return s.After != nil
	}
	return e.Time < s.Time.UnixNano()
}

// ExportTool is the tool of changes that write down a session. They are not part
// of its work: only an undo that names the file takes them back.
const ExportTool = "export"

// means says that s is about e, which stands.
func (s Scope) means(e journal.Past) bool {
	return !e.Undone && e.Tool != redoTool && s.covers(e)
}

// covers says that e is within s.
func (s Scope) covers(e journal.Past) bool {
	switch {
	case s.Session != "" && e.Session != s.Session && !s.inherits(e):
		return false
	case s.File == "" && e.Tool == ExportTool:
		return false
	case s.File != "" && e.Path != s.File && e.Name != s.File:
		return false
	case s.Since.before(e):
		return false
	}
	return true
}

// inherits says that e is of a session that s is a fork of, and from before it.
func (s Scope) inherits(e journal.Past) bool {
	if s.Since.After == nil || !slices.Contains(s.From, e.Session) {
		return false
	}
	_, known := s.Since.After(e.Call)
	return known
}

// isUndo says that e took changes back.
func isUndo(e journal.Past) bool { return e.Undoes != nil }

// chain is the entries of one file, oldest first.
type chain []journal.Past

// chains returns the entries that s means, file by file.
func chains(past []journal.Past, s Scope) []chain {
	switch s.What {
	case Everything:
		return byFile(past, func(e journal.Past) bool { return !isUndo(e) && s.means(e) })
	case Rewind:
		exported := exports(past)
		all := byFile(past, func(e journal.Past) bool { return !exported[e.ID] && s.covers(e) })
		return slices.DeleteFunc(all, func(c chain) bool { return c.isIdle(past) })
	case LastChange, LastTurn, LastUndo:
	}
	last := newest(past, s)
	if last < 0 {
		return nil
	}
	of := past[last]
	if s.What == LastChange || of.Turn == "" {
		return []chain{{of}}
	}
	return byFile(past[:last+1], func(e journal.Past) bool {
		return s.means(e) && e.Session == of.Session && e.Turn == of.Turn
	})
}

// exports returns the entries that wrote exports, and what was done to these.
func exports(past []journal.Past) map[string]bool {
	out := map[string]bool{}
	for _, e := range past {
		if e.Tool == ExportTool || slices.ContainsFunc(e.Undoes, func(id string) bool { return out[id] }) {
			out[e.ID] = true
		}
	}
	return out
}

// isIdle says that nothing has come of c: without it the file would hold the same,
// and the same changes would stand. Where there was no file and is none, there is
// nothing to take back.
func (c chain) isIdle(past []journal.Past) bool {
	before, after := c[0].Before, c[len(c)-1].After
	if before == nil && after == nil {
		return true
	}
	if !same(before, after) {
		return false
	}
	undone := map[string]bool{}
	for _, e := range c {
		undone[e.ID] = true
	}
	for _, e := range slices.Backward(past) {
		if e.Path != c[0].Path {
			continue
		}
		if !isUndo(e) && undone[e.ID] != e.Undone {
			return false
		}
		if !undone[e.ID] {
			for _, id := range e.Undoes {
				undone[id] = true
			}
		}
	}
	return true
}

func byFile(past []journal.Past, wanted func(journal.Past) bool) []chain {
	var out []chain
	at := map[string]int{}
	for _, e := range past {
		if !wanted(e) {
			continue
		}
		i, known := at[e.Path]
		if !known {
			i = len(out)
			at[e.Path] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], e)
	}
	return out
}

// newest returns the index of the newest entry that s means; -1 if there is
// none. An undo can be taken back only while nothing was changed after it.
func newest(past []journal.Past, s Scope) int {
	for i, e := range slices.Backward(past) {
		if !s.means(e) {
			continue
		}
		if isUndo(e) == (s.What == LastUndo) {
			return i
		}
		if s.What == LastUndo {
			return -1
		}
	}
	return -1
}
