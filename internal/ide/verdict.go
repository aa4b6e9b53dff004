package ide

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/ide/client"
)

// quitWindow is how long before the end of a link an answer does not count as a person's:
// an editor that is quitting rejects the diffs that it shows.
const quitWindow = 500 * time.Millisecond

// ends reports whether the link ends within a moment of an answer.
func (l *link) ends(ctx context.Context, answered time.Time) bool {
	late := time.NewTimer(time.Until(answered.Add(quitWindow)))
	defer late.Stop()
	select {
	case <-l.client.Done():
		return true
	case <-ctx.Done():
		return false
	case <-late.C:
		return l.lost()
	}
}

// lostDuring notes that only the terminal can answer now.
func (v *Reviewer) lostDuring(q *question, l *link) {
	note := "the link to " + l.name() + " is lost: answer here"
	if d := q.edited(); d.Edited {
		note = fmt.Sprintf("the link to %s is lost; your edit there (+%d −%d) is kept in the editor: wait until the link is back, or answer here without it", l.name(), d.Added, d.Removed)
	}
	if names := v.reviews.typed(q.whole); len(names) > 0 {
		note = fmt.Sprintf("the link to %s is lost, but your text is kept: y shows it here, in %s", l.name(), strings.Join(names, ", "))
	}
	v.opt.Face.note(q.noted(), note)
}

// verdict turns the result of a diff into a verdict. Only a person's clear answer
// approves or rejects.
func (v *Reviewer) verdict(ctx context.Context, l *link, q *question, o opened) (confirm.Verdict, error) {
	select {
	case <-l.client.Done():
		if o.err != nil {
			v.lostDuring(q, l)
			return confirm.Verdict{}, errAgain
		}
	default:
	}
	switch {
	case ctx.Err() != nil:
		return confirm.Verdict{}, ctx.Err()
	case o.err != nil:
		v.opt.Face.note(q.noted(), l.refusal(q, o.err))
		return confirm.Verdict{}, confirm.ErrUndecided
	}
	said := confirm.Verdict{By: l.name(), Feedback: clip.Bytes(o.outcome.Feedback, maxWords, " […]"), Comments: q.comments(o.outcome.Comments)}
	switch o.outcome.Kind {
	case client.Rejected:
		return said, nil
	case client.Accepted, client.AlreadyWritten:
		return v.approval(ctx, l, q, o.outcome, said)
	case client.Undecided:
	}
	gone := ""
	if d := q.edited(); d.Edited {
		gone = fmt.Sprintf(", and its edit (+%d −%d) is gone", d.Added, d.Removed)
	}
	v.opt.Face.note(q.noted(), "closed in "+l.name()+" without an answer"+gone+": answer here")
	return confirm.Verdict{}, confirm.ErrUndecided
}

// maxMisfits is how many answers with the text of another file are ignored before the
// editor is given up for this question.
const maxMisfits = 3

// approval returns the verdict for an acceptance. If the editor may have returned the
// text for another question, or holds other changes of the file, everybody is asked
// again.
func (v *Reviewer) approval(ctx context.Context, l *link, q *question, out client.DiffOutcome, said confirm.Verdict) (confirm.Verdict, error) {
	said.Decision = confirm.Approve
	if out.Text != q.change.After {
		said.Texts = confirm.Text(out.Text)
	}
	if l.ours() {
		if q.isPlan() {
			said.Mode = planMode(out.Mode)
		}
		return l.always(q, out, said)
	}
	if out.Edited {
		why, other := v.proposed.doubt(q, out.Text)
		if other {
			q.misfits++
			q.refused = "an answer of " + l.name() + " was ignored: " + why
			v.opt.Face.note(q.noted(), q.refused)
			if q.misfits < maxMisfits {
				return confirm.Verdict{}, errAgain
			}
			return confirm.Verdict{}, fmt.Errorf("%s answers with other texts", l.name())
		}
		if why != "" {
			said.Unsure = fmt.Sprintf("%s returned this text and not the proposal: %s. Do you approve this text?", l.name(), why)
		}
	}
	if unsaved, _ := l.unsaved(ctx, q.change.Path); unsaved {
		if v.opt.Unattended {
			return confirm.Verdict{}, fmt.Errorf("%s has unsaved changes in %s", q.change.Name, l.name())
		}
		said.Texts = confirm.Text(out.Text)
		said.Unsure = fmt.Sprintf("%s has unsaved changes to %s that are not in this text; they may have been typed on the left side of the diff.", l.name(), q.change.Name)
	}
	return said, nil
}

// maxRuleHours and maxRuleUses bound the life of a rule that a person makes in the editor.
const maxRuleHours, maxRuleUses = 12, 99

// always adds the permission beyond this change that the person gave with an acceptance. If
// the rule may not be made, the question is asked again with the person's text: they approved
// both together.
func (l *link) always(q *question, out client.DiffOutcome, said confirm.Verdict) (confirm.Verdict, error) {
	a, offer := out.Always, q.req.Offer
	switch {
	case a == nil || offer == nil || q.req.Force:
		return said, nil
	case a.Session:
		said.Session = true
		return said, nil
	}
	if err := offer.Check(a.Rule); err != nil {
		q.problem = fmt.Sprintf("The rule %s was not made: %v. Nothing is written yet.", clip.Bytes(a.Rule, maxWords, " […]"), err)
		q.refused = "the rule typed in " + l.name() + " was not made"
		if out.Text != q.change.After {
			q.refused += "; y takes the text shown here, without what was typed there"
		}
		q.replace(out.Text)
		return confirm.Verdict{}, errAgain
	}
	said.Always = &confirm.Always{Rule: a.Rule, Term: confirm.Term{
		Project: a.Project, Uses: min(max(a.Uses, 0), maxRuleUses), Time: time.Duration(min(max(a.Hours, 0), maxRuleHours)) * time.Hour,
	}}
	return said, nil
}

// codeStale refuses a proposal that was made from another text.
const codeStale = "STALE_BASE"

// refusal explains why an editor does not show a diff.
func (l *link) refusal(q *question, err error) string {
	var tool *client.ToolError
	switch {
	case errors.Is(err, client.ErrTooLarge):
		return "too large for " + l.name() + ": answer here"
	case errors.Is(err, client.ErrUnsupported):
		return l.name() + " shows no diffs: answer here"
	case errors.As(err, &tool) && tool.Code == client.CodeDirty:
		return q.change.Name + " has unsaved changes in " + l.name() + ": answer here, or save it first"
	case errors.As(err, &tool) && tool.Code == codeStale:
		return q.change.Name + " differs in " + l.name() + " (changed on disk, or read in another encoding): answer here"
	case errors.As(err, &tool) && tool.Code == client.CodeBusy:
		return q.change.Name + " is under another review in " + l.name() + ": answer here"
	}
	return l.name() + " does not show the diff: " + err.Error()
}

// maxWords bounds a reviewer's words, in bytes.
const maxWords = 16 << 10

// maxComments is the number of comments passed on.
const maxComments = 100

// comments converts the reviewer's comments for the model.
func (q *question) comments(all []client.Comment) []confirm.Comment {
	var out []confirm.Comment
	for _, c := range all[:min(len(all), maxComments)] {
		text := clip.Bytes(c.Text, maxWords, " […]")
		if c.Original {
			text = "(on the text before the change) " + text
		}
		if c.EndLine > c.StartLine {
			text = fmt.Sprintf("(lines %d–%d) %s", c.StartLine, c.EndLine, text)
		}
		out = append(out, confirm.Comment{Line: c.StartLine, Text: text})
	}
	if q.isPlan() {
		quote(out, all)
	}
	return out
}
