package access

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/nearest"
)

// DidYouMean returns a sentence with files of similar names in the folder of a missing
// file, or "".
func (f Files) DidYouMean(path string) string {
	fsys, name, err := f.Root.FS(filepath.Dir(path))
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
		near[i] = Under(name, n)
	}
	return " Did you mean " + strings.Join(near, ", ") + "?"
}

// Under returns the name of something in the folder with the given name.
func Under(folder, name string) string {
	switch {
	case folder == "." || folder == "":
		return name
	case strings.HasSuffix(folder, "/"):
		return folder + name
	}
	return folder + "/" + name
}
