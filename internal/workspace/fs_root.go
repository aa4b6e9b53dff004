package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
)

// subFS returns the folder rel of root.
func subFS(root *os.Root, rel string) (fs.FS, error) {
	if rel == "." {
		return root.FS(), nil
	}
	return fs.Sub(root.FS(), filepath.ToSlash(rel))
}
