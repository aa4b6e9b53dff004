package ide

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// partOf returns the question about a file of several.
func partOf(req confirm.Request, i int, c workspace.Change, total int) confirm.Request {
	return confirm.Request{
		ID: req.FileID(i), Tool: req.Tool, Description: req.Description, Force: req.Force, ByUser: req.ByUser,
		Batch: confirm.Batch{ID: req.ID, Index: i, Total: total}, Notes: notesOn(c.Name, req.Notes), Subject: confirm.Edit(c), Check: req.Check, Alone: req.Alone,
	}
}

// run returns when each file is answered. Only our own extension is asked: another editor might
// write the first files before the last one is answered. A file that ends undecided is left to
// others: the answers and drafts of the rest are there for them as long as they are asked.
func (t *turnReview) run(ctx context.Context, parts []*question) (confirm.Verdict, error) {
	var work crash.Group
	for _, q := range parts {
		work.Go(func() { t.ask(ctx, q) })
	}
	work.Wait()
	switch {
	case ctx.Err() != nil:
		return confirm.Verdict{}, ctx.Err()
	case len(t.undecided) == 0:
		return together(t.answers), nil
	case len(t.undecided) == len(parts) && len(t.reviews.typed(t.req.ID)) == 0:
		return confirm.Verdict{}, confirm.ErrUndecided
	}
	select {
	case <-t.req.Alone:
		return confirm.Verdict{}, confirm.ErrUndecided
	case <-ctx.Done():
		return confirm.Verdict{}, ctx.Err()
	}
}

// turnReview is the review of the files of a plan.
type turnReview struct {
	*Reviewer
	req confirm.Request

	mu        sync.Mutex // guards the fields below
	answers   []confirm.Verdict
	answered  int
	undecided []string // names of files
}

// ask asks about a file and notes how far the review is.
func (t *turnReview) ask(ctx context.Context, q *question) {
	verdict, err := t.Reviewer.ask(ctx, q)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.answers[q.req.Batch.Index] = verdict
		t.answered++
	} else {
		t.undecided = append(t.undecided, q.change.Name)
	}
	if t.answered > 0 && ctx.Err() == nil {
		t.progress()
	}
}

// progress notes how far the review is.
func (t *turnReview) progress() {
	l, _ := t.links.get()
	if l == nil || t.answered == len(t.answers) {
		return
	}
	note := fmt.Sprintf("in %s: %d of %d files answered; y keeps those answers and accepts the other files", l.name(), t.answered, len(t.answers))
	if len(t.undecided) > 0 {
		note += ", also those without an answer there: " + strings.Join(t.undecided, ", ")
	}
	t.opt.Face.note(t.req.ID, note)
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
	var v confirm.Verdict
	var words []string
	for i, a := range answers {
		v.By = cmp.Or(v.By, a.By)
		if a.Decision == confirm.Approve {
			v.Decision = confirm.Approve
		} else {
			v.Except = append(v.Except, i)
		}
		if text := a.Edited(); text != nil {
			if v.Texts == nil {
				v.Texts = map[int]string{}
			}
			v.Texts[i] = *text
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
