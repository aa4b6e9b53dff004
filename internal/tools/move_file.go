package tools

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/change"
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
	w := d.writer(moveFileFacts.Name)
	return newTool(w.Tool, params,
		func(a moveFileArgs) string { return "Move " + a.Path + " to " + a.To },
		func(ctx context.Context, call Call, a moveFileArgs) (Result, error) {
			return w.Apply(ctx, call, change.Part{Path: a.Path, To: a.To, Waits: true})
		}).foresees(func(a moveFileArgs) []Foreseen { return foreseen(w, change.Part{Path: a.Path, To: a.To}, "") })
}
