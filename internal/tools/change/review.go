package change

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/pending"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// review is a set of changes on its way to the disk.
type review struct {
	Writer
	call  toolcall.Call
	title string // of a list of changes, for the reviewer; "" for the change of one file
	set   *pending.Changes
	edit  edit.Result // that made the change of one file
	free  bool        // rules have approved all changes as they are

	// For the next reviewer: of the whole set, and of the files that moved under the review. force
	// means that a person has to look.
	notes []caution.Note
	force bool
	moved []string
	// Of approvals that were not written: for the model, and for the record.
	told  []string
	words string
	// given are the results of changes that were given up; merged means that others were merged.
	given  []toolcall.Result
	merged bool
	lost   string // explains that an earlier edit is gone from a file; "" if none is
}

// one returns the review of the change of one file.
func (w Writer) one(call toolcall.Call, c workspace.Change, out edit.Result) *review {
	p := pending.Change{Change: c}
	if out.Stage != edit.Exact {
		p.Stages = []edit.Stage{out.Stage}
	}
	r := &review{Writer: w, call: call, edit: out, set: &pending.Changes{}}
	r.set.Set([]pending.Change{p})
	return r
}

// lists reports whether the question is about a list of files.
func (r *review) lists() bool { return r.title != "" }

// request returns the question about the changes of the set.
func (r *review) request() (confirm.Request, *confirm.Edits) {
	edits := &confirm.Edits{Title: r.title, Review: r.lists()}
	req := confirm.Request{Tool: r.Tool, Description: r.call.Description, Batch: r.call.Batch, Subject: edits, Force: r.force}
	if r.Why != "" {
		req.Force, req.Person, req.Notes = true, true, caution.Notes(r.Why)
	}
	all := r.set.All()
	for _, p := range all {
		edits.Changes = append(edits.Changes, p.Change)
		notes, force := r.notesOn(p)
		for _, n := range notes {
			if r.lists() && !strings.Contains(n.Text, p.Name) {
				n.Text = p.Name + ": " + n.Text
			}
			req.Notes = append(req.Notes, n)
		}
		req.Force, req.Person = req.Force || force, req.Person || p.Person
	}
	req.Notes = append(append(req.Notes, r.notes...), caution.Notes(r.moved...)...)
	protected := func(n caution.Note) bool { return n.Kind == caution.Protected }
	if why := makesGit(all); why != "" && r.lists() && !slices.ContainsFunc(req.Notes, protected) {
		req.Notes = append(req.Notes, caution.Note{Kind: caution.Protected, Text: "These files together are protected: " + why + "."})
		req.Force = true
	}
	return req, edits
}

// maxReviews is how often one review is repeated because files moved under it.
const maxReviews = 10

// approval is an answer about changes.
type approval struct {
	edits   *confirm.Edits
	verdict confirm.Verdict
	final   []workspace.Change // approved, with the reviewer's texts
	check   *confirm.Check
}

// result is run for a call that has to have a result.
func (r *review) result(ctx context.Context) (toolcall.Result, error) {
	res, err := r.run(ctx)
	if res == nil && err == nil {
		res = &toolcall.Result{ForModel: "The files already hold exactly this: nothing was changed.", ForUser: "no change"}
	}
	return res.OrNone(), err
}

// run asks until the approved changes are written, or refused. The result is nil without
// changes.
func (r *review) run(ctx context.Context) (*toolcall.Result, error) {
	res, err := r.ask(ctx, r.diagnose(ctx))
	if res == nil || err != nil {
		return nil, err
	}
	res.ForModel = strings.Join(append([]string{res.ForModel}, r.told...), "\n")
	res.Record.Words = strings.TrimSuffix(r.words+res.Record.Words, "\n")
	res.GoOn = res.GoOn || len(r.given) > 0
	if left := r.reasons(); left != "" && r.lists() && len(res.Changes) > 0 {
		res.ForUser += "; not written: " + left
	}
	if r.merged && len(res.Changes) > 0 {
		res.ForUser += ", merged with what had changed"
	}
	return res, nil
}

