package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// step is a point in a commit, for tests.
type step string

// The steps of a commit, in order.
const (
	stepBlob    step = "blob"    // before the old content goes to the journal
	stepJournal step = "journal" // before the entry goes to the journal
	stepTemp    step = "temp"    // before the temp file is made
	stepSync    step = "sync"    // before journal and temp file are synced
	stepCheck   step = "check"   // before the file is compared
	stepRename  step = "rename"  // before the temp file takes the file's place
	stepDone    step = "done"    // the file is in its place; its folder is yet to be synced
)

// Commit writes c if the file still holds what c was computed from, and returns
// the file as written; else ErrStale. What the file held is in the undo journal
// first, durably. Mode, owner, group, attributes and access list are kept, or
// the reason why they cannot be is returned and nothing is written. ErrUnsettled
// alone is returned with the file: it is written all the same.
//
// The comparison and the replacement are two system calls: what another program
// writes between them (some ten microseconds) is lost. Other processes with the
// same home are shut out for that time, and a file that appears where a new one
// is to be made is never overwritten.
//
// With by.Undoes, c takes back what these entries of the journal did: the file
// gets the mode of c.
func (r *Root) Commit(ctx context.Context, c Change, by Origin) (File, error) {
	r.committing.Lock()
	defer r.committing.Unlock()
	return r.commit(ctx, c, by)
}

// commit is one change on its way to the disk.
type commit struct {
	root   *Root
	change Change
	entry  journal.Entry
	before []byte // nil if there is no file
	after  []byte // nil if the file is to be removed

	target target
	linked bool // the new file has the temp file's name as well
}

func (r *Root) commit(ctx context.Context, c Change, by Origin) (file File, err error) {
	if r.journal == nil {
		return File{}, errors.New("this workspace was opened without a home for the undo journal: nothing can be written")
	}
	k := &commit{root: r, change: c, entry: entryOf(c, by)}
	defer func() { err = errors.Join(err, k.target.close()) }()
	if err := k.prepare(); err != nil {
		return File{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	if err := k.run(ctx); err != nil {
		return File{}, fmt.Errorf("%s was not written: %w", c.Name, err)
	}
	if err := k.settle(); err != nil {
		return k.written(), fmt.Errorf("%s %w: %w", c.Name, ErrUnsettled, err)
	}
	return k.written(), nil
}

func entryOf(c Change, by Origin) journal.Entry {
	return journal.Entry{
		Origin: by, Path: c.Path, Name: c.Name, Mode: c.Mode,
		Encoding: string(c.Format.Encoding), BOM: c.Format.BOM, EOL: c.Format.EOL,
	}
}

// prepare computes the bytes and opens what is there.
func (k *commit) prepare() error {
	c := k.change
	var err error
	if !c.Delete {
		if k.after, err = encodeLimited(c.After, c.Format); err != nil {
			return err
		}
		sum := Hash(sha256.Sum256(k.after))
		k.entry.After = &sum
	}
	if c.Exists {
		if k.before, err = text.Encode(c.Text, c.Format); err != nil {
			return err
		}
		sum := Hash(sha256.Sum256(k.before))
		if sum != c.Hash {
			return errors.New("the change does not hold the text that its hash is of")
		}
		k.entry.Before = &sum
	}
	k.target = target{change: c, before: k.before}
	if err := k.target.locate(&k.root.files); err != nil {
		return err
	}
	if k.target.info != nil {
		k.entry.Mode = k.target.info.Mode() // it may have changed since the review
	}
	return nil
}

// run writes journal and temp file and puts the latter in the file's place. If
// it fails, nothing is left of it.
func (k *commit) run(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !k.change.Exists {
		k.entry.Dirs = k.target.missingDirs()
	}
	if k.change.Delete {
		k.entry.Dirs = k.change.Dirs
	} else {
		k.entry.Temp = tempName()
	}
	if err := k.begin(); err != nil {
		return fmt.Errorf("the undo journal: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.clean(), k.root.journal.End(&k.entry, false))
		}
	}()
	if k.target.dir == nil {
		if err := k.target.makeDirs(k.entry.Dirs); err != nil {
			return err
		}
	}
	if k.change.Delete {
		err = k.root.journal.Sync()
	} else {
		err = k.writeTemp()
	}
	if err != nil {
		return err
	}
	return k.replace(ctx)
}

// begin writes what undoing needs into the journal, and the entry. It is not
// durable yet.
func (k *commit) begin() error {
	if err := k.root.at(stepBlob); err != nil {
		return err
	}
	if k.entry.Before != nil {
		if err := k.root.journal.Keep(*k.entry.Before, k.before); err != nil {
			return err
		}
	}
	if err := k.root.at(stepJournal); err != nil {
		return err
	}
	return k.root.journal.Begin(&k.entry)
}

// tempName is a name that nobody else uses, and that recovery knows for ours.
func tempName() string { return tempPrefix + rand.Text() + tempSuffix }

const (
	tempPrefix = ".agent-"
	tempSuffix = ".tmp"
)

// settle makes the new name durable and closes the entry. An entry that stays
// open is settled by the next start, which cleans up then too.
func (k *commit) settle() error {
	if err := k.unlink(); err != nil {
		return err
	}
	if err := k.root.at(stepDone); err != nil {
		return err
	}
	err := syncDir(k.target.dir)
	if k.change.Delete {
		k.target.place.folder.removeEmpty(k.entry.Dirs)
	}
	return errors.Join(err, k.root.journal.End(&k.entry, true))
}

// clean removes what a failed commit made.
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

// written is the file after the commit.
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
	return file
}
