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
}

// restore is a Restoration on its way to the disk.
type restore struct {
	Restoration
	root   *Root
	entry  journal.Entry
	before []byte
	target target
}

// Restore undoes or redoes a change by a command: of a file, a link or a folder, with its
// mode. If the path is not in the state From, the error is ErrStale. The
// old content goes to the undo journal first, durably. A folder that is not empty is not
// removed, which is no error: somebody uses it.
func (r *Root) Restore(ctx context.Context, x Restoration, by Origin) (err error) {
	r.committing.Lock()
	defer r.committing.Unlock()
	if r.journal == nil {
		return errors.New("this workspace was opened without an undo journal, so it is read-only")
	}
	k := &restore{Restoration: x, root: r}
	defer func() { err = errors.Join(err, k.target.close()) }()
	if err := k.open(); err != nil {
		return fmt.Errorf("%s: %w", x.Name, err)
	}
	done, err := k.run(ctx, by)
	if err != nil {
		return fmt.Errorf("%s was not written: %w", x.Name, err)
	}
	if r.committed != nil && done {
		f := File{Path: x.Path, Name: x.Name, Exists: x.To.Exists(), Mode: x.To.Mode, Size: int64(len(x.Content))}
		if f.Exists {
			f.Hash = *x.To.Hash
		}
		r.committed(ctx, f, by)
	}
	return nil
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
func (k *restore) inPlace() bool {
	return k.From.Exists() && k.To.Exists() && k.From.Mode.Type() == k.To.Mode.Type() && same(k.From.Hash, k.To.Hash)
}

// temporary reports whether the new state is made under a temporary name.
func (k *restore) temporary() bool {
	return k.To.Exists() && !k.To.IsDir() && !k.inPlace()
}

// run writes the journal and puts the new state in place. If it fails, it leaves nothing
// behind.
func (k *restore) run(ctx context.Context, by Origin) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	k.entry = *Effect{Path: k.Path, Name: k.Name, Before: k.From, After: k.To}.entry(by)
	if k.temporary() {
		k.entry.Temp = tempName()
	}
	if k.To.Exists() && k.target.dir == nil {
		k.entry.Dirs = k.target.missingDirs()
	}
	if err := k.begin(); err != nil {
		return false, fmt.Errorf("the undo journal: %w", err)
	}
	defer func() {
		if err != nil {
			k.clean()
		}
		err = errors.Join(err, k.root.journal.End(&k.entry, done))
	}()
	if k.target.dir == nil && k.To.Exists() {
		if err := k.target.makeDirs(k.entry.Dirs); err != nil {
			return false, err
		}
	}
	if k.temporary() {
		if err := k.writeTemp(); err != nil {
			return false, err
		}
	}
	if err := errors.Join(k.root.at(stepSync), k.root.journal.Sync()); err != nil {
		return false, err
	}
	return k.replace(ctx)
}

func (k *restore) begin() error {
	if err := k.root.at(stepBlob); err != nil {
		return err
	}
	if k.From.Exists() {
		if err := k.root.journal.Keep(*k.From.Hash, k.before); err != nil {
			return err
		}
	}
	if err := k.root.at(stepJournal); err != nil {
		return err
	}
	return k.root.journal.Begin(&k.entry)
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
	temp, err := k.target.dir.OpenFile(k.entry.Temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("no new file can be made in its folder: %w", err)
	}
	_, err = temp.Write(k.Content)
	if err == nil && k.From.Exists() && k.From.Mode.IsRegular() {
		err = k.keepOwner(temp)
	}
	if err == nil {
		err = temp.Chmod(k.To.Mode & keptMode)
	}
	if err == nil {
		err = temp.Sync()
	}
	return errors.Join(err, temp.Close())
}

// keepOwner gives temp the owner and the attributes of the file that it replaces.
func (k *restore) keepOwner(temp *os.File) (err error) {
	old, err := k.target.dir.OpenFile(k.target.base, os.O_RDONLY|noWait|noFollow, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	info, err := old.Stat()
	if err != nil {
		return err
	}
	if n := names(info); n > 1 {
		return fmt.Errorf("it has %d names (hard links), and replacing it would detach this one from the others", n)
	}
	return errors.Join(copyOwner(temp, info), copyAttributes(temp, old))
}

// replace compares the state for the last time and puts the new one in its place.
func (k *restore) replace(ctx context.Context) (done bool, err error) {
	if k.target.dir == nil {
		return true, nil // nothing is there, as intended
	}
	lock, err := k.root.journal.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := k.root.at(stepCheck); err != nil {
		return false, err
	}
	if _, err := k.check(); err != nil {
		return false, err
	}
	if err := k.root.at(stepRename); err != nil {
		return false, err
	}
	if done, err := k.put(); err != nil || !done {
		return false, err
	}
	if err := k.root.at(stepDone); err != nil {
		return true, err
	}
	return true, syncDir(k.target.dir)
}

// put makes the change. It returns false for a folder that is in use.
func (k *restore) put() (done bool, err error) {
	dir, base := k.target.dir, k.target.base
	switch {
	case k.inPlace():
		if k.To.Mode == k.From.Mode {
			return true, nil
		}
		return true, dir.Chmod(base, k.To.Mode&keptMode)
	case k.From.IsDir():
		if err := dir.Remove(base); err != nil {
			if now, _, lookErr := look(dir, base); lookErr == nil && now.IsDir() && !k.To.Exists() {
				return false, nil // it is not empty
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
	return true, k.linkNew()
}

// linkNew is commit.linkNew.
func (k *restore) linkNew() error {
	dir := k.target.dir
	switch err := dir.Link(k.entry.Temp, k.target.base); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: it was created meanwhile", ErrStale)
	case err != nil:
		return dir.Rename(k.entry.Temp, k.target.base)
	}
	return dir.Remove(k.entry.Temp)
}
