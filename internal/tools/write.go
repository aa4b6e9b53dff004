package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// writer takes a computed text to a file on disk. All writing tools use it.
type writer struct {
	Deps
	tool string
}

// errMissing is returned by a compute function that needs an existing file.
var errMissing = errors.New("there is no such file")

// computer computes the new text of a file.
type computer func(workspace.File) (edit.Result, error)

// proposal is a change of one file, or the reason why there is nothing to ask about.
type proposal func(context.Context) (workspace.Change, edit.Result, *Result)

// apply computes the new text of the file at path, has it reviewed, writes the approved
// text and reports to the model.
func (w writer) apply(ctx context.Context, call Call, path string, compute computer) (Result, error) {
	return w.carryOut(ctx, call, path, func(ctx context.Context) (workspace.Change, edit.Result, *Result) {
		return w.propose(ctx, path, compute)
	})
}

// carryOut is apply for a proposal.
func (w writer) carryOut(ctx context.Context, call Call, path string, propose proposal) (Result, error) {
	if res, err := w.saveUnsaved(ctx, call, path); err != nil {
		return Result{}, err
	} else if res != nil {
		return *res, nil
	}
	settled, err := w.vacate(ctx, call, path, w.Pending.Leaves)
	if err != nil || settled.forbids() {
		return settled.orNone(), err
	}
	change, out, refused := propose(ctx)
	if refused != nil {
		refused.after(settled)
		return *refused, nil
	}
	res, err := w.review(ctx, call, change, out)
	res.after(settled)
	return res, err
}

// vacate has the pending changes reviewed if they have emptied the place at path: another file
// cannot take it before that.
func (w writer) vacate(ctx context.Context, call Call, path string, emptied func(abs string) bool) (*Result, error) {
	if w.Pending.Len() == 0 {
		return nil, nil
	}
	if abs, _, err := w.Root.Resolve(path); err == nil && emptied(abs) {
		return w.settleFirst(ctx, call)
	}
	return nil, nil // the proposal explains an error
}

// propose computes a change. If nobody has to be asked about it, it returns a result that
// explains why.
func (w writer) propose(ctx context.Context, path string, compute computer) (change workspace.Change, out edit.Result, refused *Result) {
	var seen workspace.File // as the model knows it
	change, err := w.Root.Propose(path, func(f workspace.File) (string, error) {
		var err error
		if seen = w.Pending.Over(f); seen.Raw != nil {
			return "", workspace.ErrNotText
		}
		out, err = compute(seen)
		return out.Text, err
	})
	if err == nil && out.To != "" {
		if refused = w.movesTo(ctx, &change, path, out.To); refused != nil {
			return change, out, refused
		}
	}
	if err == nil {
		now := change
		now.File = seen
		refused = needless(now)
		change = w.Pending.Onto(change)
		_, err = change.Content() // a file that a pending change moved has another format than a new one
	}
	if err != nil {
		res := unchanged(path, err)
		refused = &res
	}
	switch {
	case errors.Is(err, errMissing):
		res := failed("%s does not exist.%s Use write_file to create it.", path, didYouMean(w.Root, path))
		return change, out, &res
	case refused != nil && w.hides(path):
		res := failed("%s", w.unexplained(path))
		return change, out, &res
	}
	return change, out, refused
}

// unexplained is the only answer to an edit of a file with keys that nobody was asked
// about: the reason would tell the model about the file's text.
func (w writer) unexplained(path string) string {
	if _, name, err := w.Root.Resolve(path); err == nil {
		path = name // the same however the model spells it
	}
	return path + ": nothing was changed. The file usually holds keys, so until the user lets you read it you are not told whether the edit does not fit the file, changes nothing in it or may not be made. Read it first: the user is asked."
}

