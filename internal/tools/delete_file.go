package tools

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

type deleteFileArgs struct {
	Path string `json:"path"`
}

var deleteFileFacts = Facts{Name: "delete_file", Kind: KindDelete, Names: editNames, Keys: pathKeys, Mistaken: []string{"removefile"}}

func deleteFile(d Deps) Tool {
	w := writer{d, deleteFileFacts.Name}
	return newTool(w.tool, []args.Param{{Name: "path", Kind: args.Text, Required: true}},
		func(a deleteFileArgs) string { return "Delete " + a.Path },
		func(ctx context.Context, call Call, a deleteFileArgs) (Result, error) {
			return w.changeUnread(ctx, call, func(ctx context.Context) (workspace.Change, edit.Result, *Result) { return w.removal(ctx, a.Path) })
		}).foresees(func(a deleteFileArgs) []Foreseen { return w.foresee(a.Path, "", true) })
}
