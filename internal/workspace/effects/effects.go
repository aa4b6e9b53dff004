// Package effects records in the undo journal what commands change. It guarantees that a
// change is recorded with the content, mode and kind before it or with the reason why
// they are unknown, that a file which git ignores is left out unless it is included, and
// that nothing is read or copied twice as long as it does not change.
//
// It cannot tell a change by the command from one by somebody else at the same time: it
// records what changed while the command ran.
package effects

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/gitignore"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Options configures a Tracker.
type Options struct {
	// Include lists ignored files that count after all, as in a .gitignore file.
	Include []string
	Home    string // the program's own folder
	// Changed, if not nil, is called with each file that a command changed, once that is in
	// the journal. It must not call the Tracker.
	Changed func(ctx context.Context, f workspace.File, by workspace.Origin)
}

// Tracker follows the files of a workspace. A nil Tracker records nothing. It is safe for
// concurrent use.
type Tracker struct {
	root    *workspace.Root
	home    string
	include *gitignore.Rules
	changed func(context.Context, workspace.File, workspace.Origin) // see Options
	most    int64                                                   // of the files of a folder that are followed

	mu     sync.Mutex // guards the rest; never held when a commit calls Wrote
	tables []*table
	store  *store
	failed error     // why nothing is recorded
	synced time.Time // the last refresh
	front  *Run      // the command that somebody waits for
	jobs   []*Run    // commands in the background, oldest first

	warming sync.WaitGroup

	ownMu sync.Mutex
	stop  context.CancelFunc // of the first Warm; nil before
	// own and before hold the states that the program itself wrote, by path: since the
	// last refresh, and before it.
	own, before map[string]workspace.State
}

// New returns a tracker of root. It reads nothing yet.
func New(root *workspace.Root, opt Options) *Tracker {
	return &Tracker{
		root: root, home: opt.Home, changed: opt.Changed, most: maxPaths, own: map[string]workspace.State{},
		include: gitignore.Parse(strings.Join(opt.Include, "\n")),
	}
}

// Warm begins to copy the files, so that the first Start has less to do. It does not wait.
func (t *Tracker) Warm(ctx context.Context) {
	if t == nil {
		return
	}
	t.ownMu.Lock()
	defer t.ownMu.Unlock()
	if t.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	t.stop = cancel
	t.warming.Add(1)
	go func() {
		defer crash.Guard()
		defer t.warming.Done()
		defer cancel()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.failed == nil && t.store == nil {
			_ = t.sync(ctx) // Start tries again and reports an error
		}
	}()
}

// Command is a command whose effects are recorded.
type Command struct {
	Origin     workspace.Origin
	Line       string
	Background bool
}

// Run is a command that runs.
type Run struct {
	tracker *Tracker
	by      workspace.Origin
	job     bool
	report  Report // so far
}

// Start is called before a command runs. Nil is returned if its effects cannot be
// recorded; why is the reason, each time.
func (t *Tracker) Start(ctx context.Context, c Command) (run *Run, why error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed != nil {
		return nil, t.failed
	}
	if err := t.sync(ctx); err != nil {
		if ctx.Err() == nil {
			t.failed = err
		}
		return nil, err
	}
	by := c.Origin
	by.Run, by.Command = rand.Text(), c.Line
	if err := errors.Join(t.store.note(record{Begun: &begun{t.synced, by}}), t.store.flush()); err != nil {
		t.failed = err
		return nil, err
	}
	r := &Run{tracker: t, by: by, job: c.Background}
	if r.job {
		t.jobs = append(t.jobs, r)
	} else {
		t.front = r
	}
	return r, nil
}

// Moved makes the command one in the background.
func (r *Run) Moved() {
	if r == nil {
		return
	}
	t := r.tracker
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.front == r {
		t.front = nil
	}
	r.job, t.jobs = true, append(t.jobs, r)
}

// End is called after the command ended. It records what changed since Start.
func (r *Run) End(ctx context.Context) Report {
	if r == nil {
		return Report{}
	}
	t := r.tracker
	t.mu.Lock()
	defer t.mu.Unlock()
	if !r.job || t.front == nil { // else the command in front ends later, and takes it all
		r.take(context.WithoutCancel(ctx))
	}
	if t.front == r {
		t.front = nil
	}
	t.jobs = slices.DeleteFunc(t.jobs, func(j *Run) bool { return j == r })
	if t.store != nil {
		if err := errors.Join(t.store.note(record{Ended: r.by.Run}), t.store.flush()); err != nil {
			t.failed = err
		}
	}
	return r.report
}

// Wrote tells the tracker about a file that the program itself wrote.
func (t *Tracker) Wrote(f workspace.File) {
	if t == nil {
		return
	}
	t.ownMu.Lock()
	defer t.ownMu.Unlock()
	state := workspace.State{Mode: f.Mode}
	if f.Exists {
		state.Hash = &f.Hash
	}
	t.own[f.Path] = state
}

// Close removes the copies.
func (t *Tracker) Close() error {
	if t == nil {
		return nil
	}
	t.ownMu.Lock()
	if t.stop != nil {
		t.stop()
	}
	t.ownMu.Unlock()
	t.warming.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = errors.New("the session has ended")
	if t.store == nil {
		return nil
	}
	s := t.store
	t.store = nil
	return s.close()
}

// open makes the tables and the store.
func (t *Tracker) open() error {
	if t.store != nil {
		return nil
	}
	s, err := newStore(t.home, storePrefix(t.root))
	if err != nil {
		return err
	}
	t.store = s
	t.makeTables()
	return nil
}

