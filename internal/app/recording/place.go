package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// place is where a replay runs: a temporary copy of a folder.
type place struct {
	base   string
	folder string // the copy
	home   string // for the agent; it does not exist yet
}

// newPlace returns an empty place. remove deletes it.
func newPlace() (place, error) {
	base, err := os.MkdirTemp("", "agent-replay-")
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err != nil {
		return place{}, fmt.Errorf("make the folder of the replay: %w", err)
	}
	return place{base: base, folder: filepath.Join(base, "folder"), home: filepath.Join(base, "home")}, nil
}

// fill copies the folder dir.
func (p place) fill(dir string) error {
	if err := os.CopyFS(p.folder, os.DirFS(dir)); err != nil {
		return fmt.Errorf("copy %s: %w", dir, err)
	}
	return nil
}

// file returns the path of a file beside the copy with the name of path.
func (p place) file(path string) string { return filepath.Join(p.base, filepath.Base(path)) }

// hide returns text without the temporary path.
func (p place) hide(text string) string {
	return strings.ReplaceAll(text, p.base+string(filepath.Separator), "")
}

// remove deletes the copy.
func (p place) remove() error { return os.RemoveAll(p.base) }
