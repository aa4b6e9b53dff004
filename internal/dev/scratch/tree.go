package scratch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Tree is a workspace whose files a test reads and changes. Its methods end the test if
// they fail.
type Tree struct {
	*workspace.Root
	T    testing.TB
	Home string // the agent's own folder
}

// NewTree opens an empty workspace.
func NewTree(t testing.TB) *Tree {
	t.Helper()
	return Reopen(t, t.TempDir(), t.TempDir(), workspace.Options{})
}

// Reopen opens the workspace dir with home, which replaces opt.Home.
func Reopen(t testing.TB, dir, home string, opt workspace.Options) *Tree {
	t.Helper()
	opt.Home = home
	return &Tree{Workspace(t, dir, opt), t, home}
}

func (w *Tree) must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Path returns the path of the file with a name.
func (w *Tree) Path(name string) string { return filepath.Join(w.Dir(), filepath.FromSlash(name)) }

// Write writes like another program, without asking, with the usual modes of a project.
func (w *Tree) Write(name, content string) {
	w.T.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.Path(name)), 0o755))
	w.must(os.WriteFile(w.Path(name), []byte(content), 0o644))
}

// Content returns the content of a file, "<none>" if it is missing.
func (w *Tree) Content(name string) string {
	w.T.Helper()
	data, err := os.ReadFile(w.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "<none>"
	}
	w.must(err)
	return string(data)
}

// Change proposes a new text for a file.
func (w *Tree) Change(name, text string) workspace.Change {
	w.T.Helper()
	c, err := w.Propose(name, func(workspace.File) (string, error) { return text, nil })
	w.must(err)
	return c
}

// Commit commits one change.
func (w *Tree) Commit(ctx context.Context, c workspace.Change, by workspace.Origin) (workspace.File, error) {
	files, err := w.Root.Commit(ctx, workspace.AllOrNone, by, c)
	if len(files) == 0 {
		return workspace.File{}, err
	}
	return files[0], err
}

// Edit proposes and commits a new text.
func (w *Tree) Edit(name, text string, by workspace.Origin) workspace.File {
	w.T.Helper()
	f, err := w.Commit(w.T.Context(), w.Change(name, text), by)
	w.must(err)
	return f
}

// Files lists the workspace in order; folders end in a slash.
func (w *Tree) Files() []string {
	w.T.Helper()
	var out []string
	w.must(filepath.WalkDir(w.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == w.Dir() {
			return err
		}
		rel, err := filepath.Rel(w.Dir(), path)
		if d.IsDir() {
			rel += "/"
		}
		out = append(out, filepath.ToSlash(rel))
		return err
	}))
	slices.Sort(out)
	return out
}

// State returns the mode and content of each file, and the mode of each folder.
func (w *Tree) State() map[string]string {
	w.T.Helper()
	out := map[string]string{}
	for _, name := range w.Files() {
		info, err := os.Lstat(w.Path(name))
		w.must(err)
		if out[name] = info.Mode().String(); info.Mode().IsRegular() {
			out[name] += " " + w.Content(name)
		}
	}
	return out
}
