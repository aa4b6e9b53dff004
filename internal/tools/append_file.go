package tools

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type appendFileArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Newline *bool  `json:"newline"`
}

var appendFileFacts = Facts{Name: "append_file", Kind: KindEdit, Hook: "Edit", Names: editNames, Keys: pathKeys}

func appendFile(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text, Required: true},
		{Name: "content", Kind: args.Text, Required: true},
		{Name: "newline", Kind: args.Boolean, Doc: "default true: on lines of its own"},
	}
	w := d.writer(appendFileFacts.Name)
	return newTool(w.Tool, params,
		func(a appendFileArgs) string { return "Append to " + a.Path },
		func(ctx context.Context, call Call, a appendFileArgs) (Result, error) {
			return w.Apply(ctx, call, a.part())
		}).foresees(func(a appendFileArgs) []Foreseen { return foreseen(w, a.part(), a.Content) })
}

func (a appendFileArgs) part() change.Part {
	return change.Part{Path: a.Path, Edit: func(f workspace.File) (edit.Result, error) {
		return edit.Result{Text: edit.Append(f.Text, a.Content, f.Format.EOL, orDefault(a.Newline, true))}, nil
	}}
}
