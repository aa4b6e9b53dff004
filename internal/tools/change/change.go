// Package change takes proposals to the disk: it asks about a set of changes of files, one or
// several, writes the approved ones together, and reports to the model. It guarantees that only
// approved bytes are written, and that a set merged with later changes is a new question.
package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/tools/access"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/pending"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Deps holds the dependencies of proposals.
type Deps struct {
	access.Files
	Ask Asker
	// Buffers and Writes belong to the connected editor; nil if the program supports none.
	Buffers Buffers
	Writes  Writes
	// Diagnose, if not nil, asks the editor about a file before an edit; since describes its
	// report after the edit for the model.
	Diagnose func(ctx context.Context, path string) (since func(context.Context) string)
	// Pending gathers the changes that a person would be asked about, for one review (see
	// Writer.Settle); with nil each is asked about at once.
	Pending *pending.Changes
	// Settled is called after a review has written pending changes, and may add to its
	// result; nil for nothing.
	Settled func(ctx context.Context, call toolcall.Call, res *toolcall.Result)
	// Check returns the check for changes that are about to be asked about; nil for none.
	Check func(...workspace.Change) *confirm.Check
	// Session returns the id of the current session, which groups changes for undo.
	Session func() string
}

// Asker decides whether something may be done. In the program it is app.asker, which
// calls confirm.Controller.
type Asker interface {
	Ask(ctx context.Context, req confirm.Request) (confirm.Verdict, error)
}

// Buffers gives access to the unsaved changes in the connected editor.
type Buffers interface {
	// Unsaved reports whether the editor holds changes of the file at the absolute path
	// that are not on disk, and returns the editor's name.
	Unsaved(ctx context.Context, path string) (name string, unsaved bool)
	Save(ctx context.Context, path string) error
}

// Writes watches the files that the tools have written.
type Writes interface {
	// Wrote records a write.
	Wrote(ctx context.Context, done editor.Write)
	// Lost explains why the file at the absolute path, which now holds text, may have
	// lost the last write; "" if nothing suggests that.
	Lost(path, text string) string
}

// Writer takes the proposals of a tool to the disk.
type Writer struct {
	Deps
	Tool  string
	Title string // of a question about several files; "" for a patch
	// Why is the question that a person answers about the change, in every mode; "" for the usual one.
	Why string
}

// Set is a set of changes that is ready to be asked about.
type Set struct {
	Title   string // for the reviewer
	Changes []workspace.Change
	Notes   []caution.Note
	Force   bool // a person has to look, see confirm.Request
}

// Propose asks one question about a set of changes, unless rules answer for each, writes the approved
// ones, all or none, and reports to the model. It ignores changes that change nothing. If changes are
// gathered, those that no rule decides are gathered too.
func (w Writer) Propose(ctx context.Context, call toolcall.Call, s Set) (toolcall.Result, error) {
	if w.Pending != nil {
		return w.gather(ctx, call, s.Changes)
	}
	r := w.list(call, s.Title)
	r.notes, r.force, r.free = s.Notes, s.Force, len(s.Notes) == 0 && !s.Force
	for _, c := range s.Changes {
		if res, err := r.add(ctx, c, edit.Result{}); res != nil || err != nil {
			return res.OrNone(), err
		}
	}
	return r.result(ctx)
}

// gather has each change gathered, unless a rule decides it.
func (w Writer) gather(ctx context.Context, call toolcall.Call, changes []workspace.Change) (toolcall.Result, error) {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Name
	}
	out, err := inOrder(names, func(i int) (toolcall.Result, error) {
		return w.one(call, w.Pending.Onto(changes[i]), edit.Result{}).result(ctx)
	})
	if err == nil && !out.Failed {
		out.ForUser = plural.Of(len(changes), "file") + " changed · waits for your review"
	}
	return out, err
}

// list returns the review of a list of changes that add fills.
func (w Writer) list(call toolcall.Call, title string) *review {
	w.Pending = &pending.Changes{}
	return &review{Writer: w, call: call, title: title, set: w.Pending, free: true}
}

// add adds a change, unless a rule refuses it: then it returns the result.
func (r *review) add(ctx context.Context, c workspace.Change, out edit.Result) (*toolcall.Result, error) {
	one := r.one(r.call, c, out)
	req, edits := one.request()
	req.Later = one.gathers(edits)
	v, err := r.Ask.Ask(ctx, req)
	switch {
	case err != nil:
		return nil, toolcall.UnansweredError{Err: err}
	case v.Decision != confirm.Approve && v.Later == nil:
		res := one.declined(approval{edits: edits, verdict: v})
		res.ForModel = c.Name + ": " + res.ForModel + "\nNo part of the patch was written."
		return res, nil
	}
	r.free = r.free && v.Later == nil
	r.set.Stage(c, out.Stage, r.call.ID)
	return nil, nil
}

