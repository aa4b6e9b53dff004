package confirm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// Notes for a reviewer whose approval did not count.
const (
	lostDraft   = "Edited on another surface, but that text cannot be fetched. Say yes again to accept the text shown here."
	maybeLost   = "No answer from another surface: if it was edited there, that edit is lost. Say yes again to accept the text shown here."
	lostDrafts  = "Edited on another surface: %s, but that text cannot be fetched. Say yes again to accept the text shown here."
	maybeLostIn = "No answer from another surface about %s: if it was edited there, that edit is lost. Say yes again to accept the text shown here."
)

// editable reports whether a reviewer may change the text that r is about.
func (r Request) editable() bool { return r.Change != nil || r.Document != nil }

// withDraft adds the draft of another surface to an approval without a text: an answer
// approves a draft, not a surface. lost is the note about a draft that was lost, or "".
func (q *question) withDraft(ctx context.Context, from *review, v Verdict) (_ Verdict, lost string) {
	ctx, cancel := context.WithTimeout(ctx, withdrawal)
	defer cancel()
	switch {
	case v.Decision == Approve && q.req.Plan != nil && q.req.Plan.Review:
		return q.withDrafts(ctx, from, v)
	case v.Decision != Approve || v.Text != nil || !q.req.editable():
		return v, ""
	}
	for _, drafter := range q.drafters(from) {
		d := draftSafely(ctx, drafter, q.req.ID)
		switch {
		case d.edited && d.err == nil:
			v.Text = &d.text
			return v, ""
		case d.err == nil || q.warned:
		case d.edited:
			lost = lostDraft
		case lost == "":
			lost = maybeLost
		}
	}
	return v, lost
}

// drafters returns the other reviewers that may hold drafts.
func (q *question) drafters(from *review) []Drafter {
	var all []Drafter
	for _, s := range q.c.attached() {
		r := q.reviews[s]
		if d, ok := s.reviewer.(Drafter); ok && r != nil && r != from && !r.answered {
			all = append(all, d)
		}
	}
	return all
}

// withDrafts is withDraft for a plan. A file that was rejected on another surface is left
// out, and the verdict is a rejection if no file remains.
func (q *question) withDrafts(ctx context.Context, from *review, v Verdict) (_ Verdict, lost string) {
	v.Except, v.Texts = slices.Clone(v.Except), maps.Clone(v.Texts)
	var edited, silent []string
	for _, drafter := range q.drafters(from) {
		for i, d := range q.fileDrafts(ctx, drafter, v) {
			name := q.req.Plan.Changes[i].Name
			switch {
			case errors.Is(d.err, ErrRejected):
				v.Except = append(v.Except, i)
			case d.edited && d.err == nil:
				if v.Texts == nil {
					v.Texts = map[int]string{}
				}
				v.Texts[i] = d.text
			case d.err == nil || q.warned:
			case d.edited:
				edited = append(edited, name)
			default:
				silent = append(silent, name)
			}
		}
	}
	slices.Sort(edited)
	slices.Sort(silent)
	switch {
	case len(edited) > 0:
		return v, fmt.Sprintf(lostDrafts, strings.Join(edited, ", "))
	case len(silent) > 0:
		return v, fmt.Sprintf(maybeLostIn, strings.Join(silent, ", "))
	case len(v.Except) == len(q.req.Plan.Changes):
		return Verdict{By: v.By, Feedback: v.Feedback, Comments: v.Comments}, ""
	}
	return v, ""
}

// fileDrafts fetches the drafts of the files of a plan that v approves as proposed.
func (q *question) fileDrafts(ctx context.Context, drafter Drafter, v Verdict) map[int]draft {
	var mu sync.Mutex
	all := map[int]draft{}
	var work crash.Group
	for i := range q.req.Plan.Changes {
		if _, own := v.Texts[i]; own || slices.Contains(v.Except, i) {
			continue
		}
		work.Go(func() {
			d := draftSafely(ctx, drafter, q.req.FileID(i))
			mu.Lock()
			defer mu.Unlock()
			all[i] = d
		})
	}
	work.Wait()
	return all
}

// draft is the answer of a Drafter.
type draft struct {
	text   string
	edited bool
	err    error
}

// draftSafely calls Draft and returns a panic as an error. It returns when ctx ends even
// if Draft does not.
func draftSafely(ctx context.Context, d Drafter, id string) draft {
	got := make(chan draft, 1)
	go func() {
		defer crash.Guard()
		var dr draft
		defer func() {
			if r := recover(); r != nil {
				dr = draft{err: fmt.Errorf("fetching a draft: %v", r)}
			}
			got <- dr
		}()
		dr.text, dr.edited, dr.err = d.Draft(ctx, id)
	}()
	select {
	case dr := <-got:
		if ctx.Err() == nil {
			return dr
		}
	case <-ctx.Done():
	}
	return draft{err: ctx.Err()}
}
