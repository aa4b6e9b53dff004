package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// Restoration takes a path from one state to another.
type Restoration struct {
	Path, Name string
	From, To   State
	Content    []byte // of To
	// Dirs lists folders to remove after Path if they are empty by then: absolute, outermost
	// first.
	Dirs []string
	By   Origin
}

// restore is a Restoration on its way to the disk.
type restore struct {
	Restoration
	root   *Root
	entry  journal.Entry
	before []byte
	target target
	temp   *os.File // not synced yet; nil without one
	done   bool
}

// open finds the folder of the path, and reads the content to replace.
func (k *restore) open() error {
	if k.To.Exists() && !k.To.Equal(StateOf(k.To.Mode, k.Content)) {
		return errors.New("the content to restore does not match its hash")
	}
	dir, base := filepath.Dir(k.Path), filepath.Base(k.Path)
	parent, err := k.root.files.resolve(dir)
	if err != nil {
		return err
	}
	if parent.abs != dir {
		return fmt.Errorf("%w: its path contains a symlink now", ErrStale)
	}
	if parent.folder == nil {
		return ErrOutside
	}
	k.target = target{change: Change{File: File{Path: k.Path, Name: k.Name}}, place: parent, base: base}
	k.target.place.rel = filepath.Join(parent.rel, base)
	if parent.info != nil {
		if k.target.dir, err = parent.folder.root.OpenRoot(parent.rel); err != nil {
			return stale(err)
		}
	}
	k.before, err = k.check()
	return err
}

// check ensures that the path is in the expected state, and returns its content.
func (k *restore) check() ([]byte, error) {
	if k.target.dir == nil {
		if k.From.Exists() {
			return nil, fmt.Errorf("%w: it is gone", ErrStale)
		}
		return nil, nil
	}
	if err := k.target.checkFolder(); err != nil {
		return nil, err
	}
	now, content, err := look(k.target.dir, k.target.base)
	if err != nil {
		return nil, err
	}
	if !now.Equal(k.From) {
		return nil, ErrStale
	}
	return content, nil
}

// inPlace reports whether only the mode changes.
func (x Restoration) inPlace() bool {
	return x.From.Exists() && x.To.Exists() && x.From.Mode.Type() == x.To.Mode.Type() && same(x.From.Hash, x.To.Hash)
}

// Replaces reports whether a file takes the place of a file.
func (x Restoration) Replaces() bool {
	return x.From.Exists() && x.From.Mode.IsRegular() && x.To.Exists() && x.To.Mode.IsRegular() && !x.inPlace()
}

// temporary reports whether the new state is made under a temporary name.
func (k *restore) temporary() bool {
	return k.To.Exists() && !k.To.IsDir() && !k.inPlace()
}

// prepare writes the journal and the new state beside the old one.
func (k *restore) prepare() error {
	k.entry = *Effect{Path: k.Path, Name: k.Name, Before: k.From, After: k.To}.entry(k.By)
	if k.temporary() {
		k.entry.Temp = tempName()
	}
	switch {
	case !k.To.Exists():
		k.entry.Dirs = k.Dirs
	case k.target.dir == nil:
		k.entry.Dirs = k.target.missingDirs()
	}
	if err := k.root.begin(&k.entry, k.before, nil); err != nil {
		return fmt.Errorf("the undo journal: %w", err)
	}
	if k.target.dir == nil && k.To.Exists() {
		if err := k.target.makeDirs(k.entry.Dirs); err != nil {
			return err
		}
	}
	if k.temporary() {
		return k.writeTemp()
	}
	return nil
}

// clean removes the leftovers of a failed restoration.
func (k *restore) clean() {
	if k.target.dir != nil && k.entry.Temp != "" {
		_ = k.target.dir.Remove(k.entry.Temp) // recovery removes it otherwise
	}
	k.target.place.folder.removeEmpty(k.entry.Dirs)
}

// writeTemp makes the new file or link beside the old one.
func (k *restore) writeTemp() error {
	if err := k.root.at(stepTemp); err != nil {
		return err
	}
	if k.To.Mode&fs.ModeSymlink != 0 {
		return k.target.dir.Symlink(string(k.Content), k.entry.Temp)
	}
	var err error
	k.temp, err = newTemp(k.target.dir, k.entry.Temp, 0o600, k.Content, func(temp *os.File) (err error) {
		if k.Replaces() {
			err = copyMetadata(temp, k.target.dir, k.target.base)
		}
		if err == nil {
			err = temp.Chmod(k.To.Mode & keptMode)
		}
		return err
	})
	return err
}

// sync makes the new file durable.
func (k *restore) sync() error {
	if k.temp == nil {
		return nil
	}
	temp := k.temp
	k.temp = nil
	return errors.Join(temp.Sync(), temp.Close())
}

// close closes the files of k.
func (k *restore) close() error {
	var err error
	if k.temp != nil {
		err = k.temp.Close()
	}
	return errors.Join(err, k.target.close())
}

// replace compares the state for the last time and puts the new one in its place.
func (k *restore) replace(ctx context.Context) (err error) {
	if k.target.dir == nil {
		k.done = true // nothing is there, as intended
		return nil
	}
	lock, err := k.root.journal.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := k.root.at(stepCheck); err != nil {
		return err
	}
	if _, err := k.check(); err != nil {
		return err
	}
	if err := k.root.at(stepRename); err != nil {
		return err
	}
	done, err := k.put()
	k.done = done && (err == nil || errors.Is(err, ErrNotDurable))
	if err != nil || !done {
		return err
	}
	return k.root.at(stepDone)
}

// put makes the change. It returns false for a folder that is in use.
func (k *restore) put() (done bool, err error) {
	dir, base := k.target.dir, k.target.base
	switch {
	case k.inPlace():
		if k.To.Mode == k.From.Mode {
			return true, nil
		}
		return k.chmod()
	case k.From.IsDir():
		if err := dir.Remove(base); err != nil {
			if !k.To.Exists() && inUse(dir, base) {
				return false, nil
			}
			return false, err
		}
	case k.From.Exists() && !k.temporary():
		if err := dir.Remove(base); err != nil {
			return false, err
		}
	}
	switch {
	case !k.To.Exists():
		return true, nil
	case k.To.IsDir():
		if err := dir.Mkdir(base, 0o700); err != nil {
			return false, err
		}
		return true, dir.Chmod(base, k.To.Mode&keptMode)
	case k.From.Exists():
		return true, dir.Rename(k.entry.Temp, base)
	}
	linked, err := k.target.link(k.entry.Temp)
	if linked {
		err = dir.Remove(k.entry.Temp)
	}
	return true, err
}

// chmod changes only the mode, durably where the file can be opened.
func (k *restore) chmod() (done bool, err error) {
	f, openErr := k.target.dir.OpenFile(k.target.base, os.O_RDONLY|noWait|noFollow, 0)
	if openErr == nil {
		defer func() { err = errors.Join(err, f.Close()) }()
	}
	if err := k.target.dir.Chmod(k.target.base, k.To.Mode&keptMode); err != nil || openErr != nil {
		return err == nil, err
	}
	if err := f.Sync(); err != nil {
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
