package tools

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// done describes a change that was made.
func (fc FileChange) done(c workspace.Change) string {
	verb := "Wrote"
	switch {
	case c.Moves():
		verb = "Moved"
	case c.Delete:
		verb = "Deleted"
	case !c.Exists:
		verb = "Created"
	}
	done := verb + " " + c.Label()
	if c.Format.Encoding == workspace.Binary || c.Moves() && fc.Added+fc.Removed == 0 {
		return done
	}
	return fmt.Sprintf("%s: %d added, %d removed (lines)", done, fc.Added, fc.Removed)
}

// counts describes the size of a change for the user.
func (fc FileChange) counts() string {
	n := fmt.Sprintf("+%d −%d", fc.Added, fc.Removed)
	switch {
	case fc.From != "" && fc.Added+fc.Removed == 0:
		return "moved"
	case fc.From != "":
		return "moved, " + n
	case fc.Deleted:
		return "deleted, " + n
	}
	return n
}

func fileChange(c workspace.Change) FileChange {
	before, after := c.Name, c.Name
	fc := FileChange{Path: c.Name, Deleted: c.Delete}
	switch {
	case c.Moves():
		fc.Path, fc.From, after = c.ToName, c.Name, c.ToName
	case c.Delete:
		after = ""
	case !c.Exists:
		before = ""
	}
	d := diff.Lines(c.Text, c.After)
	fc.Added, fc.Removed = d.Counts()
	fc.Diff = d.Unified(before, after)
	return fc
}