// reasons tells the user why changes were given up.
func (r *review) reasons() string {
	all := make([]string, len(r.given))
	for i, why := range r.given {
		all[i] = toolcall.OneLine(why.ForUser, toolcall.MaxFailure)
	}
	return strings.Join(all, "; ")
}

// ask is run without the words on the answers before the last one. since describes the editor's
// report after the edit.
func (r *review) ask(ctx context.Context, since func(context.Context) string) (*toolcall.Result, error) {
	for range maxReviews {
		if err := r.saveAll(ctx); err != nil {
			return nil, err
		}
		if r.set.Len() == 0 {
			break
		}
		req, edits := r.question()
		v, err := r.verdict(ctx, req)
		a := approval{edits: edits, verdict: v, check: req.Check}
		switch {
		case err != nil:
			return nil, toolcall.UnansweredError{Err: err}
		case v.Later != nil || v.Decision == confirm.Approve && !r.lists() && r.Pending.Has(edits.Changes[0].Path):
			return r.stage(req, v), nil
		case v.Check:
			return r.sentBack(req.Check), nil
		case v.Decision != confirm.Approve:
			return r.declined(a), nil
		}
		a.final = r.final(edits, v)
		res, err := r.write(ctx, a)
		if !errors.Is(err, workspace.ErrStale) {
			if err != nil {
				return nil, err
			}
			if r.set.Drop(); len(res.Changes) > 0 {
				res.ForModel += r.checked(a) + since(ctx)
			}
			if r.lost != "" {
				res.ForModel += "\nBefore this edit: " + r.lost
			}
			return res, nil
		}
		r.merge(ctx, a)
	}
	return r.unwritten(), nil
}

// final returns the approved changes. The reviewer may have typed the first character that shows an encoding.
func (r *review) final(edits *confirm.Edits, v confirm.Verdict) []workspace.Change {
	all := slices.DeleteFunc(edits.Final(v), workspace.Change.Needless)
	for i, c := range all {
		all[i] = r.Root.WithEncoding(c)
	}
	return all
}

// question returns the request with what only a question that is asked needs.
func (r *review) question() (confirm.Request, *confirm.Edits) {
	req, edits := r.request()
	req.Notes = append(req.Notes, r.losses(edits)...)
	req.Later = r.gathers(edits)
	if r.Check != nil {
		req.Check = r.Check(edits.Changes...)
	}
	return req, edits
}

// verdict asks, unless rules have approved all changes.
func (r *review) verdict(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	free := r.free && makesGit(r.set.All()) == ""
	r.free = false // the next question is about other texts
	if free {
		return confirm.Verdict{Decision: confirm.Approve, Rule: true, By: "rules"}, nil
	}
	return r.Ask.Ask(ctx, req)
}

// losses returns the notes on earlier edits that are gone from the files.
func (r *review) losses(edits *confirm.Edits) []caution.Note {
	if r.lost = ""; r.Writes == nil {
		return nil
	}
	var all []string
	for _, c := range edits.Changes {
		if lost := r.Writes.Lost(c.Path, c.Text); lost != "" {
			all = append(all, lost)
		}
	}
	r.lost = strings.Join(all, "\n")
	return caution.Notes(all...)
}

// diagnose asks the editor about the file that the only change leaves. It returns a function that
// describes its report after the edit.
func (r *review) diagnose(ctx context.Context) (since func(context.Context) string) {
	if c := r.set.All(); r.Diagnose != nil && !r.lists() && !c[0].Removes() {
		return r.Diagnose(ctx, c[0].Path)
	}
	return func(context.Context) string { return "" }
}

