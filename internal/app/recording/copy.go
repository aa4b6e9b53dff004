package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Copy is a temporary copy of a folder, for a replay.
type Copy struct {
	base   string
	Folder string // the copy
	Home   string // for the agent; it does not exist yet
}

// NewCopy returns an empty place for a copy. Remove deletes it.
func NewCopy() (Copy, error) {
	base, err := os.MkdirTemp("", "agent-replay-")
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err != nil {
		return Copy{}, fmt.Errorf("make the folder of the replay: %w", err)
	}
	return Copy{base: base, Folder: filepath.Join(base, "folder"), Home: filepath.Join(base, "home")}, nil
}

// Fill copies the folder dir.
func (c Copy) Fill(dir string) error {
	if err := os.CopyFS(c.Folder, os.DirFS(dir)); err != nil {
		return fmt.Errorf("copy %s: %w", dir, err)
	}
	return nil
}

// File returns the path of a file beside the copy with the name of path.
func (c Copy) File(path string) string { return filepath.Join(c.base, filepath.Base(path)) }

// Hide returns text without the temporary path.
func (c Copy) Hide(text string) string {
	return strings.ReplaceAll(text, c.base+string(filepath.Separator), "")
}

// Remove deletes the copy.
func (c Copy) Remove() error { return os.RemoveAll(c.base) }
