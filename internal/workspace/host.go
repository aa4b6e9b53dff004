package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Host is a program, such as an editor, that hosts the session and holds files. The zero
// value holds none.
type Host struct {
	// Buffer returns the host's text of the file at an absolute path, which may have unsaved
	// changes; ok is false if the host does not know, and an error means that it may. It may
	// be nil.
	Buffer func(path string) (text string, ok bool, err error)
	// Write sets the text of the file at an absolute path, and saves it. If it is nil, the
	// workspace writes.
	Write func(path, text string) error
}

var (
	// errNotSaved is returned by Commit if the host took the text, but the file on disk is
	// as before.
	errNotSaved = errors.New("the editor took the text, but has not saved it")
	// ErrDiffers is returned by Commit, with the file as it is now, if the host wrote
	// another text than was approved.
	ErrDiffers = errors.New("the editor has saved another text than was approved")
)

// holds reports whether the host handles files of a format. Hosts know of text only, not
// of encodings.
func (h Host) holds(f Format) bool { return f.Encoding == UTF8 && !f.BOM }

// unsaved returns the host's text of the file at path if the person has changed it there, with
// the line endings of f. The text of the disk, now or before, is not unsaved: hosts show a file
// that a command has changed as it was, until they read it again.
func (r *Root) unsaved(path, saved string, f Format) (string, bool, error) {
	if r.host.Buffer == nil || !r.host.holds(f) {
		return "", false, nil
	}
	r.saw(path, []byte(saved))
	held, ok, err := r.host.Buffer(path)
	if err != nil {
		return "", false, fmt.Errorf("whether it has unsaved changes in the editor is unknown: %w", err)
	}
	if !ok || sameLines(held, saved) || r.past.has(path, held) {
		return "", false, nil
	}
	return likeSaved(held, saved, f), true, nil
}

// Unsaved reports whether the host holds, or may hold, changes of the file at path that are not on
// disk.
func (r *Root) Unsaved(path string) bool {
	if r.host.Buffer == nil {
		return false
	}
	file, err := r.Read(path)
	if err != nil {
		return false
	}
	_, unsaved, err := r.unsaved(file.Path, file.Text, file.Format)
	return unsaved || err != nil
}

// held returns the host's text of the open file at p if it has changes that are not on
// disk.
func (r *Root) held(p place, f *os.File, info fs.FileInfo) (string, bool, error) {
	if r.host.Buffer == nil {
		return "", false, nil
	}
	file, err := r.files.read(p, f, info) // at fixed offsets
	if err != nil {
		return "", false, nil //nolint:nilerr // the host holds text only
	}
	return r.unsaved(file.Path, file.Text, file.Format)
}

// buffered returns the file as the host holds it.
func (r *Root) buffered(file File) (File, error) {
	if !file.Exists {
		return file, nil
	}
	held, unsaved, err := r.unsaved(file.Path, file.Text, file.Format)
	if err != nil {
		return file, fmt.Errorf("%s: %w", file.Name, err)
	}
	if !unsaved {
		return file, nil
	}
	data, err := encodeLimited(held, file.Format)
	if err != nil {
		return file, fmt.Errorf("%s has unsaved changes in the editor: %w", file.Name, err)
	}
	if r.host.Write == nil {
		return file, fmt.Errorf("%s has unsaved changes in the user's editor, which has to save or discard them first", file.Name)
	}
	file.Saved, file.Hash = file.Hash, sha256.Sum256(data)
	file.Text, file.Size = held, int64(len(data))
	return file, nil
}

// heldElsewhere returns an error if the workspace itself must not write c, since the host
// holds another text of the file than c is based on. An undo restores the file on disk.
func (r *Root) heldElsewhere(c Change, by Origin) error {
	unsaved := c.Saved != (Hash{})
	if !unsaved && c.Exists && c.Raw == nil && by.Undoes == nil {
		var err error
		if _, unsaved, err = r.unsaved(c.Path, c.Text, c.Format); err != nil {
			return err
		}
	}
	if unsaved {
		return errors.New("it has unsaved changes in the user's editor, which has to save or discard them first")
	}
	return nil
}

// onDisk returns the hash of the file on disk.
func (f File) onDisk() Hash {
	if f.Saved != (Hash{}) {
		return f.Saved
	}
	return f.Hash
}

// hosted reports whether the host writes the change.
func (r *Root) hosted(c Change, by Origin) bool {
	return r.host.Write != nil && !c.Delete && by.Undoes == nil && r.host.holds(c.Format)
}

