package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type moveFileArgs struct {
	Path string `json:"path"`
	To   string `json:"to"`
}

var moveFileFacts = Facts{Name: "move_file", Kind: KindMove, Names: editNames, Keys: pathKeys, Mistaken: []string{"renamefile"}}

func moveFile(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text, Required: true},
		{Name: "to", Kind: args.Text, Required: true},
	}
	w := writer{d, moveFileFacts.Name}
	return newTool(w.tool, params,
		func(a moveFileArgs) string { return "Move " + a.Path + " to " + a.To },
		func(ctx context.Context, call Call, a moveFileArgs) (Result, error) {
			from, _, _ := w.Root.Resolve(a.Path) // the proposal explains an error
			settled, err := w.vacate(ctx, call, a.To, func(to string) bool { return w.Pending.Frees(to) && !w.Pending.Returns(from, to) })
			if err != nil || settled.forbids() {
				return settled.orNone(), err
			}
			res, err := w.changeUnread(ctx, call, func(ctx context.Context) (workspace.Change, edit.Result, *Result) { return w.move(ctx, a.Path, a.To) })
			res.after(settled)
			return res, err
		}).foresees(func(a moveFileArgs) []Foreseen { return w.foreseeTo(w.foresee(a.Path, "", false), a.To) })
}

// foreseeTo returns the questions as those about moves; to is empty for none.
func (w writer) foreseeTo(all []Foreseen, to string) []Foreseen {
	for i := range all {
		if c := all[i].Request.File(); to != "" {
			c.To, c.ToName, _ = w.Root.Resolve(to)
			all[i].Request = w.request(Call{}, *c, edit.Exact)
		}
	}
	return all
}

// changeUnread has the removal or the move of a file reviewed, and carries it out.
func (w writer) changeUnread(ctx context.Context, call Call, propose proposal) (Result, error) {
	change, out, refused := propose(ctx)
	if refused != nil {
		return *refused, nil
	}
	return w.review(ctx, call, change, out)
}

// removal proposes to delete the file at path.
func (w writer) removal(ctx context.Context, path string) (workspace.Change, edit.Result, *Result) {
	change, refused := w.takes(ctx, path)
	change.Delete, change.After, change.RawAfter = true, "", nil
	return w.Pending.Onto(change), edit.Result{Delete: true}, refused
}

// move proposes to move the file at path.
func (w writer) move(ctx context.Context, path, to string) (workspace.Change, edit.Result, *Result) {
	change, refused := w.takes(ctx, path)
	if refused == nil {
		refused = w.movesTo(ctx, &change, path, to)
	}
	return w.Pending.Onto(change), edit.Result{}, refused
}

// takes returns the file at path as a change that does nothing to it yet, for a removal or a
// move. It refuses a file with unsaved changes in the editor: they would be lost, or end up
// at the old place.
func (w writer) takes(ctx context.Context, path string) (workspace.Change, *Result) {
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
		res := failed("%s does not exist.%s", path, didYouMean(w.Root, path))
		return workspace.Change{}, &res
	}
	if info, name, fsErr := w.Root.FS(path); fsErr == nil && info != nil {
		res := failed("%s is a folder: nothing was changed. Only files are moved or deleted, each with a call of its own.", name)
		return workspace.Change{}, &res
	}
	res := unchanged(path, err)
	return workspace.Change{}, &res
}

// movesTo makes c, a change of the file at path, a move to a path at which nothing is.
func (w writer) movesTo(ctx context.Context, c *workspace.Change, path, to string) *Result {
	abs, name, err := w.Root.Resolve(to)
	if err == nil {
		if refused := w.unsavedIn(ctx, abs, to); refused != nil {
			return refused
		}
	}
	if w.Pending.Returns(c.Path, abs) {
		c.To, c.ToName = abs, name
		return nil
	}
	c.To, c.ToName, err = w.Root.Vacant(to)
	if w.Pending.Frees(abs) {
		err = fmt.Errorf("%s is on the disk until the user approves the pending change that removes it: move_file has that reviewed first", name)
	}
	if f, ok, _ := w.Pending.Read(abs); err == nil && ok && f.Exists {
		err = errors.New(c.ToName + " is created by a pending change")
	}
	if err == nil && !w.Pending.Has(c.Path) {
		_, err = w.Root.Removable(path)
	}
	if err != nil {
		res := failed("%s: nothing was changed: it cannot be moved to %s: %w", path, to, err)
		return &res
	}
	return nil
}

// unsavedIn refuses a file with unsaved changes in the editor.
func (w writer) unsavedIn(ctx context.Context, abs, path string) *Result {
	if w.Buffers == nil {
		return nil
	}
	in, unsaved := w.Buffers.Unsaved(ctx, abs)
	if !unsaved {
		return nil
	}
	res := failed("%s has unsaved changes in %s, so nothing was changed. The user has to save or discard them first.", path, in)
	return &res
}
