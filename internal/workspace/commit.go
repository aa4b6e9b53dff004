package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/bb2d0cf4/agent/internal/crash"
)

// Policy is the effect of a failure on the other changes of a commit.
type Policy int

const (
	// AllOrNone makes all changes or none. If a later one cannot be made, the first ones are
	// taken back; if the process dies between two of them, the next Open does that. An undo of
	// the last change takes all of them back.
	AllOrNone Policy = iota
	// UntilFailure makes the changes in order and stops at the first that fails.
	UntilFailure
)

// Commit makes changes, each of another path, and returns the files as written, in order. The
// error is ErrStale if a path is no longer in the state that a change was computed from. The
// old and the new contents and the journal are on the disk before the first path is changed.
// Mode, owner, group, attributes and access list of a file are kept; if they cannot be, it is
// not written. Only with ErrNotDurable and ErrDiffers have the returned files been written
// despite the error.
//
// The comparison and the replacement are two system calls: a write by another program
// between them, within some ten microseconds, is lost. Other processes with the same home
// are locked out meanwhile, and a file that appears where a new one is to be made is
// never overwritten.
//
// A move is a file made at its new place and one removed at the old one: both, or neither. A
// folder that is to be removed stays if something is in it, which is no error.
//
// The host of the session writes the files that it holds. If it saves another text, the error is
// ErrDiffers, and the file is as it saved it.
//
// If by.Undoes is set, a change takes back these entries of the journal: the file gets its mode.
func (r *Root) Commit(ctx context.Context, p Policy, by Origin, changes ...Change) (files []File, err error) {
	r.committing.Lock()
	defer r.committing.Unlock()
	if r.journal == nil {
		return nil, errors.New("this workspace was opened without an undo journal, so it is read-only")
	}
	for all := r.commits(changes, p, by); len(all) > 0 && err == nil; {
		b := batch{root: r, policy: p, all: all}
		if p == UntilFailure {
			b.all = all[:together(all)]
		}
		all = all[len(b.all):]
		var some []File
		some, err = b.commit(ctx)
		files = append(files, some...)
	}
	return files, err
}

// commits returns the commits of changes: a move is two.
func (r *Root) commits(changes []Change, p Policy, by Origin) (all []*commit) {
	add := func(c Change) *commit {
		k := &commit{root: r, change: c}
		k.entry.Origin = by
		if c.By != nil {
			k.entry.Origin = *c.By
		}
		k.hosted = r.hosts(c, k.entry.Origin)
		all = append(all, k)
		return k
	}
	for _, c := range changes {
		if !c.Moves() {
			add(c)
			continue
		}
		made, gone := c.Halves()
		var arrival *commit
		if twins(c.Path, c.To) { // where both names are one, it is free only then
			departure := add(gone)
			arrival = add(made)
			arrival.source = departure
		} else {
			arrival = add(made)
			arrival.source = add(gone)
		}
		arrival.hosted = false
	}
	pair(all)
	if p == AllOrNone && len(all) > 1 {
		run := rand.Text()
		for _, k := range all {
			k.entry.Run, k.entry.Together = run, len(all)
		}
	}
	return all
}

// pair tells commits that make a file which other goes before them whose name was the same but for the case.
func pair(all []*commit) {
	gone := map[string]*commit{}
	for _, k := range all {
		switch name := foldName(k.change.Path); {
		case k.change.Delete:
			gone[name] = k
		case !k.change.Exists:
			k.twin = gone[name]
		}
	}
}

// Bounds of the changes that are made durable together, if not all have to be.
const (
	maxTogether      = 128
	maxTogetherBytes = 8 << 20
	syncsAtOnce      = 16
)

// together returns the number of the first commits that are made durable together. One in a folder
// that is changed itself waits for that.
func together(all []*commit) int {
	paths, size := map[string]bool{}, int64(0)
	for i, k := range all {
		if i == maxTogether || size > maxTogetherBytes || inOneOf(paths, k.change.Path) {
			return i
		}
		size += k.change.Size + int64(len(k.change.After))
		if s := k.change.States; s != nil {
			size += int64(len(s.Content))
		}
		paths[k.change.Path] = true
	}
	return len(all)
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

// batch is the changes that are made durable together.
type batch struct {
	root   *Root
	policy Policy
	all    []*commit
}

// commit makes the changes as the policy wants.
func (b *batch) commit(ctx context.Context) (files []File, err error) {
	defer func() {
		for _, k := range b.all {
			err = errors.Join(err, k.close())
		}
	}()
	placed := 0
	at, err := b.stage(ctx) // the first that cannot be made, if err is not nil
	if err == nil || b.policy == UntilFailure && at > 0 {
		var e error
		if placed, at, e = b.place(ctx, at, err != nil); e != nil {
			err = e
		}
	}
	switch {
	case err == nil:
	case b.policy == AllOrNone:
		return nil, b.takeBack(placed, at, err)
	default:
		err = fmt.Errorf("%s was not written: %w", b.all[at].change.Name, err)
	}
	for _, k := range b.all[:placed] {
		files = append(files, k.written())
	}
	reported := meanwhile(func() error {
		for i, f := range files {
			if k := b.all[i]; k.placed {
				b.root.report(ctx, f, k.entry.Origin)
			}
		}
		return nil
	})
	return files, errors.Join(err, b.finish(placed), reported())
}

// each calls f for the first n commits until it fails or ctx ends, and returns the number of the
// others before that.
func (b *batch) each(ctx context.Context, n int, f func(*commit) error) (int, error) {
	for i, k := range b.all[:n] {
		err := f(k)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return i, err
		}
	}
	return n, nil
}