// review has a change reviewed, writes the approved text and reports to the model. If the
// file has changed meanwhile, the edit merged with that change is reviewed in turn.
func (w writer) review(ctx context.Context, call Call, change workspace.Change, out edit.Result) (Result, error) {
	before := w.reported(ctx, change)
	var m moved
	for {
		lost := w.lost(change)
		req := w.request(call, change, out.Stage)
		req.Notes, req.Force, req.Check = append(req.Notes, m.notes(lost)...), req.Force || m.byUser, w.check(change)
		req.Later = w.gathers(change)
		v, err := w.Ask.Ask(ctx, req)
		switch {
		case err != nil:
			return Result{}, UnansweredError{err}
		case v.Later != nil || v.Decision == confirm.Approve && w.Pending.Has(change.Path):
			return w.stage(call, change, out, req, v), nil
		case v.Check:
			return m.tell(w.sentBack(req.Check, proposeAgain)), nil
		case v.Decision != confirm.Approve:
			return m.tell(w.unapproved(change, out, v)), nil
		}
		a := approval{change, confirm.Edit(change).Final(v)[0], v, out}
		res, err := w.commit(ctx, call, a)
		if errors.Is(err, workspace.ErrStale) {
			merged, refused := m.merge(w, change, a.final, v)
			if refused != nil {
				w.notWritten(ctx, change, v, *refused)
				return m.tell(a.unwritten(*refused)), nil
			}
			change = merged
			continue
		}
		if err != nil {
			return m.tell(res), err
		}
		if len(res.Changes) > 0 {
			w.wrote(ctx, a.final, v.By)
			res.ForModel += w.checked(req.Check, v) + w.reportedSince(ctx, change, before)
		}
		if res.Failed {
			w.notWritten(ctx, change, v, res)
		}
		return m.tell(res.before(lost)), nil
	}
}

// before tells the model of unsaved text that was lost before the edit, if it is not empty.
func (r Result) before(lost string) Result {
	if lost != "" {
		r.ForModel += "\nBefore this edit: " + lost
	}
	return r
}

// reported returns the editor's report on the file of c before c.
func (w writer) reported(ctx context.Context, c workspace.Change) report {
	if c.Removes() {
		return report{}
	}
	return w.diagnostics.report(ctx, c.Path, 0, reportBefore)
}

// reportedSince describes the editor's report on the file that c leaves, for the model.
func (w writer) reportedSince(ctx context.Context, c workspace.Change, before report) string {
	if c.Removes() {
		return ""
	}
	return w.diagnostics.sinceEdit(ctx, c.Path, before)
}

// approval is a change that was approved.
type approval struct {
	asked   workspace.Change // as proposed
	final   workspace.Change // its text may be the reviewer's own
	verdict confirm.Verdict
	edit    edit.Result // that made the proposal
}

// request returns the question about a change.
func (w writer) request(call Call, change workspace.Change, stage edit.Stage) confirm.Request {
	notes, force := w.changeNotes(change, stage)
	return confirm.Request{
		Tool: w.tool, Description: call.Description, Batch: call.Batch, Notes: notes, Force: force, Subject: confirm.Edit(change),
	}
}

// foresee returns the question that a change of a file would ask if it applies. added is
// the text that it adds, or all of the new text.
func (w writer) foresee(path, added string, remove bool) []Foreseen {
	abs, name, err := w.Root.Resolve(path)
	if err != nil {
		return nil // refused without a question
	}
	_, err = os.Stat(abs)
	change := workspace.Change{File: workspace.File{Path: abs, Name: name, Exists: err == nil}, After: added, Delete: remove}
	return []Foreseen{{Request: w.request(Call{}, change, edit.Exact)}}
}

// needless returns a result for a change that nobody has to be asked about, or nil: one
// that changes nothing, or that leaves code out.
func needless(c workspace.Change) *Result {
	if c.Needless() {
		return &Result{ForModel: c.Name + " already holds exactly this: nothing was changed.", ForUser: "no change"}
	}
	if l := placeholder(c); l != "" {
		res := failed("%s: nothing was changed: the new text has %q in place of code. Send the code itself.", c.Name, l)
		return &res
	}
	return nil
}

// unapproved returns the result of a change that was not approved. Nobody denied a change
// that only a loose match kept from being written.
func (w writer) unapproved(c workspace.Change, out edit.Result, v confirm.Verdict) Result {
	if v.Unasked && out.Stage.Loose() && !w.hides(c.Path) {
		if _, force := w.changeNotes(c, edit.Exact); !force {
			return inexact(c, out)
		}
	}
	res := declined(w.tool, "edit", nothingChanged, v)
	if (v.Unasked || v.Rule) && w.hides(c.Path) {
		res.ForModel = w.unexplained(c.Path)
	}
	return res
}

