package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// writeTemp writes the new content durably to a file beside the old one.
func (k *commit) writeTemp() error {
	if err := k.root.at(stepTemp); err != nil {
		return err
	}
	perm := k.change.Mode.Perm()
	if k.target.old != nil || k.source != nil {
		perm = 0o600 // until the owner is set
	}
	temp, err := k.target.dir.OpenFile(k.entry.Temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
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
	if err == nil {
		err = temp.Sync()
	}
	return errors.Join(err, temp.Close())
}

// keptMode masks the bits of a mode that an edit keeps.
const keptMode = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// setMetadata gives temp the metadata of the old file, or of the one that moves. A new file
// gets its mode from the umask. An undo restores the mode too.
func (k *commit) setMetadata(temp *os.File) error {
	mode, like := k.change.Mode, &k.target
	if k.source != nil {
		like = k.source
	}
	if like.old != nil {
		if err := copyOwner(temp, like.info); err != nil {
			return err
		}
		if err := copyAttributes(temp, like.old); err != nil {
			return err
		}
	}
	if k.entry.Undoes == nil {
		if like.old == nil {
			return nil
		}
		mode = like.info.Mode()
	}
	return temp.Chmod(mode & keptMode)
}

// replace compares the file for the last time and puts the new one in its place.
func (k *commit) replace(ctx context.Context) (err error) {
	lock, err := k.root.journal.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := k.root.at(stepCheck); err != nil {
		return err
	}
	if err := k.target.check(); err != nil {
		return err
	}
	if err := k.root.at(stepRename); err != nil {
		return err
	}
	return k.swap()
}

// swap puts the new file in the place of the old one.
func (k *commit) swap() error {
	switch {
	case k.change.Delete:
		return k.target.dir.Remove(k.target.base)
	case k.change.Exists:
		return k.target.dir.Rename(k.entry.Temp, k.target.base)
	}
	return k.linkNew()
}

// linkNew gives the temp file the name of the new file. A link, unlike a rename, never
// replaces a file that has appeared there; on a file system without links, the check just
// before has to do.
func (k *commit) linkNew() error {
	switch err := k.target.dir.Link(k.entry.Temp, k.target.base); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: it was created meanwhile", ErrStale)
	case err != nil:
		return k.target.dir.Rename(k.entry.Temp, k.target.base)
	}
	k.linked = true
	return nil
}

// unlink removes the temp name of a new file, which has its own name by now.
func (k *commit) unlink() error {
	if !k.linked {
		return nil
	}
	if err := k.target.dir.Remove(k.entry.Temp); err != nil && !missing(err) {
		return err
	}
	k.linked = false
	return nil
}
