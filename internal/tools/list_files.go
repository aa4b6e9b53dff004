package tools

import "context"

// listLimit is the number of entries that list_files returns.
const listLimit = 500

type listFilesArgs struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive"`
}

func listFiles(d Deps) Tool {
	params := []param{
		{name: "path", kind: text, required: true},
		{name: "recursive", kind: boolean, doc: "honours .gitignore"},
	}
	r := reader{d, "list_files"}
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
			return Result{ForModel: namesText(name, names, "entries"), ForUser: namesUser(names, "entry", "entries")}, nil
		})
}
