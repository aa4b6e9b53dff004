package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Part is the change of one file that a tool proposes.
type Part struct {
	Path string
	To   string  // the path that the file moves to; "" if it stays
	Edit Compute // computes the new text; nil moves the file as it is or, without To, removes it
	Err  error   // why the file cannot be moved or removed; nil if it can
	// Waits means that pending changes which empty the place To are reviewed first.
	Waits bool
}

// Compute computes the new text of a file.
type Compute func(workspace.File) (edit.Result, error)

// Existing makes compute fail for a missing file.
func Existing(compute Compute) Compute {
	return func(f workspace.File) (edit.Result, error) {
		if !f.Exists {
			return edit.Result{}, ErrMissing
		}
		return compute(f)
	}
}

// blocked reports whether pending changes have emptied a place that p takes: another file cannot
// take it before they are reviewed.
func (w Writer) blocked(p Part) bool {
	from, _, err := w.Root.Resolve(p.Path)
	if err != nil || w.Pending.Len() == 0 {
		return false // the proposal explains an error
	}
	if p.Edit != nil && w.Pending.Leaves(from) {
		return true
	}
	to, _, err := w.Root.Resolve(p.To)
	return p.Waits && err == nil && w.Pending.Frees(to) && !w.Pending.Returns(from, to)
}

// propose computes a change. If nobody has to be asked about it, it returns a result that
// explains why.
func (w Writer) propose(ctx context.Context, p Part) (workspace.Change, edit.Result, *toolcall.Result) {
	if p.Edit != nil {
		return w.edit(ctx, p)
	}
	if p.Err != nil {
		return workspace.Change{}, edit.Result{}, refusal("%s: nothing was changed: %w", p.Path, p.Err)
	}
	c, refused := w.takes(ctx, p.Path)
	switch {
	case refused != nil:
	case p.To != "":
		refused = w.movesTo(ctx, &c, p)
	default:
		c.Delete, c.After, c.RawAfter = true, "", nil
	}
	return w.Pending.Onto(c), edit.Result{}, refused
}

// edit is propose of a new text.
func (w Writer) edit(ctx context.Context, p Part) (c workspace.Change, out edit.Result, refused *toolcall.Result) {
	var seen workspace.File // as the model knows it
	c, err := w.Root.Propose(p.Path, func(f workspace.File) (string, error) {
		var err error
		if seen = w.Pending.Over(f); seen.Raw != nil {
			return "", workspace.ErrNotText
		}
		out, err = p.Edit(seen)
		return out.Text, err
	})
	if err == nil && p.To != "" {
		if refused = w.movesTo(ctx, &c, p); refused != nil {
			return c, out, refused
		}
	}
	if err == nil {
		now := c
		now.File = seen
		refused = needless(now)
		c = w.Root.WithEncoding(w.Pending.Onto(c))
		_, err = c.Content() // a file that a pending change moved has another format than a new one
	}
	if err != nil {
		refused = unchanged(p.Path, err)
	}
	switch {
	case errors.Is(err, ErrMissing):
		refused = refusal("%s does not exist.%s Use write_file to create it.", p.Path, w.DidYouMean(p.Path))
	case refused != nil && w.Hides(p.Path):
		refused = refusal("%s", w.unexplained(p.Path))
	}
	return c, out, refused
}

// unexplained is the only answer to an edit of a file with keys that nobody was asked
// about: the reason would tell the model about the file's text.
func (w Writer) unexplained(path string) string {
	if _, name, err := w.Root.Resolve(path); err == nil {
		path = name // the same however the model spells it
	}
	return path + ": nothing was changed. The file may contain passwords or keys, so until the user lets you read it you are not told whether the edit does not fit the file, changes nothing in it or may not be made. Read it first: the user is asked."
}

// takes returns the file at path as a change that does nothing to it yet, for a removal or a
// move. It refuses a file with unsaved changes in the editor: they would be lost, or end up
// at the old place.
func (w Writer) takes(ctx context.Context, path string) (workspace.Change, *toolcall.Result) {
	abs, _, err := w.Root.Resolve(path)
	if err == nil {
		if refused := w.unsavedIn(ctx, abs, path); refused != nil {
			return workspace.Change{}, refused
		}
	}
	f, pending, err := w.Pending.Read(abs)
	if !pending {
		f, err = w.Root.Removable(path)
	}
	switch {
	case err == nil:
		return workspace.Change{File: f, After: f.Text, RawAfter: f.Raw}, nil
	case errors.Is(err, fs.ErrNotExist):
		return workspace.Change{}, refusal("%s does not exist.%s", path, w.DidYouMean(path))
	}
	if info, name, fsErr := w.Root.FS(path); fsErr == nil && info != nil {
		return workspace.Change{}, refusal("%s is a folder: nothing was changed. Only files are moved or deleted, each with a call of its own.", name)
	}
	return workspace.Change{}, unchanged(path, err)
}

