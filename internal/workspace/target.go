package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// commit is one change on its way to the disk.
type commit struct {
	transition // its dir is open from the first check to the last step; nil while it is missing
	root       *Root
	change     Change
	entry      journal.Entry
	// before and after are the old and the new content, for the journal and the disk; expected is
	// the old one on the disk.
	before, after, expected []byte

	place  place
	old    *os.File // the file to replace; nil if no file is there
	info   fs.FileInfo
	found  fs.FileInfo // of the file at the time of check; nil if missing
	file   *os.File    // the temp file, not synced yet; nil without one
	source *commit     // of the file that moves here; nil without one
	twin   *commit     // of a file that goes before, whose name differs in case alone; nil without one

	hosted bool  // the host writes it
	placed bool  // the new state is in its place
	saved  *File // as the host saved it, if that is not the approved text
	late   error // of a file that is in its place
}

// prepare computes the bytes and the states, and opens the file to replace.
func (k *commit) prepare() error {
	if err := k.root.heldElsewhere(k); err != nil {
		return err
	}
	compute := k.encode
	if k.change.States != nil {
		compute = k.exact
	}
	if err := compute(); err != nil {
		return err
	}
	if k.expected = k.before; k.change.Saved != (Hash{}) { // the disk holds another text than the host
		now, data, err := k.root.Raw(k.change.Path)
		if err != nil || now.Hash != k.change.Saved {
			return cmp.Or(err, ErrStale)
		}
		k.expected = data
	}
	return k.locate()
}

// exact takes the states of a change that has them.
func (k *commit) exact() error {
	s := k.change.States
	if s.After.Exists() && !s.After.Equal(StateOf(s.After.Mode, s.Content)) {
		return errors.New("the content to restore does not match its hash")
	}
	k.from, k.to, k.after = s.Before, s.After, s.Content
	by := k.entry.Origin
	k.entry = *Effect{Path: k.change.Path, Name: k.change.Name, Before: s.Before, After: s.After}.entry(by)
	return nil
}

// encode computes the bytes and the states of a text. The mode that is kept is not known yet.
func (k *commit) encode() error {
	c := k.change
	k.entry = journal.Entry{
		Origin: k.entry.Origin, Path: c.Path, Name: c.Name, Mode: c.Mode,
		Encoding: string(c.Format.Encoding), BOM: c.Format.BOM, EOL: c.Format.EOL,
	}
	var err error
	if k.after, err = c.Content(); err != nil {
		return err
	}
	if k.after == nil {
		k.after = []byte{} // the content of an empty file is kept, too
	}
	if !c.Delete {
		k.to = StateOf(c.Mode, k.after)
	}
	if c.Exists {
		if k.before, err = c.content(); err != nil {
			return err
		}
		if k.from = StateOf(c.Mode, k.before); *k.from.Hash != c.Hash {
			return errors.New("the text of the change does not match its hash")
		}
		if c.Saved == (Hash{}) {
			k.root.saw(c.Path, k.before)
		}
	}
	k.entry.Before, k.entry.After = k.from.Hash, k.to.Hash
	return nil
}

// locate finds the place of the change again by the reviewed, resolved path, and opens it.
func (k *commit) locate() error {
	dir, base := filepath.Split(k.change.Path)
	parent, err := k.root.files.resolve(filepath.Clean(dir))
	switch {
	case err != nil:
		return err
	case parent.abs != filepath.Clean(dir):
		return fmt.Errorf("%w: its path contains a symlink now", ErrStale)
	case parent.folder == nil:
		return ErrOutside
	}
	k.base, k.place = base, parent
	k.place.rel = filepath.Join(parent.rel, base)
	if parent.info != nil {
		if k.dir, err = parent.folder.root.OpenRoot(parent.rel); err != nil {
			return stale(err)
		}
	} else if k.from.Exists() {
		return fmt.Errorf("%w: it is gone", ErrStale)
	}
	if !k.from.Exists() {
		return k.vacant()
	}
	return k.hold()
}

// vacant ensures that nothing is at the path.
func (k *commit) vacant() error {
	if k.dir == nil {
		return nil
	}
	now, err := k.dir.Lstat(k.base)
	switch {
	case missing(err):
		return nil
	case err != nil:
		return err
	case k.twin != nil && !k.twin.placed && k.twin.info != nil && os.SameFile(now, k.twin.info):
		return nil // it goes first
	}
	return fmt.Errorf("%w: it was created meanwhile", ErrStale)
}

