package confirm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Notes for a reviewer whose approval did not count.
const (
	lostDraft   = "Edited on another surface, but that text cannot be fetched. Say yes again to accept the text shown here."
	maybeLost   = "No answer from another surface: if it was edited there, that edit is lost. Say yes again to accept the text shown here."
	lostDrafts  = "Edited on another surface: %s, but that text cannot be fetched. Say yes again to accept the text shown here."
	unseenIn    = "These texts are as you typed them on another surface, which no longer shows them: %s. Say yes again to accept them."
	maybeLostIn = "No answer from another surface about %s: if it was edited there, that edit is lost. Say yes again to accept the text shown here."
)

// editable reports whether a reviewer may change the text that r is about.
func (r Request) editable() bool { return r.Change != nil || r.Document != nil }

// withDraft adds the draft of another surface to an approval without a text: an answer
// approves a draft, not a surface. again is nil, or asks again: v does not count then.
func (q *question) withDraft(ctx context.Context, from *review, v Verdict) (_ Verdict, again func()) {
	ctx, cancel := context.WithTimeout(ctx, withdrawal)
	defer cancel()
	switch {
	case v.Decision == Approve && q.req.Plan != nil && q.req.Plan.Review:
		return q.withDrafts(ctx, from, v)
	case v.Decision != Approve || v.Text != nil || !q.req.editable():
		return v, nil
	}
	lost := ""
	for _, drafter := range q.drafters(from) {
		d := draftSafely(ctx, drafter, q.req.ID)
		switch {
		case d.edited && d.err == nil:
			v.Text = &d.text
			return v, nil
		case d.err == nil || q.warned:
		case d.edited:
			lost = lostDraft
		case lost == "":
			lost = maybeLost
		}
	}
	if lost == "" {
		return v, nil
	}
	return v, func() { q.askAgain(from, lost) }
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

// found is the result of fetching the drafts of the files of a plan.
type found struct {
	edited, silent []string       // files whose drafts are lost, or may be
	unseen         map[int]string // texts that no surface shows any more
}

// withDrafts is withDraft for a plan. A file that was rejected on another surface is left
// out, and the verdict is a rejection if no file remains.
func (q *question) withDrafts(ctx context.Context, from *review, v Verdict) (_ Verdict, again func()) {
	v.Except, v.Texts = slices.Clone(v.Except), maps.Clone(v.Texts)
	if v.Texts == nil {
		v.Texts = map[int]string{}
	}
	f := found{unseen: map[int]string{}}
	for _, drafter := range q.drafters(from) {
		f.add(q, q.fileDrafts(ctx, drafter, v), &v)
	}
	slices.Sort(v.Except)
	slices.Sort(f.edited)
	slices.Sort(f.silent)
	switch {
	case len(f.unseen) > 0:
		return v, func() { q.showDrafts(v, f) }
	case len(f.edited) > 0:
		return v, func() { q.askAgain(from, fmt.Sprintf(lostDrafts, strings.Join(f.edited, ", "))) }
	case len(f.silent) > 0:
		return v, func() { q.askAgain(from, fmt.Sprintf(maybeLostIn, strings.Join(f.silent, ", "))) }
	case len(v.Except) == len(q.req.Plan.Changes):
		return Verdict{By: v.By, Feedback: v.Feedback, Comments: v.Comments}, nil
	}
	return v, nil
}

// showDrafts asks everybody again, with the texts that no surface shows any more, and those
// of the approval v, as the proposals. The words of v are kept for the verdict.
func (q *question) showDrafts(v Verdict, f found) {
	if q.texts == nil {
		q.texts = map[int]string{}
	}
	maps.Copy(q.texts, v.Texts)
	maps.Copy(q.texts, f.unseen)
	q.said.Feedback = joinWords(q.said.Feedback, v.Feedback)
	q.said.Comments = append(q.said.Comments, v.Comments...)
	plan := *q.req.Plan
	plan.Changes, plan.Out = slices.Clone(plan.Changes), v.Except
	var names []string
	notes := slices.Clip(q.req.Notes)
	for i, c := range plan.Changes {
		text, ok := q.texts[i]
		if !ok {
			continue
		}
		plan.Changes[i] = workspace.NewContent(c, text)
		if _, ok := f.unseen[i]; ok {
			names = append(names, c.Name)
		}
		for _, n := range caution.Of(diff.Lines(c.Text, text), c.Text, text, c.Exists) {
			n.Text = c.Name + ": " + n.Text
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	notes = append(notes, caution.Note{Kind: caution.Other, Text: fmt.Sprintf(unseenIn, strings.Join(names, ", "))})
	q.restart()
	q.req.Plan, q.req.Notes = &plan, notes
	q.req.Check = nil // it tries the first texts
}

// joinWords joins a reviewer's words to earlier ones.
func joinWords(before, more string) string {
	if before == "" || more == "" {
		return before + more
	}
	return before + "\n" + more
}

// add adds the drafts of one surface to the approval v.
func (f *found) add(q *question, drafts map[int]draft, v *Verdict) {
	for i, d := range drafts {
		name := q.req.Plan.Changes[i].Name
		switch {
		case errors.Is(d.err, ErrRejected):
			v.Except = append(v.Except, i)
		case d.edited && errors.Is(d.err, ErrUnseen):
			f.unseen[i] = d.text
		case d.edited && d.err == nil:
			v.Texts[i] = d.text
		case d.err == nil || q.warned:
		case d.edited:
			f.edited = append(f.edited, name)
		default:
			f.silent = append(f.silent, name)
		}
	}
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
