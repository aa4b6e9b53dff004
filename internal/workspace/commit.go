package workspace

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// step names a point in a commit, for tests.
type step string

// The steps of a commit, in order.
const (
	stepBlob    step = "blob"    // before the old content goes to the journal
	stepJournal step = "journal" // before the entry goes to the journal
	stepTemp    step = "temp"    // before the temp file is made
	stepSync    step = "sync"    // before the temp file is synced
	stepCheck   step = "check"   // before the file is compared
	stepRename  step = "rename"  // before the temp file takes the file's place
	stepDone    step = "done"    // the file is in its place; its folder is yet to be synced
)

// Commit writes c and returns the file as written, or ErrStale if the file no longer
// holds what c was computed from. The old content goes to the undo journal first,
// durably. Mode, owner, group, attributes and access list are kept; if they cannot be,
// Commit writes nothing and returns the reason. Only with ErrNotDurable and ErrDiffers has the
// file been written despite the error.
//
// The comparison and the replacement are two system calls: a write by another program
// between them, within some ten microseconds, is lost. Other processes with the same home
// are locked out meanwhile, and a file that appears where a new one is to be made is
// never overwritten.
//
// A move is a file made at its new place and one removed at the old one: both, or neither.
//
// The host of the session writes the files that it holds. If it saves another text, the error is
// ErrDiffers, and the file is as it saved it.
//
// If by.Undoes is set, c takes back these entries of the journal: the file gets the mode
// of c.
func (r *Root) Commit(ctx context.Context, c Change, by Origin) (File, error) {
	files, err := r.CommitTogether(ctx, []Change{c}, by)
	if len(files) == 0 {
		return File{}, err
	}
	return files[0], err
}

// commit is one change on its way to the disk.
type commit struct {
	root   *Root
	change Change
	entry  journal.Entry
	before []byte // nil if there is no file
	after  []byte // nil to remove the file

	target target
	source *target // of the file that moves here; nil without one
	linked bool    // the temp file is still there, though the new file is in its place
	hosted bool    // the host writes it
	saved  *File   // as the host saved it, if that is not the approved text
	late   error   // of a file that is in its place
}

// report notes a file that is in its place, and calls Options.Committed with it.
func (r *Root) report(ctx context.Context, file File, by Origin) {
	if r.host.Buffer != nil && file.Exists {
		r.past.add(file.Path, file.Hash)
	}
	if r.committed != nil {
		r.committed(ctx, file, by)
	}
}

// meanwhile runs f while the caller waits for the disk. The result waits for f's.
func meanwhile(f func() error) (wait func() error) {
	done := make(chan error, 1)
	go func() {
		defer crash.Guard()
		done <- f()
	}()
	return func() error { return <-done }
}

func entryOf(c Change, by Origin) journal.Entry {
	return journal.Entry{
		Origin: by, Path: c.Path, Name: c.Name, Mode: c.Mode,
		Encoding: string(c.Format.Encoding), BOM: c.Format.BOM, EOL: c.Format.EOL,
	}
}

// prepare computes the bytes and opens the file to replace.
func (k *commit) prepare() error {
	if err := k.encode(); err != nil {
		return err
	}
	k.target = target{change: k.change, before: k.before}
	if k.change.Saved != (Hash{}) { // the disk holds another text than the host
		now, data, err := k.root.Raw(k.change.Path)
		if err != nil || now.Hash != k.change.Saved {
			return cmp.Or(err, ErrStale)
		}
		k.target.before = data
	}
	if err := k.target.locate(&k.root.files); err != nil {
		return err
	}
	if k.target.info != nil {
		k.entry.Mode = k.target.info.Mode() // it may have changed since the review
	}
	return nil
}

// encode computes the bytes.
func (k *commit) encode() error {
	c := k.change
	var err error
	if k.after, err = c.Content(); err != nil {
		return err
	}
	if k.after == nil {
		k.after = []byte{} // the content of an empty file is kept, too
	}
	if !c.Delete {
		sum := Hash(sha256.Sum256(k.after))
		k.entry.After = &sum
	}
	if c.Exists {
		if k.before, err = c.content(); err != nil {
			return err
		}
		sum := Hash(sha256.Sum256(k.before))
		if sum != c.Hash {
			return errors.New("the text of the change does not match its hash")
		}
		k.entry.Before = &sum
		if c.Saved == (Hash{}) {
			k.root.saw(c.Path, k.before)
		}
	}
	return nil
}

// stage makes the missing folders and writes the temp file.
func (k *commit) stage() error {
	if k.target.dir == nil {
		if err := k.target.makeDirs(k.entry.Dirs); err != nil {
			return err
		}
	}
	if k.change.Delete {
		return nil
	}
	return k.writeTemp()
}

// begin writes the contents before and after a change, if that is not nil, and the entry to the
// journal, not yet durably.
func (r *Root) begin(e *journal.Entry, before, after []byte) error {
	if err := r.at(stepBlob); err != nil {
		return err
	}
	if e.Before != nil && e.Unkept == "" {
		if err := r.journal.Keep(*e.Before, before); err != nil {
			return err
		}
		if e.After != nil && after != nil {
			if err := r.journal.KeepAfter(*e.After, after); err != nil {
				return err
			}
		}
	}
	if err := r.at(stepJournal); err != nil {
		return err
	}
	return r.journal.Begin(e)
}

// tempName returns a unique name that recovery recognizes.
func tempName() string { return tempPrefix + rand.Text() + tempSuffix }

const (
	tempPrefix = ".agent-"
	tempSuffix = ".tmp"
)

// settle makes the new name durable.
func (k *commit) settle() error {
	if err := k.root.at(stepDone); err != nil {
		return err
	}
	return syncDir(k.target.dir)
}

// end closes the entry of a file that is in its place.
func (k *commit) end() error {
	if k.change.Delete {
		k.target.place.folder.removeEmpty(k.entry.Dirs)
	}
	return k.root.journal.End(&k.entry, true)
}

// clean removes the leftovers of a failed commit.
func (k *commit) clean() error {
	var errs []error
	if k.target.dir != nil && k.entry.Temp != "" {
		if err := k.target.dir.Remove(k.entry.Temp); err != nil && !missing(err) {
			errs = append(errs, err)
		}
	}
	k.target.place.folder.removeEmpty(k.entry.Dirs)
	return errors.Join(errs...)
}

// written returns the file after the commit.
func (k *commit) written() File {
	file := k.change.File
	file.Exists = !k.change.Delete
	file.Text, file.Size, file.Hash = "", 0, Hash{}
	if file.Exists {
		file.Text, file.Size, file.Hash = k.change.After, int64(len(k.after)), *k.entry.After
	}
	if k.target.info != nil && k.entry.Undoes == nil {
		file.Mode = k.target.info.Mode()
	}
	if k.saved != nil {
		file.Exists, file.Text, file.Size, file.Hash = k.saved.Exists, k.saved.Text, k.saved.Size, k.saved.Hash
	}
	return file
}
