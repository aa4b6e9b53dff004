package panel

import (
	"fmt"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
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

// hint names the key that switches.
func (r *revision) hint() []string {
	switch {
	case r == nil:
		return nil
	case r.on:
		return []string{"r against the file"}
	}
	return []string{"r since your refusal"}
}

// compare switches between the change of the file and the change of the refused proposal.
// Only the former counts as seen. It returns false without a refused proposal.
func (p *Panel) compare() bool {
	if p.rev == nil {
		return false
	}
	p.rev.on, p.out = !p.rev.on, nil
	p.scroll.top()
	p.body = p.part
	if p.rev.on {
		p.body = p.rev.view
	}
	return true
}
