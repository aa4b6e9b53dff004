package confirm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Notes for a reviewer whose approval did not count; %s names files.
const (
	lostDrafts  = "Edited in another window: %s, but that text cannot be fetched. Say yes again to accept the text shown here."
	maybeLost   = "No answer from another window about %s: if it was edited there, that edit is lost. Say yes again to accept the text shown here."
	typedDrafts = "These texts are as you typed them in another window, which no longer shows them: %s. Say yes again to accept them."
	bothEdited  = "You left out parts of %s here, but also edited it in another window: all of that text is shown again. Leave parts of it out, or say yes to accept it."
)

// withDrafts adds the drafts of other surfaces to an approval without a text, and the words
// there: an answer approves a draft, not a surface. A file of a plan that was rejected there is left out, and
// the verdict is a rejection if no file remains. again is nil, or asks again: v does not count
// then.
func (q *question) withDrafts(ctx context.Context, from *review, v Verdict) (_ Verdict, again func()) {
	files := q.req.Facts().Drafts
	if v.Decision != Approve || !q.req.several() && v.Edited() != nil || len(files) == 0 {
		return v, nil
	}
	ctx, cancel := context.WithTimeout(ctx, withdrawal)
	defer cancel()
	v.Except, v.Texts, v.Comments = slices.Clone(v.Except), maps.Clone(v.Texts), slices.Clip(v.Comments)
	f := found{typed: map[int]string{}}
	for _, drafter := range q.drafters(from) {
		for i, d := range q.fetch(ctx, drafter, files, v.Except) {
			f.add(q, i, files[i], d, &v)
		}
	}
	slices.Sort(v.Except)
	switch {
	case f.unseen || len(f.lost)+len(f.silent) > 0:
		return v, func() { q.askAgain(from, v, f, f.notes(files)...) }
	case len(v.Except) == len(files):
		return Verdict{By: v.By, Feedback: v.Feedback, Comments: v.Comments}, nil
	}
	return v.fill(f.typed), nil
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

// fetch fetches the drafts of files from one surface, by index. That of a file in except, or
// of one that was fetched before, is empty.
func (q *question) fetch(ctx context.Context, drafter Drafter, files []workspace.Change, except []int) []draft {
	all := make([]draft, len(files))
	var work crash.Group
	for i := range files {
		if q.fetched[i] || slices.Contains(except, i) {
			continue
		}
		id := q.req.ID
		if q.req.several() {
			id = q.req.FileID(i)
		}
		work.Go(func() { all[i] = draftSafely(ctx, drafter, id) })
	}
	work.Wait()
	return all
}

// found is the result of fetching drafts.
type found struct {
	typed  map[int]string // texts, by the index of the file
	unseen bool           // one of them counts only once the person has seen it again
	// The names of files: those that the approval has another text for, those whose drafts are
	// lost, and those whose drafts may be.
	both, lost, silent []string
	fetched            []int // files that need not be fetched again
}

// add adds the draft of a file to f, and its words or its rejection to the approval v.
func (f *found) add(q *question, i int, c workspace.Change, d draft, v *Verdict) {
	d.Edited = d.Edited && c.Editable()
	v.Feedback = joinWords(v.Feedback, d.Feedback)
	for _, said := range d.Comments {
		said.File = i
		v.Comments = append(v.Comments, said)
	}
	if d.Feedback != "" || len(d.Comments) > 0 {
		f.fetched = append(f.fetched, i)
	}
	switch {
	case errors.Is(d.err, ErrRejected):
		v.Except = append(v.Except, i)
		delete(v.Texts, i)
	case d.Edited && (d.err == nil || errors.Is(d.err, ErrUnseen)):
		f.typed[i] = d.Text
		f.fetched = append(f.fetched, i)
		if _, own := v.Texts[i]; own {
			f.both = append(f.both, c.Name)
		}
		f.unseen = f.unseen || d.err != nil || len(f.both) > 0
	case d.err == nil || q.warned:
	case d.Edited:
		f.lost = append(f.lost, c.Name)
	default:
		f.silent = append(f.silent, c.Name)
	}
}

// notes explains to a reviewer why an approval does not count.
func (f *found) notes(files []workspace.Change) []string {
	var typed, notes []string
	for _, i := range slices.Sorted(maps.Keys(f.typed)) {
		if !slices.Contains(f.both, files[i].Name) {
			typed = append(typed, files[i].Name)
		}
	}
	for _, n := range []struct {
		format string
		names  []string
	}{{typedDrafts, typed}, {bothEdited, f.both}, {lostDrafts, f.lost}, {maybeLost, f.silent}} {
		if len(n.names) > 0 {
			notes = append(notes, fmt.Sprintf(n.format, strings.Join(n.names, ", ")))
		}
	}
	return notes
}

// askAgain asks again, because the approval v does not count. The texts that it has, and
// those found, are the new proposals, and its words are kept for the verdict. The other
// reviewers go on with theirs, unless the person has to see a text that was found.
func (q *question) askAgain(from *review, v Verdict, f found, why ...string) {
	q.said.Feedback = joinWords(q.said.Feedback, v.Feedback)
	q.said.Comments = append(q.said.Comments, v.Comments...)
	if f.unseen {
		q.restart()
	} else {
		q.warned = true
		delete(q.reviews, from.seat)
		for _, i := range f.fetched {
			q.fetched[i] = true
		}
	}
	maps.Copy(q.texts, v.Texts)
	maps.Copy(q.texts, f.typed)
	if len(q.texts) > 0 {
		q.req.Check = nil // it tries the first texts
	}
	q.propose(v.Except)
	q.req.Notes = append(slices.Clip(q.req.Notes), caution.Notes(why...)...)
}

// several reports whether r is about a list of files.
func (r Request) several() bool {
	e, ok := r.Subject.(*Edits)
	return ok && !e.One()
}

// propose makes the texts in q the proposals. out are the files to begin without.
func (q *question) propose(out []int) {
	notes := slices.Clip(q.req.Notes)
	switch s := q.req.Subject.(type) {
	case *Edits:
		edits := *s
		edits.Changes, edits.Out = slices.Clone(s.Changes), out
		for i, text := range q.texts {
			c := workspace.NewContent(s.Changes[i], text)
			edits.Changes[i] = c
			if s.One() {
				notes = append(cautions(c), caution.Given(notes)...)
				continue
			}
			for _, n := range cautions(c) {
				n.Text = c.Name + ": " + n.Text
				if !slices.Contains(notes, n) {
					notes = append(notes, n)
				}
			}
		}
		q.req.Subject = &edits
	case *Document:
		if text, ok := q.texts[0]; ok {
			q.req.Subject = &Document{Text: text}
		}
	default:
	}
	q.req.Notes = notes
}

// cautions returns the notes on the text of c.
func cautions(c workspace.Change) []caution.Note {
	return caution.Of(diff.Lines(c.Text, c.After), c.Text, c.After, c.Exists)
}

// fill returns the approval v with texts for those files that it approves without one.
func (v Verdict) fill(texts map[int]string) Verdict {
	if len(texts) == 0 {
		return v
	}
	texts = maps.Clone(texts)
	maps.Copy(texts, v.Texts)
	maps.DeleteFunc(texts, func(i int, _ string) bool { return slices.Contains(v.Except, i) })
	v.Texts = texts
	return v
}

// joinWords joins a reviewer's words to earlier ones.
func joinWords(before, more string) string {
	if before == "" || more == "" {
		return before + more
	}
	return before + "\n" + more
}

// draft is the answer of a Drafter.
type draft struct {
	Draft
	err error
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
		dr.Draft, dr.err = d.Draft(ctx, id)
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
