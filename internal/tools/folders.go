package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/tools/search"
)

// folder opens the folder at path for the tools that search it; an empty path
// is the main folder. name is its name for the model.
func (r reader) folder(ctx context.Context, call Call, path string) (f search.Folder, name string, refused *Result, err error) {
	if path == "" {
		path = "."
	}
	refused, err = r.allowed(ctx, call, path, func() (err error) {
		f.FS, name, err = r.Root.FS(path)
		return err
	})
	if refused != nil || err != nil {
		return f, name, refused, err
	}
	f.Abs, _, _ = r.Root.Resolve(path) // it resolves: FS has just opened it
	f.Root = f.Abs
	for _, root := range r.Root.Roots() {
		if rel, err := filepath.Rel(root, f.Abs); err == nil && filepath.IsLocal(rel) {
			f.Root = root
			break
		}
	}
	return f, name, nil, nil
}

// namesText writes names, each under the folder's, and what was left out.
func namesText(folder string, n search.Names, one, many string) string {
	if len(n.Names) == 0 {
		return "No " + many + "." + partialText(n)
	}
	var b strings.Builder
	for _, name := range n.Names {
		b.WriteString(under(folder, name) + "\n")
	}
	if len(n.Names) < n.Total {
		fmt.Fprintf(&b, "truncated: %d of %d %s shown", len(n.Names), n.Total, many)
	} else {
		b.WriteString(search.Count(n.Total, one, many))
	}
	return b.String() + partialText(n)
}

func partialText(n search.Names) string {
	if n.Partial {
		return " (the folder is too large: not all of it was looked at)"
	}
	return ""
}

// namesUser sums up names for the user.
func namesUser(n search.Names, one, many string) string {
	if len(n.Names) < n.Total {
		return fmt.Sprintf("%d of %s", len(n.Names), search.Count(n.Total, one, many))
	}
	return search.Count(n.Total, one, many)
}