// commitByHost has the host write c. The old content goes to the undo journal first,
// durably.
func (r *Root) commitByHost(ctx context.Context, c Change, by Origin) (file File, err error) {
	k := &commit{root: r, change: c, entry: entryOf(c, by)}
	k.entry.Temp = tempName() // see mend
	defer func() { err = errors.Join(err, k.target.close()) }()
	if err := k.encode(); err != nil {
		return File{}, fmt.Errorf("%s was not written: %w", c.Name, err)
	}
	lock, err := r.journal.Lock(ctx)
	if err != nil {
		return File{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := k.checkHosted(); err != nil {
		return File{}, fmt.Errorf("%s was not written: %w", c.Name, err)
	}
	if err := k.begin(); err != nil {
		return File{}, fmt.Errorf("%s was not written: the undo journal: %w", c.Name, err)
	}
	if err := r.journal.Sync(); err != nil {
		return File{}, errors.Join(err, r.journal.End(&k.entry, false))
	}
	failed := k.make()
	if failed == nil {
		if failed = r.host.Write(c.Path, c.After); failed != nil {
			failed = fmt.Errorf("the editor has not saved it: %w", failed)
		}
	}
	return k.compare(ctx, by, failed)
}

// checkHosted compares the file on disk and the host's text with those of the change.
func (k *commit) checkHosted() error {
	c, r := k.change, k.root
	k.target = target{change: c, before: k.before}
	if err := k.target.find(&r.files); err != nil {
		return err
	}
	now, data, err := r.Raw(c.Path)
	switch {
	case err != nil:
		return err
	case !c.Exists:
		k.entry.Dirs = k.target.missingDirs()
		return nil
	case !now.Exists:
		return fmt.Errorf("%w: it is gone", ErrStale)
	case now.Hash != c.onDisk():
		return ErrStale
	}
	if err := writable(c.Path, k.target.place.info); err != nil {
		return err
	}
	held, unsaved, err := r.unsaved(c.Path, string(data), c.Format)
	if err != nil {
		return err
	}
	if !unsaved {
		held = string(data)
	}
	if held != c.Text {
		return fmt.Errorf("%w: its text in the editor is another", ErrStale)
	}
	k.entry.Mode = now.Mode
	return nil
}

// make makes the missing folders of a new file.
func (k *commit) make() error {
	if k.change.Exists {
		return nil
	}
	return k.target.makeDirs(k.entry.Dirs)
}

// compare closes the entry of the journal: the host has written the change, or failed to.
func (k *commit) compare(ctx context.Context, by Origin, failed error) (File, error) {
	c, r := k.change, k.root
	now, data, err := r.Raw(c.Path)
	if err == nil && now.Exists == c.Exists && now.Hash == c.onDisk() && now.Hash != *k.entry.After {
		if failed == nil {
			failed = errNotSaved
		}
		return File{}, errors.Join(fmt.Errorf("%s: %w", c.Name, failed), k.clean(), r.journal.End(&k.entry, false))
	}
	var unmended error
	if err == nil && now.Exists && now.Hash != *k.entry.After && sameLines(string(data), c.After) {
		if unmended = k.mend(now, data); unmended == nil {
			now.Hash = *k.entry.After
		} else {
			unmended = fmt.Errorf("its line endings could not be put right: %w", errors.Join(unmended, k.clean()))
		}
	}
	if err = errors.Join(err, r.journal.End(&k.entry, true)); err != nil {
		return File{}, errors.Join(err, unmended)
	}
	file := k.written()
	if now.Hash != *k.entry.After {
		file.Exists, file.Text, file.Size, file.Hash = now.Exists, string(data), now.Size, now.Hash
		err = fmt.Errorf("%s: %w", c.Name, errors.Join(ErrDiffers, unmended))
	}
	r.report(ctx, file, by)
	return file, err
}

// mend gives the file that the host has written the line endings that were approved: a host that
// holds lines may add one at the end, or double a carriage return.
func (k *commit) mend(now File, data []byte) error {
	saved := k.change
	saved.Exists, saved.Hash = true, now.Hash
	if err := k.target.close(); err != nil {
		return err
	}
	k.target = target{change: saved, before: data}
	if err := k.target.locate(&k.root.files); err != nil {
		return err
	}
	if err := k.writeTemp(); err != nil {
		return err
	}
	if err := k.target.check(); err != nil {
		return err
	}
	if err := k.target.dir.Rename(k.entry.Temp, k.target.base); err != nil {
		return err
	}
	return syncDir(k.target.dir)
}
