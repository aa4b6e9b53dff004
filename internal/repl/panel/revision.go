package panel

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
)

// revision compares a proposal with the refused one before it. A nil revision is never
// shown.
type revision struct {
	view *diffview.View
	on   bool // it is shown in place of the change of the file
}

// maxRemarks is the number of comments on the refused proposal that are shown.
const maxRemarks = 4

// newRevision returns the comparison of c with the refused proposal, or nil without one.
func newRevision(last *confirm.Refused, c diffview.Change, opt diffview.Options) *revision {
	if last == nil {
		return nil
	}
	since := diffview.Change{Name: c.Name, Before: last.Text, After: c.After, Exists: true, Since: true}
	if last.Feedback != "" {
		since.Notes = append(since.Notes, "you said: "+last.Feedback)
	}
	for i, comment := range last.Comments {
		if i == maxRemarks {
			since.Notes = append(since.Notes, fmt.Sprintf("%d more comments", len(last.Comments)-maxRemarks))
			break
		}
		since.Notes = append(since.Notes, fmt.Sprintf("you on line %d: %s", comment.Line, comment.Text))
	}
	return &revision{view: diffview.New(since, opt)}
}

func (r *revision) shown() bool { return r != nil && r.on }

// compared names the key that switches.
func (d *changes) compared() []string {
	switch {
	case d.rev == nil:
		return nil
	case d.rev.on:
		return []string{d.legend.hint("against the file", keys.Revision)}
	}
	return []string{d.legend.hint("since your refusal", keys.Revision)}
}

// compare switches between the change of the file and the change of the refused proposal.
// Only the former counts as seen. It returns false without a refused proposal.
func (d *changes) compare() bool {
	if d.rev == nil {
		return false
	}
	d.rev.on, d.out = !d.rev.on, nil
	d.scroll.top()
	d.body = d.part
	if d.rev.on {
		d.body = d.rev.view
	}
	return true
}
