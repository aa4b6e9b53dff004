package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// CommitTogether writes all changes, each of another file, or none. It is otherwise like
// Commit of each. All new contents and the journal are on the disk before the first file
// is replaced. If a later one cannot be replaced, the first ones get their old content
// back; if the process dies between two of them, the next Open does that. An undo of the
// last change takes all of them back.
func (r *Root) CommitTogether(ctx context.Context, changes []Change, by Origin) (files []File, err error) {
	r.committing.Lock()
	defer r.committing.Unlock()
	if r.journal == nil {
		return nil, errors.New("this workspace was opened without an undo journal, so it is read-only")
	}
	g := r.groupOf(changes, by)
	defer func() {
		for _, k := range g {
			err = errors.Join(err, k.target.close())
		}
	}()
	for _, k := range g {
		err := r.heldElsewhere(k, by)
		if err == nil {
			err = k.prepare()
		}
		if err != nil {
			return nil, g.unwritten(g.of(k, err))
		}
	}
	if err := g.write(ctx, r); err != nil {
		return nil, err
	}
	for _, k := range g {
		files = append(files, k.written())
	}
	reported := meanwhile(func() error {
		for _, f := range files {
			r.report(ctx, f, by)
		}
		return nil
	})
	return files, errors.Join(g.finish(), reported())
}

// group is the changes that are written together.
type group []*commit

// groupOf returns the commits of changes: a move is two.
func (r *Root) groupOf(changes []Change, by Origin) (g group) {
	add := func(c Change) *commit {
		k := &commit{root: r, change: c, hosted: r.hosts(c, by)}
		g = append(g, k)
		return k
	}
	for _, c := range changes {
		if !c.Moves() {
			add(c)
			continue
		}
		made, gone := c.Halves()
		arrival := add(made)
		arrival.hosted = false
		arrival.source = &add(gone).target
	}
	if len(g) > 1 {
		by.Run, by.Together = rand.Text(), len(g)
	}
	for _, k := range g {
		k.entry = entryOf(k.change, by)
	}
	return g
}

// of returns an error of k that names it if it is one of several.
func (g group) of(k *commit, err error) error {
	if err == nil || len(g) == 1 {
		return err
	}
	return fmt.Errorf("%s: %w", k.change.Name, err)
}

// unwritten returns the error if no file of g was written.
func (g group) unwritten(err error) error {
	if len(g) == 1 {
		return fmt.Errorf("%s was not written: %w", g[0].change.Name, err)
	}
	return fmt.Errorf("nothing was written: %w", err)
}

// write puts all files in place, or none.
func (g group) write(ctx context.Context, r *Root) error {
	placed := 0
	err := g.stage(ctx, r)
	if err == nil {
		placed, err = g.place(ctx, r)
	}
	if err == nil {
		return nil
	}
	var left []string
	stays := make([]bool, len(g))
	for i, k := range g[:placed] {
		if k.takeBack() != nil {
			left, stays[i] = append(left, k.change.Name), true
		}
	}
	for i, k := range g { // after an outcome, recovery takes nothing back
		if !stays[i] {
			err = errors.Join(err, k.clean())
		}
		if k.entry.ID != "" {
			err = errors.Join(err, r.journal.End(&k.entry, stays[i]))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("only %s was written, and could not be taken back: %w", strings.Join(left, ", "), err)
	}
	return g.unwritten(err)
}

// stage writes the old contents to the journal and the new ones to temp files, and makes
// them durable.
func (g group) stage(ctx context.Context, r *Root) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, k := range g {
		k.entry.Dirs = k.change.Dirs
		if !k.change.Exists {
			k.entry.Dirs = k.target.missingDirs()
		}
		k.entry.Temp = tempName()
		if err := r.begin(&k.entry, k.before, k.after); err != nil {
			return fmt.Errorf("the undo journal: %w", err)
		}
	}
	synced := meanwhile(r.journal.Sync)
	var err error
	for _, k := range g {
		if err == nil {
			err = g.of(k, g.stageName(k))
		}
	}
	return errors.Join(err, synced())
}

// stageName is stage that also makes the temp file's name durable, if there are several: a file
// replaced before a power failure must not be the only one that can be.
func (g group) stageName(k *commit) error {
	if err := k.stage(); err != nil || k.change.Delete || len(g) == 1 {
		return err
	}
	return syncDir(k.target.dir)
}

