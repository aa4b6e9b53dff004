package tools

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type patchArgs struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
}

func patchFile(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text, Required: true},
		{Name: "diff", Kind: args.Text, Required: true},
	}
	w := writer{d, "patch"}
	return newTool(w.tool, params,
		func(a patchArgs) string { return "Patch " + a.Path },
		func(ctx context.Context, call Call, a patchArgs) (Result, error) {
			p, err := edit.ParsePatch(a.Diff)
			if err != nil {
				return failed("The diff is malformed, so nothing was changed: %w.", err), nil
			}
			return w.apply(ctx, call, a.Path, func(f workspace.File) (edit.Result, error) { return applyPatch(p, f) })
		})
}

func applyPatch(p edit.Patch, f workspace.File) (edit.Result, error) {
	switch {
	case p.Create && f.Exists && f.Text != "":
		return edit.Result{}, errors.New("the diff creates the file, but it exists: read it and send a diff of its content")
	case p.Name != "" && path.Base(p.Name) != path.Base(f.Name):
		return edit.Result{}, fmt.Errorf("the diff is for %s: send one call for each file", p.Name)
	case !f.Exists && !p.Create && !p.Inserts():
		return edit.Result{}, errMissing
	}
	return p.Apply(f.Text, f.Format.EOL)
}
