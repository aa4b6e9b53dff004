package ide

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/crash"
)

// reviewAll shows the files of a plan as reviews of their own, all at once, and returns when
// each is answered. The files rejected are left out of the approval. Only our own extension
// is asked: another editor might write the first files before the last one is answered. A
// file to remove cannot be shown, so a plan with one is left to others.
func (v *Reviewer) reviewAll(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	for _, c := range req.Plan.Changes {
		if c.Delete {
			return confirm.Verdict{}, confirm.ErrUndecided
		}
	}
	defer v.doing.Asks()()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	total := len(req.Plan.Changes)
	answers := make([]confirm.Verdict, total)
	var answered atomic.Int32
	parts := make([]*question, total)
	for i, c := range req.Plan.Changes {
		parts[i] = v.reviews.begin(confirm.Request{
			ID: req.FileID(i), Tool: req.Tool, Description: req.Description, Force: req.Force, ByUser: req.ByUser,
			Batch: confirm.Batch{ID: req.ID, Index: i, Total: total}, Notes: notesOn(c.Name, req.Notes), Change: &c, Alone: req.Alone,
		}, req.ID)
	}
	defer v.reviews.end(parts...) // an approval elsewhere needs the answers until all are given
	var work crash.Group
	for i, q := range parts {
		work.Go(func() {
			verdict, err := v.ask(ctx, q)
			if err != nil {
				cancel(err)
				return
			}
			answers[i] = verdict
			v.progress(req.ID, int(answered.Add(1)), total)
		})
	}
	work.Wait()
	if err := context.Cause(ctx); err != nil {
		return confirm.Verdict{}, err
	}
	return together(answers), nil
}

// progress notes how far a review of several files is.
func (v *Reviewer) progress(id string, answered, total int) {
	if l, _ := v.links.get(); l != nil && answered < total {
		v.opt.Face.note(id, fmt.Sprintf("in %s: %d of %d files answered; y keeps those answers and accepts the other files", l.name(), answered, total))
	}
}

// notesOn returns the notes that name a file.
func notesOn(name string, all []caution.Note) []caution.Note {
	var out []caution.Note
	for _, n := range all {
		if strings.Contains(n.Text, name) {
			out = append(out, n)
		}
	}
	return out
}

// together returns the answers for the files of a plan as one.
func together(answers []confirm.Verdict) confirm.Verdict {
	v := confirm.Verdict{By: answers[0].By}
	var words []string
	for i, a := range answers {
		if a.Decision == confirm.Approve {
			v.Decision = confirm.Approve
		} else {
			v.Except = append(v.Except, i)
		}
		if a.Text != nil {
			if v.Texts == nil {
				v.Texts = map[int]string{}
			}
			v.Texts[i] = *a.Text
		}
		if a.Feedback != "" {
			words = append(words, a.Feedback)
		}
		for _, c := range a.Comments {
			c.File = i
			v.Comments = append(v.Comments, c)
		}
	}
	v.Feedback = strings.Join(words, "\n")
	return v
}