// stage writes the old contents to the journal and the new ones to temp files, and makes
// them durable. It returns the number of commits for which that was done before an error.
func (b *batch) stage(ctx context.Context) (ready int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ready, err = b.each(ctx, len(b.all), (*commit).prepare)
	further := func(f func() (int, error)) {
		if err != nil && b.policy == AllOrNone {
			return
		}
		if err != nil { // those before it are still made
			ctx = context.WithoutCancel(ctx)
		}
		if n, e := f(); e != nil {
			ready, err = n, e
		}
	}
	further(func() (int, error) { return b.each(ctx, ready, (*commit).begin) })
	if ready == 0 || err != nil && b.policy == AllOrNone {
		return ready, err
	}
	synced := meanwhile(b.root.journal.Sync)
	further(func() (int, error) { return b.each(ctx, ready, (*commit).stage) })
	further(func() (int, error) { return b.sync(ready) })
	if e := synced(); e != nil {
		return 0, fmt.Errorf("the undo journal: %w", e)
	}
	return ready, err
}

// sync makes the temp files of the first n commits durable and, if all must be in place, their
// names: a file replaced before a power failure must not be the only one that can be.
func (b *batch) sync(n int) (int, error) {
	var group errgroup.Group
	group.SetLimit(syncsAtOnce)
	failed, err := 0, error(nil)
	for i, k := range b.all[:n] {
		if k.file == nil {
			continue
		}
		if err = b.root.at(stepSync); err != nil {
			failed = i
			break
		}
		group.Go(func() error {
			defer crash.Guard()
			return k.sync()
		})
	}
	if e := group.Wait(); e != nil {
		return 0, e
	}
	if err == nil && b.policy == AllOrNone && len(b.all) > 1 {
		err = b.syncDirs(func(k *commit) bool { return k.temporary() })
	}
	return failed, err
}

// syncDirs makes the names in the folders of some commits durable.
func (b *batch) syncDirs(some func(*commit) bool) error {
	var errs []error
	synced := map[string]bool{}
	for _, k := range b.all {
		if dir := filepath.Dir(k.change.Path); k.dir != nil && !synced[dir] && some(k) {
			synced[dir] = true
			errs = append(errs, syncDir(k.dir))
		}
	}
	return errors.Join(errs...)
}

// place compares the first n files and replaces them; if all must be replaced, it compares all
// first. It returns the number of those replaced, and the index of the one that cannot be. ended
// means that ctx may have ended.
func (b *batch) place(ctx context.Context, n int, ended bool) (placed, at int, err error) {
	if ended {
		ctx = context.WithoutCancel(ctx)
	}
	lock, err := b.root.journal.Lock(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	for at = 0; at < n && b.policy == AllOrNone; at++ {
		if err := b.all[at].check(); err != nil {
			return 0, at, err
		}
	}
	for at = 0; at < n; at++ {
		k := b.all[at]
		if b.policy == UntilFailure {
			err = errors.Join(ctx.Err(), k.check())
		} else if n > 1 { // the other files took time
			err = k.checkAgain()
		}
		if err == nil {
			err = b.root.at(stepRename)
		}
		if err == nil {
			err = k.swapPatiently()
		}
		if err != nil {
			return at, at, err
		}
	}
	return n, n, nil
}

// finish makes the first n names durable, closes their entries, and drops the other commits. If
// all had to be in place, no temp file is removed and no entry closed until all names are
// durable: after a power failure that loses some of them, recovery can tell which, and takes the
// others back.
func (b *batch) finish(n int) error {
	errs := make([]error, n)
	late := map[*commit]bool{}
	for i, k := range b.all[:n] {
		if b.policy == UntilFailure || len(b.all) == 1 {
			errs[i] = k.unlink()
		} else if k.linked {
			late[k] = true
		}
		errs[i] = errors.Join(errs[i], b.root.at(stepDone))
	}
	synced := b.syncDirs(func(k *commit) bool { return k.placed })
	for k := range late {
		synced = errors.Join(synced, k.unlink())
	}
	synced = errors.Join(synced, b.syncDirs(func(k *commit) bool { return late[k] }))
	for i, k := range b.all[:n] {
		if errs[i] = errors.Join(errs[i], synced); !k.linked { // else the next start removes its temp file
			errs[i] = errors.Join(errs[i], k.end(k.placed))
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s %w: %w", k.change.Name, ErrNotDurable, errs[i])
		}
		errs[i] = errors.Join(errs[i], k.late)
	}
	for _, k := range b.all[n:] {
		errs = append(errs, k.end(false))
	}
	return errors.Join(errs...)
}

// takeBack gives the first n files their old content, drops all commits, and returns the error
// why, which is about the commit at an index.
func (b *batch) takeBack(n, at int, why error) error {
	prefix := "nothing was written"
	if len(b.all) == 1 {
		prefix = b.all[0].change.Name + " was not written"
	} else if at < len(b.all) {
		why = fmt.Errorf("%s: %w", b.all[at].change.Name, why)
	}
	var left []string
	for i, k := range slices.Backward(b.all) {
		stays := i < n && k.takeBack() != nil
		if stays {
			left = append(left, k.change.Name)
		}
		why = errors.Join(why, k.end(stays)) // after an outcome, recovery takes nothing back
	}
	slices.Reverse(left)
	if len(left) > 0 {
		prefix = "only " + strings.Join(left, ", ") + " was written, and could not be restored"
	}
	return fmt.Errorf("%s: %w", prefix, why)
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
