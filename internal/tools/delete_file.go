package tools

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/change"
)

type deleteFileArgs struct {
	Path string `json:"path"`
}

var deleteFileFacts = Facts{Name: "delete_file", Kind: KindDelete, Names: editNames, Keys: pathKeys, Mistaken: []string{"removefile"}}

func deleteFile(d Deps) Tool {
	w := d.writer(deleteFileFacts.Name)
	return newTool(w.Tool, []args.Param{{Name: "path", Kind: args.Text, Required: true}},
		func(a deleteFileArgs) string { return "Delete " + a.Path },
		func(ctx context.Context, call Call, a deleteFileArgs) (Result, error) {
			return w.Apply(ctx, call, change.Part{Path: a.Path})
		}).foresees(func(a deleteFileArgs) []Foreseen { return foreseen(w, change.Part{Path: a.Path}, "") })
}