// saveUnsaved saves a file with unsaved changes in the editor if the user agrees: a
// proposal must be based on the newest text. If the edit cannot go on, it returns a
// result with the reason.
func (w writer) saveUnsaved(ctx context.Context, call Call, path string) (*Result, error) {
	if w.Buffers == nil {
		return nil, nil
	}
	abs, name, err := w.Root.Resolve(path)
	in, unsaved := "", false
	if err == nil { // on an error, the proposal explains it
		in, unsaved = w.Buffers.Unsaved(ctx, abs)
	}
	if !unsaved {
		return nil, nil
	}
	verdict, err := w.Ask.Ask(ctx, confirm.Request{
		Tool: w.tool, Description: call.Description, Batch: call.Batch, Force: true,
		Subject: &confirm.Save{Path: abs, Name: name, Editor: in},
	})
	if err != nil {
		return nil, UnansweredError{err}
	}
	if verdict.Decision != confirm.Approve {
		res := declined(w.tool, "edit", nothingChanged, verdict)
		res.ForModel = name + " has unsaved changes in the user's editor, so it cannot be edited. " + res.ForModel
		return &res, nil
	}
	if err := w.Buffers.Save(ctx, abs); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		res := failed("%s has unsaved changes in the user's editor, which could not be saved (%w): nothing was changed.", name, err)
		return &res, nil
	}
	return nil, nil
}

// lost explains that an earlier edit of a file is gone from it, or returns "".
func (w writer) lost(c workspace.Change) string {
	if w.Writes == nil {
		return ""
	}
	return w.Writes.Lost(c.Path, c.Text)
}

// wrote tells the editor about a change that was written with an approval by somebody.
func (w writer) wrote(ctx context.Context, c workspace.Change, by string) {
	if w.Writes == nil {
		return
	}
	if c.Moves() {
		w.Writes.Wrote(ctx, editor.Write{Path: c.To, After: c.After, By: by})
		c.After = ""
	}
	w.Writes.Wrote(ctx, editor.Write{Path: c.Path, Before: c.Text, After: c.After, By: by, Removed: c.Removes(), To: c.To})
}

// notWritten tells the editor, which has shown v as given, that nothing came of it.
func (w writer) notWritten(ctx context.Context, c workspace.Change, v confirm.Verdict, res Result) {
	if w.Writes != nil {
		w.Writes.Wrote(ctx, editor.Write{Path: c.Path, By: v.By, Failed: res.ForUser})
	}
}

// commit writes an approved text. It returns workspace.ErrStale if the file has changed since
// the question.
func (w writer) commit(ctx context.Context, call Call, a approval) (Result, error) {
	if a.final.Needless() {
		return Result{
			ForModel: "The user changed the proposal back to the current content of " + a.asked.Name + ": nothing was written." + feedbackForModel(a.verdict),
			ForUser:  "no change",
			Record:   Record{Result: "nothing was written: the user changed the proposal back to the file's content", Words: feedbackForRecord(a.verdict, "")},
		}, nil
	}
	put, err := w.put(ctx, call, a.final)
	switch {
	case errors.Is(err, workspace.ErrStale), ctx.Err() != nil && err != nil:
		return Result{}, err
	case err != nil:
		return a.unwritten(failed("%w", err)), nil
	}
	res := a.written()
	put.tell(&res)
	return res, nil
}

// put is the result of writing approved changes.
type put struct {
	byEditor bool   // the editor in which they were approved had saved them already
	warning  string // "" without one
	differs  string // the patch from the approved texts to those that the editor saved instead; "" without
	counts   string // of that patch
}

