package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/pending"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Review is the name under which changes that were gathered are asked about and
// written.
const Review = "review"

// gathers reports whether a person is asked about c later.
func (w writer) gathers(c workspace.Change) bool { return w.Pending != nil && !w.hides(c.Path) }

// stage adds an edit to the pending changes, with the notes that v has besides those of req.
func (w writer) stage(call Call, change workspace.Change, out edit.Result, req confirm.Request, v confirm.Verdict) Result {
	w.Pending.Stage(change, out.Stage, call.ID)
	if later := v.Later; later != nil {
		added := slices.DeleteFunc(slices.Clone(later.Notes), func(n caution.Note) bool { return slices.Contains(req.Notes, n) })
		w.Pending.Mark(change.Path, added, later.Force, later.Person)
	}
	fc := fileChange(change)
	said := fc.counts()
	res := Result{
		ForModel: fmt.Sprintf("%s is %s, pending the user's review of all changes at the end of the turn: %d added, %d removed (lines). "+
			"You see it so in all tools but commands. It is on disk only once you are told that the user approved it.", change.Label(), verbOf(change), fc.Added, fc.Removed),
		ForUser: said + ", to review at the end",
		Record:  Record{Result: said + ", pending the review of the turn"},
	}
	if out.Stage != edit.Exact {
		res.ForModel += fmt.Sprintf(" It matched only after %s.", out.Stage)
	}
	return res
}

// verbOf describes what happens to the file of a change.
func verbOf(c workspace.Change) string {
	switch {
	case c.Moves():
		return "moved"
	case c.Delete:
		return "deleted"
	}
	return "changed"
}

// Settle asks about all pending changes in one review and writes the approved ones
// together: all or none. It returns nil without any. After an answer with words the
// refused changes stay pending, for the model to go on from; otherwise they are dropped.
func (s *Set) Settle(ctx context.Context, call Call) (*Result, error) {
	if call.ID == "" {
		call.ID = s.deps.Pending.Call() // whose place in the conversation is known
	}
	review := settler{Deps: s.deps, call: call, tool: Review, title: "all changes of this turn"}
	res, err := review.settle(ctx)
	s.deps.settled(ctx, call, res, err)
	return res, err
}

// Pending returns the number of files with pending changes.
func (s *Set) Pending() int { return s.deps.Pending.Len() }

// DropPending forgets the pending changes and returns the names of their files.
func (s *Set) DropPending() []string { return s.deps.Pending.Drop() }

// settler is one review of several changes.
type settler struct {
	Deps
	call  Call
	tool  string
	title string   // for the reviewer
	free  bool     // rules have approved all changes as they are
	note  []string // for the next reviewer: the files that moved under the review
	told  []string // for the model
	words string   // for the record: those of approvals that were not written
	lost  int      // changes in conflict
}

// request returns the question about changes.
func (s settler) request(changes []pending.Change) (confirm.Request, *confirm.Edits) {
	plan := &confirm.Edits{Title: s.title, Review: true}
	req := confirm.Request{Tool: s.tool, Description: s.call.Description, Batch: s.call.Batch, Subject: plan}
	for _, text := range s.note {
		req.Notes, req.Force = append(req.Notes, caution.Notes(text)...), true
	}
	for _, p := range changes {
		plan.Changes = append(plan.Changes, p.Change)
		stages := p.Stages
		if len(stages) == 0 {
			stages = []edit.Stage{edit.Exact}
		}
		for i, stage := range stages {
			notes, force := s.changeNotes(p.Change, stage)
			if i > 0 {
				notes = notes[:1] // the others are the same
			}
			for _, n := range notes {
				if !strings.Contains(n.Text, p.Name) {
					n.Text = p.Name + ": " + n.Text
				}
				req.Notes = append(req.Notes, n)
			}
			req.Force, req.Person = req.Force || force || p.Force, req.Person || p.Person
		}
		for _, n := range p.Notes {
			n.Text = p.Name + ": " + n.Text
			req.Notes = append(req.Notes, n)
		}
	}
	protected := func(n caution.Note) bool { return n.Kind == caution.Protected }
	if why := makesGit(changes); why != "" && !slices.ContainsFunc(req.Notes, protected) {
		req.Notes = append(req.Notes, caution.Note{Kind: caution.Protected, Text: "These files together are protected: " + why + "."})
		req.Force = true
	}
	req.Check = s.check(plan.Changes...)
	return req, plan
}

