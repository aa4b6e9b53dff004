package tools

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/tools/args"
)

// listLimit is the number of entries that list_files returns.
const listLimit = 500

type listFilesArgs struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive"`
}

var listFilesFacts = Facts{Name: "list_files", Kind: KindSearch, Hook: "LS", Names: []string{"LS", "List"}, Mistaken: []string{"listdir", "listdirectory"}, Helper: true}

func listFiles(d Deps) Tool {
	params := []args.Param{
		{Name: "path", Kind: args.Text, Required: true},
		{Name: "recursive", Kind: args.Boolean, Doc: "honours .gitignore"},
	}
	r := reader{d, listFilesFacts.Name}
	return newTool(r.tool, params,
		func(a listFilesArgs) string { return "List " + a.Path },
		func(ctx context.Context, call Call, a listFilesArgs) (Result, error) {
			f, name, refused, err := r.folder(ctx, call, a.Path)
			if refused != nil {
				return *refused, nil
			}
			if err != nil {
				return r.unreadable(ctx, a.Path, err)
			}
			names, err := f.List(ctx, a.Recursive, listLimit)
			if err != nil {
				return r.unreadable(ctx, a.Path, err)
			}
			return Result{ForModel: namesText(name, names, "entry", "entries"), ForUser: namesUser(names, "entry", "entries")}, nil
		}).foresees(func(a listFilesArgs) []Foreseen { return r.foresee(a.Path) }).reads()
}
