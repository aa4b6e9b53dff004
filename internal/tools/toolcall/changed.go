package toolcall

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// Done describes a change that was made.
func (fc FileChange) Done(c workspace.Change) string {
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

// Counts describes the size of a change for the user.
func (fc FileChange) Counts() string {
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

// Changed summarizes a change that was made.
func Changed(c workspace.Change) FileChange {
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

// Effects adds the changes by a command to its result.
func (r *Result) Effects(report effects.Report) {
	r.Changed(report)
	switch n := len(report.Files); {
	case n == 1:
		r.ForUser += " · 1 file changed"
	case n > 1:
		r.ForUser += fmt.Sprintf(" · %d files changed", n)
	}
	if report.Err != nil {
		r.ForUser += " · undo may miss its changes: " + report.Err.Error()
	}
	if said := report.String(); said != "" {
		r.ForModel = strings.TrimSuffix(r.ForModel, "\n") + "\n[while it ran: " + said + "]"
	}
}

// Changed adds the changed files of a report.
func (r *Result) Changed(report effects.Report) {
	for _, f := range report.Files {
		r.Changes = append(r.Changes, By(f))
	}
}

// By returns the change of a file by a command.
func By(f effects.File) FileChange {
	return FileChange{Path: f.Name, Added: f.Added, Removed: f.Removed, From: f.From, Deleted: f.How == effects.Deleted}
}