// makesGit explains why changes make a folder a git folder, though none of them alone does;
// "" means they do not.
func makesGit(changes []pending.Change) string {
	var paths []string
	for _, p := range changes {
		switch {
		case p.Moves():
			paths = append(paths, p.To)
		case !p.Delete:
			paths = append(paths, p.Path)
		}
	}
	return permission.MakesGit(paths)
}

// maxReviews is how often one review is repeated because files moved under it.
const maxReviews = 10

// settle asks until the approved changes are written, or refused. All words of the reviewer
// are in the record.
func (s *settler) settle(ctx context.Context) (*Result, error) {
	res, err := s.review(ctx)
	if res != nil {
		res.Record.Words = strings.TrimSuffix(s.words+res.Record.Words, "\n")
	}
	return res, err
}

// review is settle with only the words of the last answer in the record.
func (s *settler) review(ctx context.Context) (*Result, error) {
	for range maxReviews {
		if err := s.saveUnsaved(ctx); err != nil {
			return nil, err
		}
		all := s.Pending.All()
		if len(all) == 0 {
			break
		}
		req, plan := s.request(all)
		v, err := s.ask(ctx, req)
		if err != nil {
			return nil, UnansweredError{err}
		}
		if v.Check {
			return s.failing(req.Check), nil
		}
		if v.Decision != confirm.Approve {
			return s.refused(plan, v), nil
		}
		final := plan.Final(v)
		final = slices.DeleteFunc(final, workspace.Change.Needless)
		res, err := s.write(ctx, plan, final, v)
		if err == nil && len(res.Changes) > 0 {
			res.ForModel += s.checked(req.Check, v)
		}
		if !errors.Is(err, workspace.ErrStale) {
			if err == nil {
				s.Pending.Drop()
			}
			return res, err
		}
		before := s.lost
		s.merge(plan, final, v)
		if s.lost > before {
			w := writer{s.Deps, s.tool}
			w.notWritten(ctx, final[0], v, failed("files changed while they were reviewed: nothing was written"))
		}
	}
	return s.unwritten(), nil
}

// unwritten drops the pending changes and returns the result of a review without any left, or
// whose files changed each time. It is nil if no change was given up.
func (s *settler) unwritten() *Result {
	res := Result{ForModel: "Nothing was written.", ForUser: "conflicts with changes meanwhile; nothing was written", Failed: true}
	switch left := s.Pending.Drop(); {
	case len(left) > 0:
		res = failed("Nothing of %s was written: a file changed again each time that the changes were reviewed (%d times). Read the files again and repeat the edits.", strings.Join(left, ", "), maxReviews)
		res.ForUser = fmt.Sprintf("files changed during each of %d reviews; nothing was written", maxReviews)
	case s.lost == 0:
		return nil
	}
	res.ForModel = strings.Join(append([]string{res.ForModel}, s.told...), "\n")
	return &res
}

// ask asks, unless rules have approved all changes.
func (s *settler) ask(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	if s.free {
		s.free = false // the next question is about other texts
		return confirm.Verdict{Decision: confirm.Approve, Rule: true, By: "rules"}, nil
	}
	return s.Ask.Ask(ctx, req)
}

// saveUnsaved asks whether to save files with unsaved changes in the editor, and gives up
// the changes of those that stay unsaved.
func (s *settler) saveUnsaved(ctx context.Context) error {
	var kept []pending.Change
	for _, p := range s.Pending.All() {
		refused, err := writer{s.Deps, s.tool}.saveUnsaved(ctx, s.call, p.Path)
		if err != nil {
			return err
		}
		if refused != nil {
			s.lost++
			s.told = append(s.told, refused.ForModel)
			continue
		}
		kept = append(kept, p)
	}
	if len(kept) < s.Pending.Len() {
		s.Pending.Set(kept)
	}
	return nil
}