// Apply has the parts of a proposal reviewed, writes them and reports to the model. Several are
// one question, all or none. If one of them cannot be computed, nothing is asked; but whether
// the part for a file with keys fits that file must not show before a person agrees to read it:
// with one, there is a question for each file, in order.
func (w Writer) Apply(ctx context.Context, call toolcall.Call, parts ...Part) (toolcall.Result, error) {
	if len(parts) == 1 {
		return w.apply(ctx, call, parts[0])
	}
	var faults []string
	hidden := false
	for _, p := range parts {
		if res, err := w.saveUnsaved(ctx, call, p); res != nil || err != nil {
			return res.OrNone(), err
		}
	}
	for _, p := range parts {
		hides := w.Hides(p.Path)
		hidden = hidden || hides
		if _, _, refused := w.propose(ctx, p); refused != nil && refused.Failed && !hides {
			faults = append(faults, refused.ForModel)
		}
	}
	switch {
	case len(faults) > 0:
		return toolcall.Failed("%d of %d files cannot be patched, so nothing was changed in any.\n%s", len(faults), len(parts), strings.Join(faults, "\n")), nil
	case w.Pending == nil && !hidden:
		return w.together(ctx, call, parts)
	}
	return w.each(ctx, call, parts)
}

// apply is Apply of one part.
func (w Writer) apply(ctx context.Context, call toolcall.Call, p Part) (toolcall.Result, error) {
	if res, err := w.saveUnsaved(ctx, call, p); res != nil || err != nil {
		return res.OrNone(), err
	}
	return w.settleFirst(ctx, call, w.blocked(p), func() (toolcall.Result, error) {
		c, out, refused := w.propose(ctx, p)
		if refused != nil {
			return *refused, nil
		}
		return w.one(call, c, out).result(ctx)
	})
}

// together asks one question about all parts, unless rules answer for each.
func (w Writer) together(ctx context.Context, call toolcall.Call, parts []Part) (toolcall.Result, error) {
	r := w.list(call, cmp.Or(w.Title, "one patch"))
	for _, p := range parts {
		c, out, refused := r.propose(ctx, p)
		if refused != nil {
			continue // already as it is to be: the others have no fault
		}
		if res, err := r.add(ctx, c, out); res != nil || err != nil {
			return res.OrNone(), err
		}
	}
	return r.result(ctx)
}

// each changes the files in order, with a question for each.
func (w Writer) each(ctx context.Context, call toolcall.Call, parts []Part) (toolcall.Result, error) {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.Path
	}
	return inOrder(names, func(i int) (toolcall.Result, error) { return w.apply(ctx, call, parts[i]) })
}

// inOrder has files changed one after the other, until one fails, and joins the results.
func inOrder(names []string, change func(i int) (toolcall.Result, error)) (out toolcall.Result, err error) {
	var model, words []string
	added, removed := 0, 0
	user := ""
	for i, name := range names {
		res, err := change(i)
		switch {
		case err != nil && i == 0:
			return toolcall.Result{}, err
		case err != nil:
			res = toolcall.Failed("%s: nothing was changed: %w.", name, err)
			res.Stop = true
		}
		model, out.Changes = append(model, res.ForModel), append(out.Changes, res.Changes...)
		if res.Record.Words != "" {
			words = append(words, res.Record.Words)
		}
		for _, c := range res.Changes {
			added, removed = added+c.Added, removed+c.Removed
		}
		if !res.Failed {
			continue
		}
		out.Failed, out.Denied, out.Stop = true, res.Denied, res.Stop
		user = "; " + name + ": " + res.ForUser
		if rest := names[i+1:]; len(rest) > 0 {
			model = append(model, "Not tried, and unchanged: "+strings.Join(rest, ", ")+".")
		}
		break
	}
	out.ForUser = fmt.Sprintf("%d of %d files, +%d −%d", len(out.Changes), len(names), added, removed) + user
	out.ForModel, out.Record.Words = strings.Join(model, "\n"), strings.Join(words, "\n")
	return out, nil
}

// ErrMissing is returned by a Compute that needs an existing file.
var ErrMissing = errors.New("there is no such file")
