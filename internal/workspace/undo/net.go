package undo

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// Net is the net effect of the changes of one file.
type Net struct {
	Name             string
	From             string // the name before a move; "" if it did not move
	Before, After    string
	Created, Deleted bool // the file was missing before; it is missing after
	// Others means that somebody else changed the file too, between or after the changes,
	// and that this is part of Before to After.
	Others bool
	// Mode describes a change of the mode by a command; "" without one.
	Mode string
	// Err is the reason why Before or After is unknown.
	Err error
}

// Counts returns the numbers of lines added and removed.
func (n Net) Counts() (added, removed int) { return diff.Count(n.Before, n.After) }

// Diff returns the change as a unified diff, empty if nothing changed.
func (n Net) Diff() string {
	before, after := cmp.Or(n.From, n.Name), n.Name
	if n.Created {
		before = ""
	}
	if n.Deleted {
		after = ""
	}
	return diff.Unified(before, after, n.Before, n.After)
}

// Net returns the net effect of the changes in s, by file, in the order in which the
// files were first changed.
func (l *Log) Net(ctx context.Context, s Scope) ([]Net, error) {
	var all []Net
	for _, c := range chains(l.past, s) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !c.ofFolder() {
			all = append(all, l.net(c))
		}
	}
	return all, nil
}

// Count returns the number of changes in s. Scopes that differ only in Since and have the
// same count select the same changes.
func (l *Log) Count(s Scope) int {
	n := 0
	for _, e := range l.past {
		if s.Range == Rewind && s.covers(e) || s.Range == Everything && !isUndo(e) && s.selects(e) {
			n++
		}
	}
	return n
}

func (l *Log) net(c chain) Net {
	first, last := c[0], c[len(c)-1]
	n := Net{Name: last.Name, Created: first.Before == nil, Mode: c.modes()}
	for i, e := range c[1:] {
		n.Others = n.Others || !same(c[i].After, e.Before)
	}
	var before []byte
	if !n.Created {
		if before, n.Err = first.Content(); n.Err != nil {
			return n
		}
	}
	after, others, err := l.leftBy(last)
	n.Others, n.Deleted = n.Others || others, err == nil && after == nil
	if err == nil {
		_, n.Before, n.After, err = workspace.InOneFormat(before, after, formatOf(first), formatOf(last))
		if err != nil && c.byCommand() {
			n.Before, n.After, err = workspace.Describe(before), workspace.Describe(after), nil
		}
	}
	n.Err = err
	return n
}

// leftBy returns the content after e, nil for no file. If the journal has
// dropped it, leftBy returns the current content, changed by others.
func (l *Log) leftBy(e journal.Past) (data []byte, others bool, err error) {
	if e.After == nil {
		return nil, false, nil
	}
	if e.Unkept != "" {
		return nil, false, errors.New(e.Unkept)
	}
	state, now, err := l.root.Look(e.Path)
	if err == nil && state.Left(e.Entry) {
		return now, false, nil
	}
	if i := slices.IndexFunc(l.past, func(o journal.Past) bool { return same(o.Before, e.After) }); i >= 0 {
		data, err := l.past[i].Content()
		return data, false, err
	}
	if err != nil || state.Exists() && state.Mode.Type() != typeAfter(e) {
		return nil, true, errors.New("its content was not kept, and it has changed since")
	}
	return now, true, nil
}

// typeAfter returns the type of what e left at its path.
func typeAfter(e journal.Past) fs.FileMode {
	if e.ModeAfter == nil {
		return 0
	}
	return e.ModeAfter.Type()
}
