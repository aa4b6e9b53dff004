package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// Bounds of the restorations that are made durable together.
const (
	maxTogether      = 128
	maxTogetherBytes = 8 << 20
	syncsAtOnce      = 16
)

// Restore undoes or redoes changes by a command: of files, links and folders, with their
// modes, in this order. It stops at the first that fails, and returns how many were made
// before: with ErrNotDurable the one after these was made too. If a path is not in its state
// From, the error is ErrStale. The old content goes to the undo journal first, durably. A
// folder that is not empty is not removed, which is no error: somebody uses it.
func (r *Root) Restore(ctx context.Context, all []Restoration) (done int, err error) {
	r.committing.Lock()
	defer r.committing.Unlock()
	if r.journal == nil {
		return 0, errors.New("this workspace was opened without an undo journal, so it is read-only")
	}
	for done < len(all) {
		n, err := r.restoreSome(ctx, all[done:])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// restores are restorations that are made durable together.
type restores struct {
	root *Root
	all  []*restore
	// next is the error of the restoration after these.
	next error
}

// restoreSome makes the first of the restorations.
func (r *Root) restoreSome(ctx context.Context, all []Restoration) (done int, err error) {
	b := restores{root: r}
	defer func() {
		for _, k := range b.all {
			err = errors.Join(err, k.close())
		}
	}()
	b.prepare(ctx, all)
	err = errors.Join(r.at(stepSync), b.sync())
	for err == nil && done < len(b.all) {
		if err = b.all[done].replace(ctx); err == nil {
			done++
		}
	}
	synced := errors.Join(b.syncDirs(), b.end(ctx))
	if err == nil {
		err = b.next
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%s was not written: %w", all[done].Name, errors.Join(err, synced))
	case synced != nil:
		done--
		err = fmt.Errorf("%s %w: %w", all[done].Name, ErrNotDurable, synced)
	}
	return done, err
}

// prepare prepares restorations up to one that must wait for those before it, or fails.
func (b *restores) prepare(ctx context.Context, all []Restoration) {
	paths, size := map[string]bool{}, 0
	for _, x := range all {
		if len(b.all) == maxTogether || size > maxTogetherBytes || inOneOf(paths, x.Path) {
			return
		}
		if b.next = ctx.Err(); b.next != nil {
			return
		}
		k := &restore{Restoration: x, root: b.root}
		if b.next = k.open(); b.next == nil {
			b.next = k.prepare()
		}
		if b.next != nil {
			if k.entry.ID != "" {
				k.clean()
				b.next = errors.Join(b.next, b.root.journal.End(&k.entry, false))
			}
			b.next = errors.Join(b.next, k.close())
			return
		}
		b.all = append(b.all, k)
		size += len(k.before) + len(k.Content)
		paths[x.Path] = true
	}
}

// inOneOf reports whether a path is in one of the folders.
func inOneOf(folders map[string]bool, path string) bool {
	for dir := filepath.Dir(path); ; path, dir = dir, filepath.Dir(dir) {
		if folders[dir] {
			return true
		}
		if dir == path {
			return false
		}
	}
}

// sync makes the journal and the new files durable.
func (b *restores) sync() error {
	if len(b.all) == 0 {
		return nil
	}
	var group errgroup.Group
	group.SetLimit(syncsAtOnce)
	for _, k := range b.all {
		if k.temp != nil {
			group.Go(func() error {
				defer crash.Guard()
				return k.sync()
			})
		}
	}
	return errors.Join(b.root.journal.Sync(), group.Wait())
}

// syncDirs makes the new names durable.
func (b *restores) syncDirs() error {
	var errs []error
	synced := map[string]bool{}
	for _, k := range b.all {
		dir := filepath.Dir(k.Path)
		if k.done && k.target.dir != nil && !synced[dir] {
			synced[dir] = true
			errs = append(errs, syncDir(k.target.dir))
		}
	}
	return errors.Join(errs...)
}

// end records the outcomes, and removes the leftovers of what failed and the folders that are
// empty now.
func (b *restores) end(ctx context.Context) error {
	var errs []error
	for _, k := range b.all {
		switch {
		case !k.done:
			k.clean()
		case !k.To.Exists():
			k.target.place.folder.removeEmpty(k.entry.Dirs)
		}
		errs = append(errs, b.root.journal.End(&k.entry, k.done))
	}
	if b.root.committed == nil {
		return errors.Join(errs...)
	}
	for _, k := range b.all {
		if !k.done {
			continue
		}
		f := File{Path: k.Path, Name: k.Name, Exists: k.To.Exists(), Mode: k.To.Mode, Size: int64(len(k.Content))}
		if f.Exists {
			f.Hash = *k.To.Hash
		}
		b.root.committed(ctx, f, k.By)
	}
	return errors.Join(errs...)
}