// failing returns the result of a refusal by the check c, without a question.
func (s settler) failing(c *confirm.Check) *Result {
	again := proposeAgain
	if s.tool == Review {
		again = "The changes are still pending; mend these problems by further edits"
	}
	res := s.sentBack(c, again)
	res.ForModel = strings.Join(append([]string{res.ForModel}, s.told...), "\n")
	return &res
}

// refused returns the result of a no.
func (s settler) refused(plan *confirm.Edits, v confirm.Verdict) *Result {
	res := declined(s.tool, "review of the changes", "None of them was written.", v)
	res.ForModel = strings.TrimSuffix(res.ForModel, feedbackForModel(v)) + wordsOn(plan, v)
	res.Record.Words = strings.TrimPrefix(wordsOn(plan, v), "\n")
	switch {
	case s.tool != Review:
	case v.Unasked || v.Rule || v.Feedback == "" && len(v.Comments) == 0:
		res.ForModel += "\nThe changes are dropped: the files are as they are on disk."
		s.Pending.Drop()
	default:
		res.ForModel += "\nThe changes are still pending: revise them by further edits. The user is asked again."
	}
	res.ForModel = strings.Join(append([]string{res.ForModel}, s.told...), "\n")
	return &res
}

// wordsOn returns the reviewer's words, each comment with its file.
func wordsOn(plan *confirm.Edits, v confirm.Verdict) string {
	var b strings.Builder
	b.WriteString(reasonOf(v))
	for _, c := range v.Comments {
		if c.File >= 0 && c.File < len(plan.Changes) {
			fmt.Fprintf(&b, "\nThe user's comment on line %d of the proposal for %s: %s", c.Line, plan.Changes[c.File].Name, c.Text)
		}
	}
	return b.String()
}

// write writes the approved changes together. The error is workspace.ErrStale if a file
// has changed since the question.
func (s settler) write(ctx context.Context, plan *confirm.Edits, final []workspace.Change, v confirm.Verdict) (*Result, error) {
	w := writer{s.Deps, s.tool}
	put, err := w.put(ctx, s.call, final...)
	switch {
	case errors.Is(err, workspace.ErrStale), ctx.Err() != nil && err != nil:
		return nil, err
	case err != nil:
		res := failed("%w", err).withApproved(ownPatch(plan, v), wordsOn(plan, v))
		w.notWritten(ctx, final[0], v, res)
		return &res, nil
	}
	res := s.written(plan, final, v)
	put.tell(&res)
	for _, c := range final {
		w.wrote(ctx, c, v.By)
	}
	return &res, nil
}

// written returns the result of an approval.
func (s settler) written(plan *confirm.Edits, final []workspace.Change, v confirm.Verdict) Result {
	var res Result
	added, removed := 0, 0
	var said, left []string
	for _, c := range final {
		fc := fileChange(c)
		added, removed = added+fc.Added, removed+fc.Removed
		res.Changes = append(res.Changes, fc)
		said = append(said, fc.done(c)+".")
	}
	for _, i := range v.Except {
		left = append(left, plan.Changes[i].Name)
	}
	if len(said) == 0 {
		said = []string{"Nothing was written."}
	}
	if len(left) > 0 {
		said = append(said, fmt.Sprintf("The user left out, and the disk keeps as before: %s.", strings.Join(left, ", ")))
	}
	patch := ownPatch(plan, v)
	res.ForUser = fmt.Sprintf("%d of %d files, +%d −%d", len(final), len(plan.Changes), added, removed)
	if patch != "" {
		said = append(said, "The user changed the proposal before approving it. The files hold the user's version, which is final. From your proposal to it:\n"+strings.TrimSuffix(clipPatch(patch), "\n"))
		res.ForUser += ", changed by you"
		res.Record.Words = "From the proposal to what was written:\n" + strings.TrimSuffix(patch, "\n")
	}
	words := wordsOn(plan, v)
	res.Record.Words = strings.TrimPrefix(res.Record.Words+words, "\n")
	res.GoOn = words != "" || s.lost > 0
	res.ForModel = strings.Join(append(said, s.told...), "\n") + words
	return res
}

