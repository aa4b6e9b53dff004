package undo

import (
	"slices"

	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// Range is a range of changes.
type Range int

// The ranges.
const (
	LastChange Range = iota // the last change in effect, or all that its command made, or its call and the hooks after it
	LastTurn                // all changes in effect of the last one's turn
	LastUndo                // the last undo, if nothing was changed after it
	Everything              // all changes in effect
	Rewind                  // everything, undos too: the files get their content before it
)

// Scope selects changes. Empty fields select all.
type Scope struct {
	Range   Range
	Session string
	// From lists the sessions that Session was forked from. Their changes are selected if
	// Since.After knows the call, which is then part of the fork.
	From  []string
	File  string // by path or name
	Since Since
	// Entry is the id of a change, from Log.List, that LastChange selects instead of the last.
	Entry string
	// Merge includes files that were changed after the changes, if taking these back can be
	// merged with the later ones.
	Merge bool
	// Hunks, with Merge, leaves out the hunks that cannot be merged.
	Hunks bool
	// Others includes files that somebody else changed between or after the changes:
	// their changes are undone too, and restored by the undo of the undo.
	Others bool
}

// Since is a point in a session.
type Since struct {
	// After reports whether a call of the model came after the point. If known, this
	// overrides Mark.
	After func(call string) (after, known bool)
	// Mark is Root.Mark at the point, for changes that After does not know; zero, with After
	// set, means before.
	Mark int64
}

// before reports whether e came before s.
func (s Since) before(e journal.Past) bool {
	if s.After != nil {
		if after, known := s.After(e.Call); known {
			return !after
		}
	}
	if s.Mark == 0 {
		return s.After != nil
	}
	return e.Order() <= s.Mark
}

// ExportTool is the tool of changes that export a session. They are not part of its work:
// only an undo that names the file takes them back.
const ExportTool = "export"

// selects reports whether e is in effect and s selects it.
func (s Scope) selects(e journal.Past) bool {
	return !e.Undone && e.Tool != redoTool && s.covers(e)
}

// covers reports whether s selects e, in effect or not.
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

// inherits reports whether e is from before the fork, in a session that s was forked
// from.
func (s Scope) inherits(e journal.Past) bool {
	if s.Since.After == nil || !slices.Contains(s.From, e.Session) {
		return false
	}
	_, known := s.Since.After(e.Call)
	return known
}

// isUndo reports whether e undid changes.
func isUndo(e journal.Past) bool { return e.Undoes != nil }

// isPartOf reports whether e undid a part of the entries with these ids, and is in effect.
func isPartOf(e journal.Past, ids map[string]bool) bool {
	return e.Part && !e.Undone && slices.ContainsFunc(e.Undoes, func(id string) bool { return ids[id] })
}

// chain holds the entries of one file, oldest first.
type chain []journal.Past

// chains returns the entries that s selects, by file.
func chains(past []journal.Past, s Scope) []chain {
	switch s.Range {
	case Everything:
		return s.whole(past, past, func(e journal.Past) bool { return !isUndo(e) })
	case Rewind:
		exported := exports(past)
		all := byFile(past, func(e journal.Past) bool { return !exported[e.ID] && s.covers(e) })
		return slices.DeleteFunc(all, func(c chain) bool { return c.isNoOp(past) })
	case LastChange, LastTurn, LastUndo:
	}
	for rest := past; ; {
		last := newest(rest, s)
		if last < 0 {
			return nil
		}
		together := s.with(rest[last])
		if together == nil {
			only := rest[last].ID
			together = func(e journal.Past) bool { return e.ID == only }
		}
		all := s.whole(past, rest[:last+1], together)
		if slices.ContainsFunc(all, func(c chain) bool { return !c.isVoid() }) {
			return all
		}
		rest = slices.DeleteFunc(slices.Clone(rest[:last]), together)
	}
}

// whole returns the entries among candidates that s selects and is meant for, by file, and
// all undos of parts of them.
func (s Scope) whole(past, candidates []journal.Past, meant func(journal.Past) bool) []chain {
	wanted := map[string]bool{}
	for _, e := range candidates {
		if s.selects(e) && meant(e) {
			wanted[e.ID] = true
		}
	}
	return byFile(past, func(e journal.Past) bool { return wanted[e.ID] || s.Range != LastUndo && isPartOf(e, wanted) })
}

// with returns the function that reports whether an entry belongs to the change of, the
// last one in effect; nil if none does.
func (s Scope) with(of journal.Past) func(journal.Past) bool {
	turn := func(e journal.Past) bool { return e.Session == of.Session && e.Turn == of.Turn }
	change := s.Range == LastChange || of.Turn == ""
	switch {
	case change && of.Tool == workspace.HookTool && of.Call != "": // after a call
		return func(e journal.Past) bool { return turn(e) && e.Call == of.Call }
	case change && of.Run != "": // a command's changes are one
		return func(e journal.Past) bool { return e.Run == of.Run }
	case change:
		return nil
	}
	return turn
}

// exports returns the entries that wrote or changed exports.
func exports(past []journal.Past) map[string]bool {
	out := map[string]bool{}
	for _, e := range past {
		if e.Tool == ExportTool || slices.ContainsFunc(e.Undoes, func(id string) bool { return out[id] }) {
			out[e.ID] = true
		}
	}
	return out
}

// isNoOp reports whether c has no effect: without it the file would hold the same, and
// the same changes would be in effect. If there was no file before and after, there is
// nothing to undo.
func (c chain) isNoOp(past []journal.Past) bool {
	before, after := c[0].Before, c[len(c)-1].After
	if before == nil && after == nil {
		return true
	}
	if !same(before, after) || !c.keepsMode() {
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
		if !undone[e.ID] && !e.Part {
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

// newest returns the index of the newest entry that s selects, or -1. An undo can only be
// undone as long as nothing was changed after it.
func newest(past []journal.Past, s Scope) int {
	for i, e := range slices.Backward(past) {
		if s.Entry != "" && e.ID != s.Entry || !s.selects(e) {
			continue
		}
		if isUndo(e) == (s.Range == LastUndo) {
			return i
		}
		if s.Range == LastUndo {
			return -1
		}
	}
	return -1
}
