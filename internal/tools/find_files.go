package tools

import "context"

// findLimit is the number of files that find_files returns.
const findLimit = 200

type findFilesArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

func findFiles(d Deps) Tool {
	params := []param{
		{name: "pattern", kind: text, doc: "such as *.go or cmd/**/*_test.go", required: true},
		{name: "path", kind: text, doc: "folder"},
	}
	r := reader{d, "find_files"}
	return newTool(r.tool, params,
		func(a findFilesArgs) string { return "Find " + a.Pattern + inFolder(a.Path) },
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
			return Result{ForModel: namesText(name, names, "files"), ForUser: namesUser(names, "file", "files")}, nil
		})
}

func inFolder(path string) string {
	if path == "" || path == "." {
		return ""
	}
	return " in " + path
}
