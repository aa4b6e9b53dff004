package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
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
	w := d.writer(patchFacts.Name)
	return newTool(w.Tool, params, patchArgs.title,
		func(ctx context.Context, call Call, a patchArgs) (Result, error) {
			files, err := a.files()
			if err != nil {
				return toolcall.Failed("The diff is malformed, so nothing was changed: %w.", err), nil
			}
			parts := make([]change.Part, len(files))
			for i, f := range files {
				parts[i] = part(f)
			}
			return w.Apply(ctx, call, parts...)
		}).foresees(func(a patchArgs) (all []Foreseen) {
		files, err := a.files()
		if err != nil {
			return nil
		}
		for _, f := range files {
			all = append(all, foreseen(w, part(f), cmp.Or(f.Content, a.Diff))...)
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

// part returns the change of the file in one part of a patch.
func part(p edit.FilePatch) change.Part {
	out := change.Part{Path: p.Path, To: p.To}
	if p.Op == edit.Delete || p.To != "" && len(p.Patch.Hunks) == 0 {
		out.Err = misnamed(p, p.Path)
	} else {
		out.Edit = patched(p)
	}
	return out
}

// misnamed returns an error for a part that names another file than the one at name.
func misnamed(p edit.FilePatch, name string) error {
	if in := p.Patch.Name; in != "" && path.Base(in) != path.Base(name) {
		return fmt.Errorf("the diff is for %s: send one call for each file", in)
	}
	return nil
}

// patched computes the new text of one part of a patch.
func patched(p edit.FilePatch) change.Compute {
	return func(f workspace.File) (edit.Result, error) {
		switch err := misnamed(p, f.Name); {
		case err != nil:
			return edit.Result{}, err
		case (p.Op == edit.Add || p.Patch.Create) && f.Exists && f.Text != "":
			return edit.Result{}, errors.New("the diff creates the file, but it exists: read it and send a diff of its content")
		case p.Op == edit.Add:
			return edit.Result{Text: p.Content}, nil
		case !f.Exists && !p.Patch.Create && !p.Patch.Inserts():
			return edit.Result{}, change.ErrMissing
		}
		return p.Patch.Apply(f.Text, f.Format.EOL)
	}
}
