package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/gitignore"
	"github.com/bb2d0cf4/agent/internal/regularfile"
	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Bounds of a copy.
const (
	mostFiles = 50_000
	mostBytes = 1 << 30
)

// linked are the ignored folders that a copy has a link to: nothing builds without them.
var linked = []string{"node_modules", ".venv", "venv"}

// tree is a copy of a workspace folder, without the files that git ignores. A file is
// copied again if its size or time differs. It is written through an os.Root: a command
// that ran in it may have put links there.
type tree struct {
	from, to string // absolute
	root     *os.Root
	files    int
	bytes    int64
}

// newTree makes an empty copy of the folder from at to.
func newTree(from, to string) (*tree, error) {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return nil, fmt.Errorf("copy the files: %w", err)
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return nil, fmt.Errorf("copy the files: %w", err)
	}
	return &tree{from: from, to: to, root: root}, nil
}

// close closes the copy, which stays on disk.
func (t *tree) close() error {
	if t == nil {
		return nil
	}
	return t.root.Close()
}

// at returns the copy of a path.
func (t *tree) at(name string) string {
	rel, err := filepath.Rel(t.from, name)
	if err != nil {
		return t.to
	}
	return filepath.Join(t.to, rel)
}

// sync brings the copy up to date.
func (t *tree) sync(ctx context.Context) error {
	t.files, t.bytes = 0, 0
	if err := t.folder(ctx, "", gitignore.Above(t.from, t.from)); err != nil {
		return fmt.Errorf("copy the files: %w", err)
	}
	return nil
}

// folder copies the folder at rel, and removes the files that are gone.
func (t *tree) folder(ctx context.Context, rel string, ig *gitignore.Rules) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	from := filepath.Join(t.from, rel)
	if err := t.real(rel); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if rules, err := regularfile.ReadFile(filepath.Join(from, ".gitignore"), gitignore.MaxFile); err == nil {
		repository := rel != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" })
		ig = ig.Under(filepath.ToSlash(rel), rules, repository)
	}
	at, err := t.root.OpenRoot(filepath.Join(".", rel)) // for short paths: two calls less for each file
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	keep := map[string]bool{}
	for _, e := range entries {
		kept, err := t.entry(ctx, at, path.Join(filepath.ToSlash(rel), e.Name()), e, ig)
		if err != nil {
			return err
		}
		keep[e.Name()] = kept
	}
	copies, err := fs.ReadDir(at.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range copies {
		if !keep[e.Name()] {
			if err := at.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// real makes a folder of the copy, in place of anything else there.
func (t *tree) real(rel string) error {
	if rel == "" {
		return nil
	}
	if info, err := t.root.Lstat(rel); err == nil && info.IsDir() {
		return nil
	}
	if err := t.root.RemoveAll(rel); err != nil {
		return err
	}
	return t.root.Mkdir(rel, 0o700)
}

// entry copies one entry of the folder whose copy is at, and reports whether the copy has it.
func (t *tree) entry(ctx context.Context, at *os.Root, rel string, e fs.DirEntry, ig *gitignore.Rules) (kept bool, err error) {
	switch {
	case e.Name() == ".git":
		return false, nil
	case e.IsDir() && slices.Contains(linked, e.Name()):
		return true, t.link(rel, filepath.Join(t.from, rel))
	case ig.Match(rel, e.IsDir()):
		return false, nil
	case e.IsDir():
		return true, t.folder(ctx, rel, ig)
	}
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // removed meanwhile
	case err != nil:
		return false, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(filepath.Join(t.from, rel))
		if err != nil {
			return false, err
		}
		return true, t.link(rel, target)
	case !info.Mode().IsRegular():
		return false, nil
	}
	t.files, t.bytes = t.files+1, t.bytes+info.Size()
	if t.files > mostFiles || t.bytes > mostBytes {
		return false, fmt.Errorf("the folder is too large: more than %d files or %d MiB", mostFiles, mostBytes>>20)
	}
	return true, t.file(at, e.Name(), rel, info)
}

// link makes a link in the copy.
func (t *tree) link(rel, target string) error {
	if now, err := t.root.Readlink(rel); err == nil && now == target {
		return nil
	}
	if err := t.root.RemoveAll(rel); err != nil {
		return err
	}
	return t.root.Symlink(target, rel)
}

// file copies the regular file at rel to name in a folder of the copy, unless that has its
// size and time. If the system can, it shares the content.
func (t *tree) file(at *os.Root, name, rel string, info fs.FileInfo) (err error) {
	mode := info.Mode().Perm() | 0o600
	now, err := at.Lstat(name)
	if err == nil && now.Mode() == mode && now.Size() == info.Size() && now.ModTime().Equal(info.ModTime()) {
		return nil
	}
	from, err := os.Open(filepath.Join(t.from, rel))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if err := put(at, name, from, mode); err != nil {
		return err
	}
	return at.Chtimes(name, info.ModTime(), info.ModTime())
}

// change makes those changes in the copy whose files it has. restore copies these files of
// the workspace again, also after an error.
func (t *tree) change(all []workspace.Change) (restore func() error, err error) {
	var made []string
	restore = func() error {
		var errs []error
		for _, rel := range made {
			errs = append(errs, t.again(rel))
		}
		return errors.Join(errs...)
	}
	for _, c := range all {
		if !subpath.In(t.from, c.Path) {
			continue
		}
		rel, err := filepath.Rel(t.from, c.Path)
		if err == nil {
			made = append(made, rel)
			err = t.make(rel, c)
		}
		if err != nil {
			return restore, fmt.Errorf("try %s: %w", c.Name, err)
		}
	}
	return restore, nil
}

// make makes a change of the file at rel in the copy.
func (t *tree) make(rel string, c workspace.Change) error {
	if c.Delete {
		return t.root.RemoveAll(rel)
	}
	if err := t.root.MkdirAll(filepath.Dir(rel), 0o700); err != nil {
		return err
	}
	return write(t.root, rel, c, c.Mode.Perm()|0o600)
}

// again copies the file of the workspace at rel, or removes it if that is missing.
func (t *tree) again(rel string) error {
	info, err := os.Lstat(filepath.Join(t.from, rel))
	if err != nil {
		return t.root.RemoveAll(rel)
	}
	return t.file(t.root, rel, rel, info)
}

// write writes the new content of a change to a file of root.
func write(root *os.Root, name string, c workspace.Change, mode fs.FileMode) error {
	data, err := c.Content()
	if err != nil {
		return err
	}
	return put(root, name, bytes.NewReader(data), mode)
}

// put makes a file of root in place of anything else there.
func put(root *os.Root, name string, from io.Reader, mode fs.FileMode) error {
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
