package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// target is the place of a file to change.
type target struct {
	change Change
	before []byte // the expected content; nil if no file is expected

	place place
	dir   *os.Root // the file's folder, open from the first check to the last step
	base  string   // the file's name in dir
	old   *os.File // the file to replace; nil if missing
	info  fs.FileInfo
	found fs.FileInfo // of the file at the time of check; nil if missing
}

// locate finds the file again and opens it.
func (t *target) locate(f *files) error {
	err := t.find(f)
	if err != nil || !t.change.Exists {
		return err
	}
	if t.dir, err = t.place.folder.root.OpenRoot(filepath.Dir(t.place.rel)); err != nil {
		return stale(err)
	}
	return t.hold()
}

// find finds the file again by the resolved path that was reviewed.
func (t *target) find(f *files) error {
	p, err := f.resolve(t.change.Path)
	if err != nil {
		return err
	}
	if p.abs != t.change.Path {
		return fmt.Errorf("%w: its path contains a symlink now", ErrStale)
	}
	if p.folder == nil {
		return ErrOutside
	}
	t.place, t.base = p, filepath.Base(p.rel)
	if !t.change.Exists && p.info != nil {
		return fmt.Errorf("%w: it was created meanwhile", ErrStale)
	}
	return nil
}

// hold opens the file to replace. While it is open, no other file can get its identity.
func (t *target) hold() error {
	look, err := t.dir.Lstat(t.base)
	if err != nil {
		return stale(err)
	}
	if err := regular(t.change.Name, look); err != nil {
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	if t.old, err = t.dir.OpenFile(t.base, os.O_RDONLY|noWait, 0); err != nil {
		return stale(err)
	}
	if t.info, err = t.old.Stat(); err != nil {
		return err
	}
	if !os.SameFile(look, t.info) || t.info.Size() != int64(len(t.before)) {
		return ErrStale
	}
	return stale(writable(t.change.Path, t.info))
}

// stale returns err, as ErrStale if something is missing.
func stale(err error) error {
	if missing(err) {
		return fmt.Errorf("%w: it is gone", ErrStale)
	}
	return err
}

// check compares the file in place with the reviewed one: it must be the same file, with
// the same content to the last byte.
func (t *target) check() error {
	if err := t.checkFolder(); err != nil {
		return err
	}
	now, err := t.dir.Lstat(t.base)
	if !t.change.Exists {
		if err == nil {
			return fmt.Errorf("%w: it was created meanwhile", ErrStale)
		}
		if !missing(err) {
			return err
		}
		return nil
	}
	if err != nil {
		return stale(err)
	}
	if !os.SameFile(now, t.info) || now.Mode() != t.info.Mode() {
		return fmt.Errorf("%w: another file replaced it", ErrStale)
	}
	data, err := readAll(t.old, now.Size())
	if errors.Is(err, ErrTooLarge) || err == nil && !bytes.Equal(data, t.before) {
		return ErrStale
	}
	if err != nil {
		return err
	}
	// Windows cannot replace an open file.
	err = t.old.Close()
	t.old, t.found = nil, now
	return err
}

// checkAgain ensures that the file is still as check has found it.
func (t *target) checkAgain() error {
	now, err := t.dir.Lstat(t.base)
	switch {
	case err != nil && !missing(err):
		return err
	case (err == nil) != (t.found != nil):
		return ErrStale
	case err == nil && (!os.SameFile(now, t.found) || now.Mode() != t.found.Mode() || now.Size() != t.found.Size() || !now.ModTime().Equal(t.found.ModTime())):
		return ErrStale
	}
	return nil
}

// checkFolder ensures that the open folder is still the one at the path.
func (t *target) checkFolder() error {
	held, err := t.dir.Stat(".")
	if err != nil {
		return err
	}
	now, err := os.Lstat(filepath.Dir(t.change.Path))
	if err != nil {
		return stale(err)
	}
	if !os.SameFile(held, now) {
		return fmt.Errorf("%w: another folder replaced its folder", ErrStale)
	}
	return nil
}

// missingDirs returns the missing folders on the way to the file, absolute, outermost
// first.
func (t *target) missingDirs() []string {
	var dirs []string
	for rel := filepath.Dir(t.place.rel); rel != "."; rel = filepath.Dir(rel) {
		if _, err := t.place.folder.root.Lstat(rel); err == nil {
			break
		}
		dirs = append([]string{filepath.Join(t.place.folder.path, rel)}, dirs...)
	}
	return dirs
}

// makeDirs makes the missing folders durably, and opens the file's folder.
func (t *target) makeDirs(missing []string) error {
	root, rel := t.place.folder.root, filepath.Dir(t.place.rel)
	if err := root.MkdirAll(rel, 0o777); err != nil {
		return err
	}
	for _, made := range missing {
		parent, err := filepath.Rel(t.place.folder.path, filepath.Dir(made))
		if err != nil {
			return err
		}
		dir, err := root.OpenRoot(parent)
		if err != nil {
			return err
		}
		if err := errors.Join(syncDir(dir), dir.Close()); err != nil {
			return err
		}
	}
	var err error
	t.dir, err = root.OpenRoot(rel)
	return err
}

func (t *target) close() error {
	var errs []error
	if t.old != nil {
		errs = append(errs, t.old.Close())
	}
	if t.dir != nil {
		errs = append(errs, t.dir.Close())
	}
	return errors.Join(errs...)
}
