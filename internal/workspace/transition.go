package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// transition takes a name in an open folder from one state to another: in a commit, when one is
// taken back, and in a recovery. Nothing else changes the user's files.
type transition struct {
	dir      *os.Root
	base     string
	temp     string // the name under which the new state is made
	from, to State
	linked   bool // the temp name is still there, though the new state is in its place
}

// inPlace reports whether only the mode changes.
func (t *transition) inPlace() bool {
	return t.from.Exists() && t.to.Exists() && t.from.Mode.Type() == t.to.Mode.Type() && same(t.from.Hash, t.to.Hash)
}

// temporary reports whether the new state is made under the temp name.
func (t *transition) temporary() bool { return t.to.Exists() && !t.to.IsDir() && !t.inPlace() }

// write makes the new state under the temp name, not yet durably. The file, with metadata by the
// function, is nil for a link.
func (t *transition) write(content []byte, perm fs.FileMode, setMetadata func(*os.File) error) (*os.File, error) {
	if t.to.Mode&fs.ModeSymlink != 0 {
		return nil, t.dir.Symlink(string(content), t.temp)
	}
	temp, err := t.dir.OpenFile(t.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if missing(err) {
		return nil, fmt.Errorf("%w: its folder is gone", ErrStale)
	}
	if err != nil {
		return nil, fmt.Errorf("no new file can be made in its folder: %w", err)
	}
	if _, err = temp.Write(content); err == nil {
		err = setMetadata(temp)
	}
	if err != nil {
		return nil, errors.Join(err, temp.Close())
	}
	return temp, nil
}

// put puts the new state in the place of the old one. It returns false for a folder that stays
// because something is in it.
func (t *transition) put() (done bool, err error) {
	switch {
	case t.inPlace():
		if t.to.Mode == t.from.Mode {
			return true, nil
		}
		return t.chmod()
	case t.from.Exists() && (t.from.IsDir() || !t.temporary()):
		if err := t.dir.Remove(t.base); err != nil {
			if t.from.IsDir() && !t.to.Exists() && inUse(t.dir, t.base) {
				return false, nil
			}
			return false, err
		}
	}
	switch {
	case !t.to.Exists():
		return true, nil
	case t.to.IsDir():
		if err := t.dir.Mkdir(t.base, 0o700); err != nil {
			return false, err
		}
		return true, t.dir.Chmod(t.base, t.to.Mode&keptMode)
	case t.from.Exists():
		return true, t.dir.Rename(t.temp, t.base)
	}
	return true, t.link()
}

// link gives the temp file the name of the new one, too. A link, unlike a rename, never replaces a
// file that has appeared there; on a file system without links the check just before has to do.
func (t *transition) link() error {
	switch err := t.dir.Link(t.temp, t.base); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: it was created meanwhile", ErrStale)
	case err != nil:
		return t.dir.Rename(t.temp, t.base)
	}
	t.linked = true
	return nil
}

// unlink removes the temp name of a new file, which has its own name by now.
func (t *transition) unlink() error {
	if !t.linked {
		return nil
	}
	if err := t.dir.Remove(t.temp); err != nil && !missing(err) {
		return err
	}
	t.linked = false
	return nil
}

// chmod changes only the mode, durably if the file can be opened.
func (t *transition) chmod() (done bool, err error) {
	f, openErr := t.dir.OpenFile(t.base, os.O_RDONLY|noWait|noFollow, 0)
	if openErr == nil {
		defer func() { err = errors.Join(err, f.Close()) }()
	}
	if err := t.dir.Chmod(t.base, t.to.Mode&keptMode); err != nil || openErr != nil {
		return err == nil, err
	}
	if err := syncMode(f); err != nil {
		return true, fmt.Errorf("%w: %w", ErrNotDurable, err)
	}
	return true, nil
}

// inUse reports whether a folder is not empty.
func inUse(dir *os.Root, name string) bool {
	f, err := dir.Open(name)
	if err != nil {
		return false
	}
	names, err := f.Readdirnames(1)
	return errors.Join(err, f.Close()) == nil && len(names) > 0
}

// copyMetadata gives temp the owner and the attributes of like, which has no other name.
func copyMetadata(temp *os.File, like *os.File, info fs.FileInfo) error {
	if err := single(like, info); err != nil {
		return err
	}
	return errors.Join(copyOwner(temp, info), copyAttributes(temp, like))
}
