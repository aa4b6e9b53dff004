package tools

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type writeFileArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

var writeFileFacts = Facts{Name: "write_file", Kind: KindEdit, Hook: "Write", Names: editNames, Keys: pathKeys, Mistaken: []string{"createfile"}}

func writeFile(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text, Required: true},
		{Name: "content", Kind: args.Text, Required: true},
	}
	w := d.writer(writeFileFacts.Name)
	return newTool(w.Tool, params,
		func(a writeFileArgs) string { return "Write " + a.Path },
		func(ctx context.Context, call Call, a writeFileArgs) (Result, error) {
			return w.Apply(ctx, call, a.part())
		}).foresees(func(a writeFileArgs) []Foreseen { return foreseen(w, a.part(), a.Content) })
}

func (a writeFileArgs) part() change.Part {
	return change.Part{Path: a.Path, Edit: func(f workspace.File) (edit.Result, error) {
		if !f.Exists {
			return edit.Result{Text: a.Content}, nil
		}
		return edit.Result{Text: edit.Whole(f.Text, a.Content, f.Format.EOL)}, nil
	}}
}
