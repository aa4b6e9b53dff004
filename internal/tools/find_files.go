package tools

import (
	"context"

	"github.com/bb2d0cf4/agent/internal/tools/args"
)

// findLimit is the number of files that find_files returns.
const findLimit = 200

type findFilesArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

var findFilesFacts = Facts{Name: "find_files", Kind: KindSearch, Hook: "Glob", Names: []string{"Glob"}, Helper: true}

func findFiles(d Deps) Tool {
	params := []args.Param{
		{Name: "pattern", Kind: args.Text, Doc: "such as cmd/**/*_test.go", Required: true},
		{Name: "path", Kind: args.Text},
	}
	r := reader{d, findFilesFacts.Name}
	return newTool(r.tool, params,
		func(a findFilesArgs) string { return "Find " + a.Pattern + withPath("in", a.Path) },
		func(ctx context.Context, call Call, a findFilesArgs) (Result, error) {
			f, name, refused, err := r.folder(ctx, call, a.Path)
			if refused != nil {
				return *refused, nil
			}
			if err != nil {
				return r.unreadable(ctx, a.Path, err)
			}
			names, err := f.Find(ctx, a.Pattern, findLimit)
			if err != nil {
				return r.unreadable(ctx, a.Path, err)
			}
			return Result{ForModel: namesText(name, names, "file", "files"), ForUser: namesUser(names, "file", "files")}, nil
		}).foresees(func(a findFilesArgs) []Foreseen { return r.foresee(a.Path) }).reads()
}