// place compares all files, then replaces them. It returns the number of those replaced.
func (g group) place(ctx context.Context, r *Root) (placed int, err error) {
	lock, err := r.journal.Lock(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	for _, k := range g {
		if err := r.at(stepCheck); err != nil {
			return 0, err
		}
		if err := k.check(); err != nil {
			return 0, g.of(k, err)
		}
	}
	for i, k := range g {
		if err := r.at(stepRename); err != nil {
			return i, err
		}
		if len(g) > 1 { // the other files took time
			err = k.target.checkAgain()
		}
		if err == nil {
			err = k.swap()
		}
		if err != nil {
			return i, g.of(k, err)
		}
	}
	return len(g), nil
}

// finish makes the new names durable and closes the entries. Until all names are durable no
// temp file is removed and no entry is closed: after a power failure that loses some of them,
// recovery can tell which, and takes the others back.
func (g group) finish() error {
	errs := make([]error, len(g))
	for i, k := range g {
		if len(g) == 1 {
			errs[i] = k.unlink()
		}
		errs[i] = errors.Join(errs[i], k.settle())
	}
	for i, k := range g {
		if k.linked {
			errs[i] = errors.Join(errs[i], k.unlink(), syncDir(k.target.dir))
		}
	}
	for i, k := range g {
		if !k.linked { // else the next start removes its temp file
			errs[i] = errors.Join(errs[i], k.end())
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s %w: %w", k.change.Name, ErrNotDurable, errs[i])
		}
		errs[i] = errors.Join(errs[i], k.late)
	}
	return errors.Join(errs...)
}

// takeBack gives the file of k the content before again. A host gets it first: it would
// put its own text back.
func (k *commit) takeBack() error {
	if k.hosted && k.change.Exists && k.root.host.Write(k.change.Path, k.change.Text) == nil {
		if sum, err := hashOf(k.change.Path); err == nil && same(sum, k.entry.Before) {
			return nil
		}
	}
	return takeBack(&k.entry, k.before)
}

// takeBack gives the file of e the content before e again, if it still holds the one
// after e.
func takeBack(e *journal.Entry, before []byte) (err error) {
	dir, err := os.OpenRoot(filepath.Dir(e.Path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if !onDisk(e) {
		return ErrStale
	}
	base := filepath.Base(e.Path)
	if e.Before == nil {
		return errors.Join(dir.Remove(base), syncDir(dir))
	}
	removeTemp(dir, e.Temp)
	temp, err := newTemp(dir, e.Temp, 0o600, before, func(temp *os.File) (err error) {
		if e.After != nil {
			err = copyMetadata(temp, dir, base)
		}
		return errors.Join(err, temp.Chmod(e.Mode&keptMode))
	})
	if err != nil {
		return err
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := dir.Rename(e.Temp, base); err != nil {
		return err
	}
	return syncDir(dir)
}

// copyMetadata gives temp the owner and the attributes of the file base in dir, which has no
// other name.
func copyMetadata(temp *os.File, dir *os.Root, base string) error {
	f, err := dir.OpenFile(base, os.O_RDONLY|noWait|noFollow, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = single(info)
	}
	if err == nil {
		err = errors.Join(copyOwner(temp, info), copyAttributes(temp, f))
	}
	return errors.Join(err, f.Close())
}

// recoverGroup takes back those of the files written together that a process had replaced
// when it died before the others. Nothing happens if it had replaced none, or all.
func recoverGroup(entries []*journal.Entry, content func(*journal.Entry) ([]byte, error)) (out journal.TakenBack) {
	var made []*journal.Entry
	waits := false
	for _, e := range entries {
		switch {
		case onDisk(e):
			made = append(made, e)
		case waiting(e):
			waits = true
		default: // somebody else has changed it since
			out.Left = append(out.Left, e.Name)
		}
	}
	if len(made) == 0 || !waits {
		return journal.TakenBack{}
	}
	for _, e := range made {
		var before []byte
		var err error
		if e.Before != nil {
			before, err = content(e)
		}
		if err == nil {
			err = takeBack(e, before)
		}
		if err != nil {
			out.Left = append(out.Left, e.Name)
			continue
		}
		out.Names = append(out.Names, e.Name)
	}
	out.Of = len(entries)
	return out
}

// waiting reports whether the file of e was not replaced yet: its temp file is there, or
// the file to remove.
func waiting(e *journal.Entry) bool {
	if e.After == nil {
		sum, err := hashOf(e.Path)
		return err == nil && same(sum, e.Before)
	}
	_, err := os.Lstat(filepath.Join(filepath.Dir(e.Path), e.Temp))
	return err == nil
}