// saveAll asks whether to save files of a list with unsaved changes in the editor, and gives up
// the changes of those that stay unsaved.
func (r *review) saveAll(ctx context.Context) error {
	if !r.lists() { // it was asked before the change was computed
		return nil
	}
	all := r.set.All()
	kept := all[:0:0]
	for _, p := range all {
		refused, err := r.saveUnsaved(ctx, r.call, Part{Path: p.Path, Edit: Existing(nil)})
		if err != nil {
			return err
		}
		if refused != nil {
			r.giveUp(*refused)
			continue
		}
		kept = append(kept, p)
	}
	if len(kept) < len(all) {
		r.set.Set(kept)
	}
	return nil
}

// write writes approved changes together. The error is workspace.ErrStale if a file has changed
// since the question, and ctx's if that ended.
func (r *review) write(ctx context.Context, a approval) (*toolcall.Result, error) {
	put, err := r.put(ctx, a.final)
	switch {
	case errors.Is(err, workspace.ErrStale), ctx.Err() != nil && err != nil:
		return nil, err
	case err != nil:
		res := a.unwritten(toolcall.Failed("%w", err))
		r.notWritten(ctx, a, res)
		return &res, nil
	}
	res := r.written(a)
	put.tell(&res, a.verdict)
	for _, c := range a.final {
		r.wrote(ctx, c, a.verdict.By)
	}
	return &res, nil
}

// put is the result of writing approved changes.
type put struct {
	held    bool   // the files held them already
	endings string // a remark on the line endings that it saved; "" if they are the approved ones
	warning string // "" without one
	differs string // the patch from the approved texts to those that the editor saved instead; "" without
	counts  string // of that patch
}

// put writes approved changes.
func (r *review) put(ctx context.Context, final []workspace.Change) (p put, err error) {
	if len(final) == 0 {
		return p, nil
	}
	files, err := r.Root.Commit(ctx, workspace.AllOrNone, workspace.Origin{Session: r.Session(), Turn: r.call.Turn, Call: r.call.ID, Tool: r.Tool}, final...)
	switch {
	case errors.Is(err, workspace.ErrStale):
		for _, c := range final {
			exactly, but := r.holds(c)
			if !but {
				return put{}, workspace.ErrStale
			}
			if !exactly {
				p.endings = " with other line endings"
			}
		}
		p.held = true
		return p, nil
	case errors.Is(err, workspace.ErrNotDurable), errors.Is(err, workspace.ErrDiffers):
		p.warning = strings.ReplaceAll(err.Error(), "\n", "; ")
		p.compare(final, files)
		return p, nil
	case err != nil && ctx.Err() != nil:
		return p, ctx.Err()
	}
	return p, err
}

// holds reports whether the file already holds the approved text, exactly or but for line endings: the
// editor in which it was approved may have saved it. An editor removes no file.
func (r *review) holds(c workspace.Change) (exactly, but bool) {
	if c.Removes() || c.States != nil {
		return false, false
	}
	f, err := r.Root.Peek(c.Path)
	if err != nil || !f.Exists || c.Exists && (f.Format.Encoding != c.Format.Encoding || f.Format.BOM != c.Format.BOM) {
		return false, false
	}
	exactly = f.Text == c.After
	return exactly, exactly || workspace.SameLines(f.Text, c.After) && !workspace.SameLines(c.Text, c.After) // or the endings are the change
}

// wrote tells the editor about a change that was written with an approval by somebody.
func (r *review) wrote(ctx context.Context, c workspace.Change, by string) {
	if r.Writes == nil || c.States != nil && !c.States.OfFile() {
		return
	}
	if c.Moves() {
		r.Writes.Wrote(ctx, editor.Write{Path: c.To, After: c.After, By: by})
		c.After = ""
	}
	r.Writes.Wrote(ctx, editor.Write{Path: c.Path, Before: c.Text, After: c.After, By: by, Removed: c.Removes(), To: c.To})
}

// notWritten tells the editor, which has shown the verdict as given, that nothing came of it.
func (r *review) notWritten(ctx context.Context, a approval, res toolcall.Result) {
	if r.Writes != nil {
		r.Writes.Wrote(ctx, editor.Write{Path: a.edits.Changes[0].Path, By: a.verdict.By, Failed: res.ForUser})
	}
}