func (t *Tracker) makeTables() {
	roots := t.root.Roots()
	home, err := filepath.EvalSymlinks(t.home)
	if err != nil {
		home = t.home
	}
	for _, abs := range roots {
		skip := map[string]bool{home: true}
		for _, other := range roots {
			skip[other] = true
		}
		t.tables = append(t.tables, &table{
			abs: abs, above: gitignore.Above(abs, abs), include: t.include, skip: skip, top: &folder{}, most: t.most,
		})
	}
}

// sync brings the tables up to date, and copies new files. Changes since the last time
// belong to the newest command in the background, if any.
func (t *Tracker) sync(ctx context.Context) error {
	if err := t.open(); err != nil {
		return err
	}
	if len(t.jobs) > 0 {
		t.jobs[len(t.jobs)-1].take(context.WithoutCancel(ctx))
		return t.failed
	}
	if _, err := t.refresh(ctx); err != nil {
		return err
	}
	return t.keep(ctx)
}

// refresh returns what changed since the last time.
func (t *Tracker) refresh(ctx context.Context) ([]change, error) {
	t.ownMu.Lock()
	t.before, t.own = t.own, map[string]workspace.State{}
	t.ownMu.Unlock()
	since := t.synced
	t.synced = time.Now()
	var all []change
	for i, tb := range t.tables {
		deltas, err := tb.refresh(ctx, since)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(deltas, func(a, b delta) int { return strings.Compare(a.name, b.name) })
		for _, d := range deltas {
			all = append(all, change{delta: d, table: tb})
			if d.now == nil && t.store.logs != nil {
				if err := t.store.note(record{Table: i, Name: []byte(d.name), Gone: true}); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// keep copies the files that have no copy yet.
func (t *Tracker) keep(ctx context.Context) error {
	if t.store.size > maxKept {
		if err := t.renew(); err != nil {
			return err
		}
	}
	for i, tb := range t.tables {
		if !tb.unkept.Swap(false) {
			continue
		}
		var fault error
		tb.top.each("", func(base, name string, it *item) {
			if it.logged || fault != nil || ctx.Err() != nil {
				return
			}
			if !it.mode.IsDir() {
				at, err := t.copy(filepath.Join(tb.abs, filepath.FromSlash(base), name), it)
				if err != nil && !writeFault(err) {
					tb.unkept.Store(true)
					return
				}
				it.kept, fault = at, err
			}
			it.logged = true
			fault = errors.Join(fault, t.store.note(record{Table: i, Name: []byte(path.Join(base, name)), Item: it.saved()}))
		})
		if err := errors.Join(fault, ctx.Err()); err != nil {
			tb.unkept.Store(true)
			return err
		}
	}
	return nil
}

// renew begins a new store if half of the full one is copies that nobody needs.
func (t *Tracker) renew() error {
	var live int64
	for _, tb := range t.tables {
		tb.top.each("", func(_, _ string, it *item) {
			if it.kept.kept {
				live += it.size
			}
		})
	}
	if live > maxKept/2 {
		return nil
	}
	s, err := newStore(t.home, storePrefix(t.root))
	if err != nil {
		return err
	}
	old := t.store
	t.store = s
	for _, tb := range t.tables {
		tb.unkept.Store(true)
		tb.top.each("", func(_, _ string, it *item) { it.logged, it.kept = false, extent{} })
	}
	for _, r := range append(slices.Clone(t.jobs), t.front) {
		if r != nil {
			err = errors.Join(err, s.note(record{Begun: &begun{t.synced, r.by}}))
		}
	}
	return errors.Join(err, old.close())
}

// copy copies a file or a link.
func (t *Tracker) copy(abs string, it *item) (extent, error) {
	if it.mode&fs.ModeSymlink == 0 {
		return t.store.add(abs, it.stat)
	}
	target, err := os.Readlink(abs)
	if err != nil {
		return extent{}, err
	}
	if int64(len(target)) != it.size {
		return extent{}, errMoved
	}
	return t.store.addBytes([]byte(target))
}

// writeFault reports whether err is about the store, not about a file.
func writeFault(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && at.Op == "write"
}

// take records what changed since the last refresh as the effects of r.
func (r *Run) take(ctx context.Context) {
	t := r.tracker
	if t.failed != nil {
		r.report.Err = t.failed
		return
	}
	err := r.record(ctx, nil)
	if err == nil {
		err = t.keep(ctx)
	}
	if err != nil {
		t.failed, r.report.Err = err, err
	}
}

// record is take without new copies. It leaves out the paths in except.
func (r *Run) record(ctx context.Context, except map[string]bool) error {
	t := r.tracker
	found, err := t.refresh(ctx)
	if err != nil {
		return err
	}
	effects, counted := found[:0], int64(maxCounted)
	for _, c := range found {
		if t.examine(&c, &counted) && !except[c.effect.Path] {
			effects = append(effects, c)
		}
	}
	r.report.add(effects)
	if err := t.root.Record(t.store.contents(effects), r.by); err != nil {
		return err
	}
	for _, c := range effects {
		if t.changed == nil || c.ofFolder() {
			continue
		}
		f := workspace.File{Path: c.effect.Path, Name: c.effect.Name, Exists: c.effect.After.Exists()}
		if f.Exists {
			f.Hash = *c.effect.After.Hash
		}
		t.changed(ctx, f, r.by)
	}
	return nil
}