// movesTo makes c a move to the path of p, at which nothing is.
func (w Writer) movesTo(ctx context.Context, c *workspace.Change, p Part) *toolcall.Result {
	abs, name, err := w.Root.Resolve(p.To)
	if err == nil {
		if refused := w.unsavedIn(ctx, abs, p.To); refused != nil {
			return refused
		}
	}
	if w.Pending.Returns(c.Path, abs) {
		c.To, c.ToName = abs, name
		return nil
	}
	c.To, c.ToName, err = w.Root.Place(c.Path, p.To)
	if w.Pending.Frees(abs) {
		err = fmt.Errorf("%s is on the disk until the user approves the pending change that removes it: move_file has that reviewed first", name)
	}
	if f, ok, _ := w.Pending.Read(c.To); err == nil && ok && f.Exists {
		err = errors.New(c.ToName + " is created by a pending change")
	}
	if err == nil && !w.Pending.Has(c.Path) {
		_, err = w.Root.Removable(p.Path)
	}
	if err != nil {
		return refusal("%s: nothing was changed: it cannot be moved to %s: %w", p.Path, p.To, err)
	}
	return nil
}

// unsavedIn refuses a file with unsaved changes in the editor.
func (w Writer) unsavedIn(ctx context.Context, abs, path string) *toolcall.Result {
	if w.Buffers == nil {
		return nil
	}
	in, unsaved := w.Buffers.Unsaved(ctx, abs)
	if !unsaved {
		return nil
	}
	return refusal("%s has unsaved changes in %s, so nothing was changed. The user has to save or discard them first.", path, in)
}

// saveUnsaved saves a file with unsaved changes in the editor if the user agrees: a new text
// must be based on the newest one. If the edit cannot go on, it returns a result with the
// reason.
func (w Writer) saveUnsaved(ctx context.Context, call toolcall.Call, p Part) (*toolcall.Result, error) {
	if w.Buffers == nil || p.Edit == nil {
		return nil, nil
	}
	abs, name, err := w.Root.Resolve(p.Path)
	in, unsaved := "", false
	if err == nil { // on an error, the proposal explains it
		in, unsaved = w.Buffers.Unsaved(ctx, abs)
	}
	if !unsaved {
		return nil, nil
	}
	verdict, err := w.Ask.Ask(ctx, confirm.Request{
		Tool: w.Tool, Description: call.Description, Batch: call.Batch, Force: true,
		Subject: &confirm.Save{Path: abs, Name: name, Editor: in},
	})
	if err != nil {
		return nil, toolcall.UnansweredError{Err: err}
	}
	if verdict.Decision != confirm.Approve {
		res := toolcall.Declined(w.Tool, "edit", nothingChanged, verdict)
		res.ForModel = name + " has unsaved changes in the user's editor, so it cannot be edited. " + res.ForModel
		return &res, nil
	}
	if err := w.Buffers.Save(ctx, abs); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return refusal("%s has unsaved changes in the user's editor, which could not be saved (%w): nothing was changed.", name, err), nil
	}
	return nil, nil
}

// needless returns a result for a change that nobody has to be asked about, or nil: one
// that changes nothing, or that leaves code out.
func needless(c workspace.Change) *toolcall.Result {
	if c.Needless() {
		return &toolcall.Result{ForModel: c.Name + " already holds exactly this: nothing was changed.", ForUser: "no change"}
	}
	switch strings.ToLower(filepath.Ext(c.Path)) {
	case ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc": // they quote such lines
		return nil
	}
	if l := edit.Placeholder(c.Text, c.After); c.Exists && l != "" {
		return refusal("%s: nothing was changed: the new text has %q in place of code. Send the code itself.", c.Name, l)
	}
	return nil
}

// refusal returns the result of a proposal that nobody is asked about; see toolcall.Failed.
func refusal(format string, args ...any) *toolcall.Result {
	res := toolcall.Failed(format, args...)
	return &res
}

// unchanged reports that a proposal for the file at path failed, and names the file once.
func unchanged(path string, err error) *toolcall.Result {
	if rest, named := strings.CutPrefix(err.Error(), path); named && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, ": ")) {
		return refusal("%w; nothing was changed", err)
	}
	return refusal("%s: nothing was changed: %w", path, err)
}

// Foresee returns the question that the change of a file would ask if it applies; ok is false
// for none. added is the text that it adds, or all of the new text.
func (w Writer) Foresee(p Part, added string) (req confirm.Request, ok bool) {
	abs, name, err := w.Root.Resolve(p.Path)
	if err != nil {
		return req, false // refused without a question
	}
	_, err = os.Stat(abs)
	c := workspace.Change{File: workspace.File{Path: abs, Name: name, Exists: err == nil}, After: added, Delete: p.Edit == nil && p.To == ""}
	if p.To != "" {
		c.To, c.ToName, _ = w.Root.Resolve(p.To)
	}
	req, _ = w.one(toolcall.Call{}, c, edit.Result{}).request()
	return req, true
}
