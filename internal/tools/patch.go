package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/pending"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type patchArgs struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
}

// applyPatchFacts is patch by the name of the agents for which some models were trained: they
// call it whatever they are offered.
var applyPatchFacts = Facts{Name: "apply_patch", Kind: KindEdit, Hook: "Edit", Names: editNames, Keys: pathKeys}

var patchFacts = Facts{Name: "patch", Kind: KindEdit, Hook: "Edit", Names: editNames, Keys: pathKeys}

func patchFile(d Deps) Tool {
	params := []args.Param{
		{Name: "diff", Kind: args.Text, Required: true},
		{Name: "path", Kind: args.Text},
	}
	w := writer{d, patchFacts.Name}
	return newTool(w.tool, params, patchArgs.title,
		func(ctx context.Context, call Call, a patchArgs) (Result, error) {
			files, err := a.files()
			if err != nil {
				return failed("The diff is malformed, so nothing was changed: %w.", err), nil
			}
			return w.patch(ctx, call, files)
		}).foresees(func(a patchArgs) (all []Foreseen) {
		files, err := a.files()
		if err != nil {
			return nil
		}
		for _, f := range files {
			asks := w.foresee(f.Path, cmp.Or(f.Content, a.Diff), f.Op == edit.Delete)
			all = append(all, w.foreseeTo(asks, f.To)...)
		}
		return all
	})
}