// lstat looks at the path. A file with another spelling of the name is another.
func (k *commit) lstat() (fs.FileInfo, error) {
	now, err := k.dir.Lstat(k.base)
	return now, asSpelled(k.change.Path, err)
}

// hold opens the file to replace. While it is open, no other file can get its identity.
func (k *commit) hold() error {
	now, err := k.lstat()
	if err != nil {
		return stale(err)
	}
	exact := k.change.States != nil
	if exact && !now.Mode().IsRegular() {
		return k.look()
	}
	if err := regular(k.change.Name, now); err != nil {
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	if k.old, err = k.dir.OpenFile(k.base, os.O_RDONLY|noWait|noFollow, 0); err != nil {
		return stale(err)
	}
	if k.info, err = k.old.Stat(); err != nil {
		return err
	}
	if !os.SameFile(now, k.info) {
		return ErrStale
	}
	if exact {
		return k.holdExactly()
	}
	if k.info.Size() != int64(len(k.expected)) {
		return ErrStale
	}
	k.entry.Mode, k.from.Mode = k.info.Mode(), k.info.Mode()&stateMode // it may have changed since the review
	if k.entry.Undoes == nil && k.to.Exists() {
		k.to.Mode = k.from.Mode
	}
	return stale(writable(k.change.Path, k.info))
}

// holdExactly reads the file to replace, which must be in the state of the change.
func (k *commit) holdExactly() error {
	data, err := readAll(k.old, k.info.Size())
	if err != nil {
		return err
	}
	if !StateOf(k.info.Mode(), data).Equal(k.from) {
		return ErrStale
	}
	k.before, k.expected = data, data
	if k.temporary() && k.to.Mode.IsRegular() {
		return single(k.old, k.info)
	}
	return nil
}

// look ensures that the link or folder at the path is in the state of the change.
func (k *commit) look() error {
	now, content, err := look(k.dir, k.base)
	if err == nil && !now.Equal(k.from) {
		err = ErrStale
	}
	k.before = content
	return err
}

// stale returns err, as ErrStale if something is missing.
func stale(err error) error {
	if missing(err) {
		return fmt.Errorf("%w: it is gone", ErrStale)
	}
	return err
}

// check compares the path for the last time: it must be the same file, with the same content to
// the last byte, also in the host.
func (k *commit) check() error {
	if err := k.root.at(stepCheck); err != nil || k.dir == nil {
		return err
	}
	if err := k.checkFolder(); err != nil {
		return err
	}
	if !k.from.Exists() {
		return k.vacant()
	}
	now, err := k.lstat()
	if err != nil {
		return stale(err)
	}
	if k.found = now; k.old == nil {
		return k.look()
	}
	if !os.SameFile(now, k.info) || now.Mode() != k.info.Mode() {
		return fmt.Errorf("%w: another file replaced it", ErrStale)
	}
	data, err := readAll(k.old, now.Size())
	if errors.Is(err, ErrTooLarge) || err == nil && !bytes.Equal(data, k.expected) {
		return ErrStale
	}
	if err != nil {
		return err
	}
	// Windows cannot replace an open file.
	err = k.old.Close()
	k.old = nil
	return errors.Join(err, k.checkHost())
}

// checkAgain ensures that the file is still as check has found it.
func (k *commit) checkAgain() error {
	if k.dir == nil {
		return nil
	}
	now, err := k.dir.Lstat(k.base)
	switch {
	case err != nil && !missing(err):
		return err
	case (err == nil) != (k.found != nil):
		return ErrStale
	case err == nil && (!os.SameFile(now, k.found) || now.Mode() != k.found.Mode()),
		err == nil && !now.IsDir() && (now.Size() != k.found.Size() || !now.ModTime().Equal(k.found.ModTime())):
		return ErrStale
	}
	return nil
}

// checkFolder ensures that the open folder is still the one at the path.
func (k *commit) checkFolder() error {
	held, err := k.dir.Stat(".")
	if err != nil {
		return err
	}
	now, err := os.Lstat(filepath.Dir(k.change.Path))
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
func (k *commit) missingDirs() []string {
	var dirs []string
	for rel := filepath.Dir(k.place.rel); rel != "."; rel = filepath.Dir(rel) {
		if _, err := k.place.folder.root.Lstat(rel); err == nil {
			break
		}
		dirs = append([]string{filepath.Join(k.place.folder.path, rel)}, dirs...)
	}
	return dirs
}

// makeDirs makes the missing folders durably, and opens the file's folder.
func (k *commit) makeDirs(missing []string) error {
	root, rel := k.place.folder.root, filepath.Dir(k.place.rel)
	if err := root.MkdirAll(rel, 0o777); err != nil {
		return err
	}
	for _, made := range missing {
		parent, err := filepath.Rel(k.place.folder.path, filepath.Dir(made))
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
	k.dir, err = root.OpenRoot(rel)
	return err
}

// begin writes the journal, not yet durably.
func (k *commit) begin() error {
	switch {
	case !k.to.Exists():
		k.entry.Dirs = k.change.Dirs
	case !k.from.Exists() && k.dir == nil:
		k.entry.Dirs = k.missingDirs()
	}
	k.temp = tempName()
	k.entry.Temp = k.temp
	after := k.after
	if k.change.States != nil {
		after = nil // the undo of a command is not merged
	}
	if err := k.root.begin(&k.entry, k.before, after); err != nil {
		return fmt.Errorf("the undo journal: %w", err)
	}
	return nil
}

// stage makes the missing folders and writes the new state under the temp name.
func (k *commit) stage() error {
	if k.dir == nil && k.to.Exists() {
		if err := k.makeDirs(k.entry.Dirs); err != nil {
			return err
		}
	}
	if !k.temporary() {
		return nil
	}
	if err := k.root.at(stepTemp); err != nil {
		return err
	}
	// The file to replace, or the one that moves. A new file gets its mode from the umask.
	like := k
	if k.source != nil {
		like = k.source
	}
	perm, fresh := fs.FileMode(0o600), like.old == nil && k.change.States == nil
	if fresh {
		perm = k.change.Mode.Perm()
	}
	var err error
	k.file, err = k.write(k.after, perm, func(temp *os.File) error {
		if like.old != nil {
			if err := copyMetadata(temp, like.old, like.info); err != nil {
				return err
			}
		}
		mode := k.to.Mode
		if fresh && k.entry.Undoes == nil {
			return nil
		}
		if k.source != nil && k.entry.Undoes == nil {
			mode = like.info.Mode()
		}
		return temp.Chmod(mode & keptMode)
	})
	return err
}

// sync makes the temp file durable.
func (k *commit) sync() error {
	file := k.file
	k.file = nil
	return errors.Join(file.Sync(), file.Close())
}

// end closes the entry and removes the leftovers of a commit that was not made, and the folders
// that are empty now. A leftover that cannot be removed is left to recovery.
func (k *commit) end(made bool) error {
	if k.entry.ID == "" {
		return nil
	}
	if !made && k.dir != nil {
		_ = k.dir.Remove(k.temp)
	}
	if !made || !k.to.Exists() {
		k.place.folder.removeEmpty(k.entry.Dirs)
	}
	return k.root.journal.End(&k.entry, made)
}

// close closes the files.
func (k *commit) close() error {
	var errs []error
	for _, f := range []*os.File{k.old, k.file} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if k.dir != nil {
		errs = append(errs, k.dir.Close())
	}
	return errors.Join(errs...)
}

// takeBack gives the path its old state again. A host gets it first: it would put its own text back.
func (k *commit) takeBack() error {
	if k.hosted && k.change.Exists && k.root.host.Write(k.change.Path, k.change.Text) == nil {
		if sum, err := hashOf(k.change.Path); err == nil && same(sum, k.entry.Before) {
			return nil
		}
	}
	return takeBack(&k.entry, k.before)
}

// written returns the file after the commit.
func (k *commit) written() File {
	file := k.change.File
	file.Exists, file.Text, file.Size, file.Hash = k.to.Exists(), "", 0, Hash{}
	if file.Exists {
		file.Text, file.Size, file.Hash, file.Mode = k.change.After, int64(len(k.after)), *k.to.Hash, k.to.Mode
	}
	if k.saved != nil {
		file.Exists, file.Text, file.Size, file.Hash = k.saved.Exists, k.saved.Text, k.saved.Size, k.saved.Hash
	}
	return file
}
