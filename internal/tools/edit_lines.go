package tools

import (
	"context"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/change"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type editLinesArgs struct {
	Path       string `json:"path"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	NewContent string `json:"new_content"`
}

var editLinesFacts = Facts{Name: "edit_lines", Kind: KindEdit, Hook: "Edit", Names: editNames, Keys: pathKeys}

func editLines(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text, Required: true},
		{Name: "start_line", Kind: args.Integer, Required: true},
		{Name: "end_line", Kind: args.Integer, Required: true},
		{Name: "new_content", Kind: args.Text, Required: true},
	}
	w := d.writer(editLinesFacts.Name)
	return newTool(w.Tool, params,
		func(a editLinesArgs) string { return fmt.Sprintf("Edit %s:%d-%d", a.Path, a.StartLine, a.EndLine) },
		func(ctx context.Context, call Call, a editLinesArgs) (Result, error) {
			return w.Apply(ctx, call, a.part())
		}).foresees(func(a editLinesArgs) []Foreseen { return foreseen(w, a.part(), a.NewContent) })
}

func (a editLinesArgs) part() change.Part {
	return change.Part{Path: a.Path, Edit: change.Existing(func(f workspace.File) (edit.Result, error) {
		return edit.Lines(f.Text, a.StartLine, a.EndLine, a.NewContent, f.Format.EOL)
	})}
}
