package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// writeTemp writes the new content beside the file and makes it and the journal
// durable, both at once.
func (k *commit) writeTemp() error {
	if err := k.root.at(stepTemp); err != nil {
		return err
	}
	perm := k.change.Mode.Perm()
	if k.old != nil {
		perm = 0o600 // until the owner is right
	}
	temp, err := k.dir.OpenFile(k.entry.Temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if missing(err) {
		return fmt.Errorf("%w: its folder is gone", ErrStale)
	}
	if err != nil {
		return fmt.Errorf("no new file can be made in its folder: %w", err)
	}
	_, err = temp.Write(k.after)
	if err == nil {
		err = k.setMetadata(temp)
	}
	if err == nil {
		err = k.root.at(stepSync)
	}
	if err != nil {
		return errors.Join(err, temp.Close())
	}
	synced := make(chan error, 1)
	go func() { synced <- k.root.journal.sync() }()
	err = temp.Sync()
	return errors.Join(err, <-synced, temp.Close())
}

// keptMode are the bits of a mode that an edit keeps.
const keptMode = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// setMetadata makes temp what the file was, but for its content. A new file has
// its mode from the umask. An undo brings the mode back as well.
func (k *commit) setMetadata(temp *os.File) error {
	mode := k.change.Mode
	if k.old != nil {
		if err := copyOwner(temp, k.info); err != nil {
			return err
		}
		if err := copyAttributes(temp, k.old); err != nil {
			return err
		}
	}
	if k.entry.Undoes == nil {
		if k.old == nil {
			return nil
		}
		mode = k.info.Mode()
	}
	return temp.Chmod(mode & keptMode)
}

// replace compares the file for the last time and puts the new one in its place.
func (k *commit) replace(ctx context.Context) (err error) {
	lock, err := statefile.Acquire(ctx, k.root.journal.commitLock())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := k.root.at(stepCheck); err != nil {
		return err
	}
	if err := k.check(); err != nil {
		return err
	}
	if err := k.root.at(stepRename); err != nil {
		return err
	}
	switch {
	case k.change.Delete:
		return k.dir.Remove(k.base)
	case k.change.Exists:
		return k.dir.Rename(k.entry.Temp, k.base)
	}
	return k.linkNew()
}

// check compares what is in the file's place now with what was reviewed: it
// must be the same file, with the same content to the last byte.
func (k *commit) check() error {
	if err := k.checkFolder(); err != nil {
		return err
	}
	now, err := k.dir.Lstat(k.base)
	if !k.change.Exists {
		if err == nil {
			return fmt.Errorf("%w: it was created by someone else", ErrStale)
		}
		if !missing(err) {
			return err
		}
		return nil
	}
	if err != nil {
		return stale(err)
	}
	if !os.SameFile(now, k.info) || now.Mode() != k.info.Mode() {
		return fmt.Errorf("%w: another file is in its place", ErrStale)
	}
	data, err := readAll(k.old, now.Size())
	if errors.Is(err, ErrTooLarge) || err == nil && !bytes.Equal(data, k.before) {
		return ErrStale
	}
	if err != nil {
		return err
	}
	// An open file could not be replaced on Windows.
	err = k.old.Close()
	k.old = nil
	return err
}

// checkFolder sees that the folder that is held is still the one at the path.
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
		return fmt.Errorf("%w: another folder is in the place of its folder", ErrStale)
	}
	return nil
}

// linkNew gives the temp file the name of the new file. Unlike a rename, a link
// does not replace a file that has appeared there; on a file system without
// links, the check just before has to do.
func (k *commit) linkNew() error {
	switch err := k.dir.Link(k.entry.Temp, k.base); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: it was created by someone else", ErrStale)
	case err != nil:
		return k.dir.Rename(k.entry.Temp, k.base)
	}
	return k.dir.Remove(k.entry.Temp)
}