// ownPatch returns the patch from the texts of plan to the reviewer's own, or "".
func ownPatch(plan *confirm.Edits, v confirm.Verdict) string {
	var b strings.Builder
	for i, c := range plan.Changes {
		if text, ok := v.Texts[i]; ok {
			b.WriteString(diff.Unified(c.Name, c.Name, c.After, text))
		}
	}
	return b.String()
}

// merge makes the approved changes the pending ones, merged with the files that have
// changed since. Of a conflict the model is told.
func (s *settler) merge(plan *confirm.Edits, final []workspace.Change, v confirm.Verdict) {
	s.note = nil
	var all []pending.Change
	for _, c := range final {
		if s.unmoved(c) {
			all = append(all, s.Pending.Marked(c))
			continue
		}
		var m moved
		merged, refused := m.merge(writer{Deps: s.Deps, tool: s.tool}, c, c, confirm.Verdict{Rule: v.Rule})
		if refused != nil {
			s.lost++
			s.told = append(s.told, refused.ForModel)
			s.note = append(s.note, oneLine(refused.ForUser, maxFailure))
			continue
		}
		s.note = append(s.note, m.note)
		s.told = append(s.told, strings.TrimPrefix(m.told, "\n"))
		all = append(all, s.Pending.Marked(merged))
	}
	if approved := (Result{}).withApproved(ownPatch(plan, v), wordsOn(plan, v)); approved.ForModel != "" {
		s.told = append(s.told, strings.TrimPrefix(approved.ForModel, "\n"))
		s.words += approved.Record.Words + "\n"
	}
	s.Pending.Set(all)
}

// unmoved reports whether the files of a change are as they were when it was computed, also in
// the program that hosts the session.
func (s *settler) unmoved(c workspace.Change) bool {
	now, _, err := s.Root.Raw(c.Path)
	switch {
	case c.Moves():
		if _, _, err := s.Root.Vacant(c.To); err != nil {
			return false
		}
	case !c.Removes() && c.Raw == nil && c.RawAfter == nil:
		var held workspace.Change
		held, err = s.Root.Propose(c.Path, func(workspace.File) (string, error) { return c.After, nil })
		now = held.File
	}
	return err == nil && now.Exists == c.Exists && now.Hash == c.Hash
}

// settleFirst settles the pending changes before something that sees only the disk. It
// returns nil without any; see Result.forbids.
func (d Deps) settleFirst(ctx context.Context, call Call) (*Result, error) {
	if d.Pending == nil {
		return nil, nil
	}
	defer d.Pending.Settling()() // tasks run at the same time
	if d.Pending.Len() == 0 {
		return nil, nil
	}
	s := settler{Deps: d, call: call, tool: Review, title: "the changes so far, which this call needs on the disk"}
	res, err := s.settle(ctx)
	d.settled(ctx, call, res, err)
	switch {
	case err != nil || res == nil:
	case res.Failed:
		res.ForModel += "\nSo this call was not carried out: it sees only what is on the disk."
	case res.Stop:
		res.ForModel += "\nSo this call was not carried out."
	}
	return res, err
}

// settled calls Deps.Settled if a review wrote something.
func (d Deps) settled(ctx context.Context, call Call, res *Result, err error) {
	if d.Settled != nil && err == nil && res != nil && len(res.Changes) > 0 {
		d.Settled(ctx, call, res)
	}
}

// forbids reports whether the call that r settles the changes for must not happen.
func (r *Result) forbids() bool { return r != nil && (r.Failed || r.Stop) }

// orNone returns *r, or the zero Result for nil.
func (r *Result) orNone() Result {
	if r == nil {
		return Result{}
	}
	return *r
}

// after adds the result of the review before the call to r.
func (r *Result) after(settled *Result) {
	if settled == nil {
		return
	}
	r.ForModel = "Before it, the pending changes were reviewed. " + settled.ForModel + "\n\n" + r.ForModel
	r.Changes = append(settled.Changes, r.Changes...)
	r.Record.Words = strings.TrimPrefix(settled.Record.Words+"\n"+r.Record.Words, "\n")
}
