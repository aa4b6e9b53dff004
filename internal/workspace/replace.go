package workspace

import (
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
	temp, err := newTemp(k.target.dir, k.entry.Temp, perm, k.after, k.setMetadata)
	if err != nil {
		return err
	}
	if err = k.root.at(stepSync); err == nil {
		err = temp.Sync()
	}
	return errors.Join(err, temp.Close())
}

// newTemp makes a temp file with metadata by the function, not yet durably.
func newTemp(dir *os.Root, name string, perm fs.FileMode, content []byte, setMetadata func(*os.File) error) (*os.File, error) {
	temp, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
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

// swap puts the new file in the place of the old one.
func (k *commit) swap() error {
	switch {
	case k.hosted:
		return k.swapByHost()
	case k.change.Delete:
		return k.target.dir.Remove(k.target.base)
	case k.change.Exists:
		return k.target.dir.Rename(k.entry.Temp, k.target.base)
	}
	var err error
	k.linked, err = k.target.link(k.entry.Temp)
	return err
}

// link gives a temp file the name of the new file too. A link, unlike a rename, never
// replaces a file that has appeared there; on a file system without links, where linked is
// false, the check just before has to do.
func (t *target) link(temp string) (linked bool, err error) {
	switch err := t.dir.Link(temp, t.base); {
	case errors.Is(err, fs.ErrExist):
		return false, fmt.Errorf("%w: it was created meanwhile", ErrStale)
	case err != nil:
		return false, t.dir.Rename(temp, t.base)
	}
	return true, nil
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