// title names the files of a patch.
func (a patchArgs) title() string {
	files, err := a.files()
	if err != nil {
		return strings.TrimSpace("Patch " + a.Path)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	return "Patch " + strings.Join(names, ", ")
}

// files returns the parts of the patch, each with the path of a file.
func (a patchArgs) files() ([]edit.FilePatch, error) {
	files, err := edit.ParseFiles(a.Diff)
	if err != nil {
		return files, err
	}
	for i := range files {
		f := &files[i]
		if len(files) == 1 {
			f.Patch.Name = f.Path
		}
		if a.Path != "" && (len(files) == 1 || f.Path == "") {
			f.Path = a.Path
		}
		if f.Path == "" {
			return nil, errors.New("it names no file: send its path as well")
		}
	}
	return files, nil
}

// patch changes the files of a patch together, with one question. If one of them cannot be
// computed, it asks nothing; but whether the part for a file with keys fits that file must
// not show before a person agrees to read it: with one, there is a question for each file,
// in order.
func (w writer) patch(ctx context.Context, call Call, files []edit.FilePatch) (Result, error) {
	if len(files) == 1 {
		return w.carryOut(ctx, call, files[0].Path, w.part(files[0]))
	}
	for _, f := range files {
		if res, err := w.saveUnsaved(ctx, call, f.Path); err != nil {
			return Result{}, err
		} else if res != nil {
			return *res, nil
		}
	}
	var faults []string
	for _, f := range files {
		if _, _, refused := w.part(f)(ctx); refused != nil && refused.Failed && !w.hides(f.Path) {
			faults = append(faults, refused.ForModel)
		}
	}
	if len(faults) > 0 {
		return failed("%d of %d files cannot be patched, so nothing was changed in any.\n%s", len(faults), len(files), strings.Join(faults, "\n")), nil
	}
	if w.Pending == nil && !slices.ContainsFunc(files, func(f edit.FilePatch) bool { return w.hides(f.Path) }) {
		return w.patchTogether(ctx, call, files)
	}
	return w.patchEach(ctx, call, files)
}

// patchTogether asks one question about all files, unless rules answer for each, and writes
// all or none.
func (w writer) patchTogether(ctx context.Context, call Call, files []edit.FilePatch) (Result, error) {
	w.Pending = &pending.Changes{}
	free := true
	for _, f := range files {
		change, out, refused := w.part(f)(ctx)
		if refused != nil {
			continue // already as it is to be: the others have no fault
		}
		req := w.request(call, change, out.Stage)
		req.Later = w.gathers(change)
		v, err := w.Ask.Ask(ctx, req)
		if err != nil {
			return Result{}, UnansweredError{err}
		}
		if v.Decision != confirm.Approve && v.Later == nil {
			res := w.unapproved(change, out, v)
			res.ForModel = change.Name + ": " + res.ForModel + "\nNothing of the patch was written."
			return res, nil
		}
		free = free && v.Later == nil
		w.Pending.Stage(change, out.Stage, call.ID)
	}
	free = free && makesGit(w.Pending.All()) == ""
	s := settler{Deps: w.Deps, call: call, tool: w.tool, title: "one patch", free: free}
	res, err := s.settle(ctx)
	if res == nil && err == nil {
		res = &Result{ForModel: "The files already hold exactly this: nothing was changed.", ForUser: "no change"}
	}
	if err != nil {
		return Result{}, err
	}
	return *res, nil
}

// patchEach changes the files in order, with a question for each.
func (w writer) patchEach(ctx context.Context, call Call, files []edit.FilePatch) (Result, error) {
	var done results
	for i, f := range files {
		res, err := w.carryOut(ctx, call, f.Path, w.part(f))
		switch {
		case err != nil && i == 0:
			return Result{}, err
		case err != nil:
			res = failed("%s: nothing was changed: %w.", f.Path, err)
			res.Stop = true
		}
		done = append(done, res)
		if res.Failed {
			break
		}
	}
	return done.join(files), nil
}

// part returns the proposal of one part of a patch.
func (w writer) part(p edit.FilePatch) proposal {
	return func(ctx context.Context) (workspace.Change, edit.Result, *Result) {
		whole := p.Op == edit.Delete || p.To != "" && len(p.Patch.Hunks) == 0
		switch err := misnamed(p, p.Path); {
		case whole && err != nil:
			res := failed("%s: nothing was changed: %w", p.Path, err)
			return workspace.Change{}, edit.Result{}, &res
		case p.Op == edit.Delete:
			return w.removal(ctx, p.Path)
		case whole:
			return w.move(ctx, p.Path, p.To)
		}
		return w.propose(ctx, p.Path, patched(p))
	}
}

// misnamed returns an error for a part that names another file than the one at name.
func misnamed(p edit.FilePatch, name string) error {
	if in := p.Patch.Name; in != "" && path.Base(in) != path.Base(name) {
		return fmt.Errorf("the diff is for %s: send one call for each file", in)
	}
	return nil
}

// patched returns the computer for one part of a patch.
func patched(p edit.FilePatch) computer {
	return func(f workspace.File) (edit.Result, error) {
		switch err := misnamed(p, f.Name); {
		case err != nil:
			return edit.Result{}, err
		case (p.Op == edit.Add || p.Patch.Create) && f.Exists && f.Text != "":
			return edit.Result{}, errors.New("the diff creates the file, but it exists: read it and send a diff of its content")
		case p.Op == edit.Add:
			return edit.Result{Text: p.Content}, nil
		case !f.Exists && !p.Patch.Create && !p.Patch.Inserts():
			return edit.Result{}, errMissing
		}
		out, err := p.Patch.Apply(f.Text, f.Format.EOL)
		out.To = p.To
		return out, err
	}
}

// results are those of the files of one patch, in order. Only the last one may have
// failed.
type results []Result

// join returns the result of a patch of files.
func (r results) join(files []edit.FilePatch) Result {
	last := r[len(r)-1]
	out := Result{Failed: last.Failed, Denied: last.Denied, Stop: last.Stop}
	var model, words []string
	added, removed, written := 0, 0, 0
	for _, res := range r {
		model = append(model, res.ForModel)
		out.Changes = append(out.Changes, res.Changes...)
		if res.Record.Words != "" {
			words = append(words, res.Record.Words)
		}
		for _, c := range res.Changes {
			written, added, removed = written+1, added+c.Added, removed+c.Removed
		}
	}
	out.ForUser = fmt.Sprintf("%d of %d files, +%d −%d", written, len(files), added, removed)
	if last.Failed {
		out.ForUser += "; " + files[len(r)-1].Path + ": " + last.ForUser
	}
	var rest []string
	for _, f := range files[len(r):] {
		rest = append(rest, f.Path)
	}
	if len(rest) > 0 {
		model = append(model, "Not tried, and unchanged: "+strings.Join(rest, ", ")+".")
	}
	out.ForModel = strings.Join(model, "\n")
	out.Record.Words = strings.Join(words, "\n")
	return out
}
