package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
// the reason why they cannot be is returned and nothing is written.
//
// The comparison and the replacement are two system calls: what another program
// writes between them (some ten microseconds) is lost. Other processes with the
// same home are shut out for that time, and a file that appears where a new one
// is to be made is never overwritten.
func (r *Root) Commit(ctx context.Context, c Change, by Origin) (File, error) {
	r.committing.Lock()
	defer r.committing.Unlock()
	e := entry{Session: by.Session, Turn: by.Turn, Tool: by.Tool}
	return r.commit(ctx, c, e)
}

// commit is one change on its way to the disk.
type commit struct {
	root   *Root
	change Change
	entry  entry
	before []byte // nil if there is no file
	after  []byte // nil if the file is to be removed

	place place
	dir   *os.Root // the file's folder, held from the first look to the last step
	base  string   // the file's name in dir
	old   *os.File // what is to be replaced; nil if nothing is
	info  fs.FileInfo
}

func (r *Root) commit(ctx context.Context, c Change, e entry) (file File, err error) {
	if r.journal == nil {
		return File{}, errors.New("this workspace was opened without a home for the undo journal: nothing can be written")
	}
	k := &commit{root: r, change: c, entry: e}
	defer func() { err = errors.Join(err, k.close()) }()
	if err := k.prepare(); err != nil {
		return File{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	if err := k.run(ctx); err != nil {
		return File{}, fmt.Errorf("%s was not written: %w", c.Name, err)
	}
	if err := k.settle(); err != nil {
		return File{}, fmt.Errorf("%s was written, but a power failure may still take that back: %w", c.Name, err)
	}
	return k.written(), nil
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
		if k.before, err = encode(c.Text, c.Format); err != nil {
			return err
		}
		sum := Hash(sha256.Sum256(k.before))
		if sum != c.Hash {
			return errors.New("the change does not hold the text that its hash is of")
		}
		k.entry.Before = &sum
	}
	k.entry.Path, k.entry.Name, k.entry.Format, k.entry.Mode = c.Path, c.Name, c.Format, c.Mode
	if err := k.locate(); err != nil {
		return err
	}
	if k.info != nil {
		k.entry.Mode = k.info.Mode() // it may have changed since the review
	}
	return nil
}

// locate finds the file again, by the resolved path that was reviewed.
func (k *commit) locate() error {
	p, err := k.root.resolve(k.change.Path)
	if err != nil {
		return err
	}
	if p.abs != k.change.Path {
		return fmt.Errorf("%w: there is a symlink on its way now", ErrStale)
	}
	if p.folder == nil {
		return ErrOutside
	}
	k.place, k.base = p, filepath.Base(p.rel)
	if !k.change.Exists {
		if p.info != nil {
			return fmt.Errorf("%w: it was created by someone else", ErrStale)
		}
		return nil
	}
	if k.dir, err = p.folder.root.OpenRoot(filepath.Dir(p.rel)); err != nil {
		return stale(err)
	}
	return k.hold()
}

// hold opens the file that is to be replaced. Holding it keeps its identity
// from being given to another file.
func (k *commit) hold() error {
	look, err := k.dir.Lstat(k.base)
	if err != nil {
		return stale(err)
	}
	if err := regular(k.change.Name, look); err != nil {
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	if k.old, err = k.dir.OpenFile(k.base, os.O_RDONLY|noWait, 0); err != nil {
		return stale(err)
	}
	if k.info, err = k.old.Stat(); err != nil {
		return err
	}
	if !os.SameFile(look, k.info) || k.info.Size() != int64(len(k.before)) {
		return ErrStale
	}
	return writable(k.change.Path, k.info)
}

// stale makes what went missing ErrStale.
func stale(err error) error {
	if missing(err) {
		return fmt.Errorf("%w: it is gone", ErrStale)
	}
	return err
}

// run writes journal and temp file and puts the latter in the file's place. If
// it fails, nothing is left of it.
func (k *commit) run(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !k.change.Exists {
		k.entry.Dirs = k.missingDirs()
	}
	if !k.change.Delete {
		k.entry.Temp = tempName()
	}
	if err := k.root.journal.begin(&k.entry, k.before, k.root.at); err != nil {
		return fmt.Errorf("the undo journal: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.clean(), k.root.journal.end(&k.entry, false))
		}
	}()
	if k.dir == nil {
		if err := k.makeDirs(); err != nil {
			return err
		}
	}
	if k.change.Delete {
		err = k.root.journal.sync()
	} else {
		err = k.writeTemp()
	}
	if err != nil {
		return err
	}
	return k.replace(ctx)
}

// tempName is a name that nobody else uses, and that recovery knows for ours.
func tempName() string { return tempPrefix + rand.Text() + tempSuffix }

const (
	tempPrefix = ".agent-"
	tempSuffix = ".tmp"
)

// missingDirs lists the folders on the way to the file that are not there yet,
// absolute, outermost first.
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

// makeDirs makes the missing folders, durably, and opens the file's.
func (k *commit) makeDirs() error {
	root, rel := k.place.folder.root, filepath.Dir(k.place.rel)
	if err := root.MkdirAll(rel, 0o777); err != nil {
		return err
	}
	for _, made := range k.entry.Dirs {
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

// settle makes the new name durable and closes the entry.
func (k *commit) settle() error {
	if err := k.root.at(stepDone); err != nil {
		return err
	}
	return errors.Join(syncDir(k.dir), k.root.journal.end(&k.entry, true))
}

// clean removes what a failed commit made.
func (k *commit) clean() error {
	var errs []error
	if k.dir != nil && k.entry.Temp != "" {
		if err := k.dir.Remove(k.entry.Temp); err != nil && !missing(err) {
			errs = append(errs, err)
		}
	}
	k.place.folder.removeEmpty(k.entry.Dirs)
	return errors.Join(errs...)
}

// removeEmpty removes the folders among dirs that are empty. Those that are not
// are in use by now, and stay.
func (f *folder) removeEmpty(dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		rel, ok := below(f.path, dirs[i])
		if !ok || rel == "." {
			continue
		}
		if info, err := f.root.Lstat(rel); err == nil && info.IsDir() {
			_ = f.root.Remove(rel) // fails where it is not empty
		}
	}
}

func (k *commit) close() error {
	var errs []error
	if k.old != nil {
		errs = append(errs, k.old.Close())
	}
	if k.dir != nil {
		errs = append(errs, k.dir.Close())
	}
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
	if k.info != nil && k.entry.Undoes == nil {
		file.Mode = k.info.Mode()
	}
	return file
}