// put writes approved changes together. The error is workspace.ErrStale if a file has changed
// since the question, and ctx's if that ended.
func (w writer) put(ctx context.Context, call Call, final ...workspace.Change) (p put, err error) {
	if len(final) == 0 {
		return p, nil
	}
	files, err := w.Root.CommitTogether(ctx, final, workspace.Origin{Session: w.Session(), Turn: call.Turn, Call: call.ID, Tool: w.tool})
	switch {
	case errors.Is(err, workspace.ErrStale):
		if p.byEditor = !slices.ContainsFunc(final, func(c workspace.Change) bool { return !w.holds(c) }); p.byEditor {
			return p, nil
		}
		return p, workspace.ErrStale
	case errors.Is(err, workspace.ErrNotDurable), errors.Is(err, workspace.ErrDiffers):
		p.warning = strings.ReplaceAll(err.Error(), "\n", "; ")
		p.compare(final, files)
		return p, nil
	case err != nil && ctx.Err() != nil:
		return p, ctx.Err()
	}
	return p, err
}

// compare sets the patch to the texts that the editor saved instead, as it does if it formats
// files.
func (p *put) compare(final []workspace.Change, files []workspace.File) {
	added, removed := 0, 0
	for _, c := range final {
		i := slices.IndexFunc(files, func(f workspace.File) bool { return f.Path == c.Path && f.Exists })
		if i < 0 || c.Removes() || files[i].Text == c.After {
			continue
		}
		d := diff.Lines(c.After, files[i].Text)
		a, r := d.Counts()
		added, removed = added+a, removed+r
		p.differs += d.Unified(c.Name, c.Name)
	}
	p.counts = fmt.Sprintf("+%d −%d", added, removed)
}

// tell adds the result to that of the call.
func (p put) tell(res *Result) {
	if p.byEditor {
		res.ForUser += ", saved by the editor: not in /undo"
	}
	if p.warning != "" {
		res.ForModel += "\nWarning: " + p.warning
	}
	switch {
	case p.differs != "":
		res.Differs = p.differs
		res.ForModel += ". From the approved text to the file's:\n" + clipPatch(p.differs)
		res.ForUser += "; your editor saved another text than you approved (" + p.counts + ")"
		res.Record.Result = "written by the editor, which saved another text than was approved"
	case p.warning != "":
		res.ForUser += "; " + p.warning
	}
}

// unwritten adds the reviewer's own text and words to res, the result if nothing was written.
func (a approval) unwritten(res Result) Result {
	patch := ""
	if a.final.After != a.asked.After {
		patch = diff.Unified(a.final.Name, a.final.Name, a.asked.After, a.final.After)
	}
	return res.withApproved(patch, feedbackForModel(a.verdict))
}

// holds reports whether the file already holds the approved text: the editor in which it
// was approved may have saved it. An editor removes no file.
func (w writer) holds(c workspace.Change) bool {
	if c.Removes() {
		return false
	}
	f, err := w.Root.Peek(c.Path)
	return err == nil && f.Exists && f.Text == c.After && (!c.Exists || f.Format.Encoding == c.Format.Encoding && f.Format.BOM == c.Format.BOM)
}

// written returns the result if the approved text was written.
func (a approval) written() Result {
	fc := fileChange(a.final)
	var b strings.Builder
	b.WriteString(fc.done(a.final))
	if a.edit.Places > 1 {
		fmt.Fprintf(&b, ", %d places", a.edit.Places)
	}
	b.WriteString(".")
	if a.edit.Stage != edit.Exact {
		fmt.Fprintf(&b, " It matched only after %s.", a.edit.Stage)
	}
	user := fc.counts()
	rec := Record{Words: feedbackForRecord(a.verdict, "")}
	if a.final.After != a.asked.After {
		patch := diff.Unified(a.final.Name, a.final.Name, a.asked.After, a.final.After)
		rec.Result = user + ", changed by the user before it was written"
		rec.Words = feedbackForRecord(a.verdict, patch)
		user += ", changed by you"
		b.WriteString("\nThe user changed the proposal before approving it. The file holds the user's version, which is final. From your proposal to it:\n")
		b.WriteString(clipPatch(patch))
	}
	b.WriteString(feedbackForModel(a.verdict))
	return Result{ForModel: b.String(), ForUser: user, Changes: []FileChange{fc}, Record: rec}
}

// existing makes compute fail for a missing file.
func existing(compute computer) computer {
	return func(f workspace.File) (edit.Result, error) {
		if !f.Exists {
			return edit.Result{}, errMissing
		}
		return compute(f)
	}
}
