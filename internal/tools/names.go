package tools

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/tools/search"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// didYouMean returns a sentence with files of similar names in the folder of a missing
// file, or "".
func didYouMean(root *workspace.Root, path string) string {
	fsys, name, err := root.FS(filepath.Dir(path))
	if err != nil {
		return ""
	}
	list, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return ""
	}
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = d.Name()
	}
	near := nearest.Alike(filepath.Base(path), names, 3)
	if len(near) == 0 {
		return ""
	}
	for i, n := range near {
		near[i] = under(name, n)
	}
	return " Did you mean " + strings.Join(near, ", ") + "?"
}

// under returns the name of something in the folder with the given name.
func under(folder, name string) string {
	switch {
	case folder == "." || folder == "":
		return name
	case strings.HasSuffix(folder, "/"):
		return folder + name
	}
	return folder + "/" + name
}

// namesText formats names below their folder's name, with a note on omissions.
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
		return fmt.Sprintf(" (the list is incomplete: the folder has more than %d files and folders)", search.MaxWalk)
	}
	return ""
}

// namesUser summarizes names for the user.
func namesUser(n search.Names, one, many string) string {
	if len(n.Names) < n.Total {
		return fmt.Sprintf("%d of %s", len(n.Names), search.Count(n.Total, one, many))
	}
	return search.Count(n.Total, one, many)
}
