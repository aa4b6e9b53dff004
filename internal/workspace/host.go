package workspace

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

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
	if !ok || SameLines(held, saved) || r.past.has(path, held) {
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

// heldElsewhere returns an error if the workspace itself must not write k, since the host
// holds another text of the file than the change is based on. An undo restores the file on disk.
func (r *Root) heldElsewhere(k *commit) error {
	c := k.change
	if k.hosted || k.source != nil {
		return nil
	}
	unsaved := c.Saved != (Hash{})
	if !unsaved && c.Exists && c.Raw == nil && c.States == nil && k.entry.Undoes == nil {
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

// hosts reports whether the host writes a change, which is no move.
func (r *Root) hosts(c Change, by Origin) bool {
	return r.host.Write != nil && !c.Delete && c.States == nil && by.Undoes == nil && r.host.holds(c.Format)
}

// checkHost compares the text in the host with the one of the change.
func (k *commit) checkHost() error {
	c := k.change
	if !k.hosted {
		return nil
	}
	saved := string(k.expected)
	held, unsaved, err := k.root.unsaved(c.Path, saved, c.Format)
	if err != nil {
		return err
	}
	if !unsaved {
		held = saved
	}
	if held != c.Text {
		return fmt.Errorf("%w: its text in the editor is another", ErrStale)
	}
	return nil
}

// swapByHost has the host write the change. It fails only if the file is as before.
func (k *commit) swapByHost() error {
	c, r := k.change, k.root
	failed := r.host.Write(c.Path, c.After)
	if failed != nil {
		failed = fmt.Errorf("the editor has not saved it: %w", failed)
	}
	now, data, err := r.Raw(c.Path)
	if err == nil && now.Exists == c.Exists && now.Hash == c.onDisk() && now.Hash != *k.entry.After {
		return cmp.Or(failed, errNotSaved)
	}
	k.linked, k.late = true, err
	var unmended error
	if err == nil && now.Exists && now.Hash != *k.entry.After && SameLines(string(data), c.After) {
		if unmended = k.mend(now, data); unmended == nil {
			return nil
		}
		unmended = fmt.Errorf("its line endings could not be put right: %w", unmended)
	}
	if err == nil && now.Hash != *k.entry.After {
		k.saved = &File{Exists: now.Exists, Text: string(data), Size: now.Size, Hash: now.Hash}
		k.late = fmt.Errorf("%s: %w", c.Name, errors.Join(ErrDiffers, unmended))
	}
	return nil
}

// mend gives the file that the host has written the line endings that were approved: a host that
// holds lines may add one at the end, or double a carriage return.
func (k *commit) mend(now File, data []byte) (err error) {
	saved := k.change
	saved.Exists, saved.Hash = true, now.Hash
	m := commit{root: k.root, change: saved, expected: data}
	m.from = StateOf(saved.Mode, data)
	defer func() { err = errors.Join(err, m.close()) }()
	if err := m.locate(); err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	if err := m.dir.Rename(k.temp, m.base); err != nil {
		return err
	}
	k.linked = false
	return nil
}
