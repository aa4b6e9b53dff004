//go:build amd64 || arm64

package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/hexsum"
	"github.com/bb2d0cf4/agent/internal/room"
	"github.com/bb2d0cf4/agent/internal/sandbox"
	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Probe reports why this system has no trials, by running one that does nothing. state and jobs are as in Options; without
// jobs, this program may run no other commands meanwhile.
func Probe(ctx context.Context, state string, jobs Jobs) sandbox.Offer {
	var err error
	if jobs != nil {
		err = probe(ctx, state, jobs)
	} else {
		own := shell.NewJobs()
		err = errors.Join(probe(ctx, state, own), own.Close())
	}
	if err != nil {
		return sandbox.Offer{Missing: err.Error()}
	}
	return sandbox.Offer{}
}

func probe(ctx context.Context, state string, jobs Jobs) (err error) {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(state, "probe")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(dir)) }()
	over := room.Overlay{Lower: filepath.Join(dir, "lower"), Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work")}
	for _, sub := range []string{over.Lower, over.Upper, over.Work, filepath.Join(dir, "at")} {
		if err := os.Mkdir(sub, 0o700); err != nil {
			return err
		}
	}
	r := room.New(filepath.Join(dir, "at"), 1<<20)
	for _, path := range system {
		r.Show(path)
	}
	r.Change(over.Lower, over)
	got, err := jobs.Run(ctx, shell.Options{Line: "echo >made", Dir: over.Lower, Sandbox: r, Timeout: 10 * time.Second})
	if err != nil {
		return explain(err)
	}
	if end := r.Ending(); end.Failed != "" {
		return errors.New("a command cannot be isolated: " + end.Failed)
	}
	if _, err := os.Stat(filepath.Join(over.Upper, "made")); err != nil || got.ExitCode != 0 {
		return fmt.Errorf("an isolated command failed: %s", got.Output)
	}
	return nil
}

// explain returns the error of the start of a room, with its meaning.
func explain(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("the system lets nobody but root make namespaces for users: %w", err)
	}
	return err
}

// Trials runs commands in trials, one at a time. It is safe for concurrent use.
type Trials struct {
	opt   Options
	roots []*folder
	dir   string // of this process below Options.State
	lock  *os.File

	mu  sync.Mutex
	etc systemDir
}

// maxSlots is the number of processes that may have trials in the same folder at once.
const maxSlots = 64

// New prepares trials of the workspace. It fails for a folder that holds the home or opt.State, and
// leaves the rest to the first run.
func New(opt Options) (*Trials, error) {
	state, err := filepath.Abs(opt.State)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	if state, err = filepath.EvalSymlinks(state); err != nil {
		return nil, err
	}
	t := &Trials{opt: opt, etc: systemDir{path: "/etc"}}
	home, _ := os.UserHomeDir() // without one, there is nothing to protect in it
	if home, err = filepath.EvalSymlinks(home); err != nil {
		home = ""
	}
	for _, root := range opt.Root.Roots() {
		if home != "" && subpath.In(root, home) || subpath.In(root, state) || root == "/" {
			return nil, fmt.Errorf("%s holds your home or the state of this program", root)
		}
		if !slices.ContainsFunc(opt.Root.Roots(), func(other string) bool { return other != root && subpath.In(other, root) }) {
			t.roots = append(t.roots, &folder{root: root, secrets: secrets{home: opt.Home}})
		}
	}
	if err := prune(state); err != nil {
		return nil, err
	}
	return t, t.claim(filepath.Join(state, hexsum.Of([]byte(opt.Root.Dir()))[:16]))
}

// claim takes a folder that no other process uses, if possible the one of the last session.
func (t *Trials) claim(base string) error {
	for slot := range maxSlots {
		dir := base + "-" + strconv.Itoa(slot)
		if err := os.MkdirAll(filepath.Join(dir, "at"), 0o700); err != nil {
			return err
		}
		if lock := lockOf(dir); lock != nil {
			t.dir, t.lock = dir, lock
			now := time.Now()
			return os.Chtimes(lock.Name(), now, now)
		}
	}
	return fmt.Errorf("%d sessions have trials in this folder already", maxSlots)
}

// prune removes the folders that no process has used for long.
func prune(state string) error {
	entries, err := os.ReadDir(state)
	errs := []error{err}
	for _, e := range entries {
		dir := filepath.Join(state, e.Name())
		info, err := os.Stat(filepath.Join(dir, "lock"))
		if err != nil || time.Since(info.ModTime()) < maxAge {
			continue
		}
		if lock := lockOf(dir); lock != nil {
			errs = append(errs, removeAll(dir), lock.Close())
		}
	}
	return errors.Join(errs...)
}

// lockOf returns the lock of a folder; nil if another process holds it.
func lockOf(dir string) *os.File {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil
	}
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = lock.Close() // nothing was written
		return nil
	}
	return lock
}

// Close lets another process use the ignored files that trials left, unless they are too large.
func (t *Trials) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	entries, err := os.ReadDir(t.dir)
	errs := []error{err}
	if t.written(time.Time{}) > maxKept {
		for _, e := range entries {
			if e.IsDir() {
				errs = append(errs, removeAll(filepath.Join(t.dir, e.Name())))
			}
		}
		entries = nil
	}
	for _, e := range entries { // nobody may read the folders of mounts, which is in the way of the removal of State
		if e.IsDir() {
			errs = append(errs, removeAll(filepath.Join(t.dir, e.Name(), "work", "work")))
		}
	}
	return errors.Join(append(errs, t.lock.Close())...)
}

// covers reports whether a path is in a folder of the workspace, or such a folder in it.
func (t *Trials) covers(path string) bool {
	return slices.ContainsFunc(t.roots, func(g *folder) bool { return subpath.In(g.root, path) || subpath.In(path, g.root) })
}

// folderOf returns the folder with what commands write at path.
func (t *Trials) folderOf(path string) string {
	return filepath.Join(t.dir, hexsum.Of([]byte(path))[:16])
}

// overlay returns an overlay for the folder at path, whose files are in lower.
func (t *Trials) overlay(path, lower string) (room.Overlay, error) {
	dir := t.folderOf(path)
	over := room.Overlay{Lower: lower, Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work")}
	for _, sub := range []string{over.Upper, over.Work} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return room.Overlay{}, err
		}
	}
	return over, likeFolder(over.Upper, over.Lower)
}

// Limits of a run.
const (
	maxWritten = 1 << 30 // bytes in a file, and in the folders of all overlays more than before
	maxFiles   = 1000    // that it changes
	maxChanged = 64 << 20

	maxProcesses = 2000                // at once
	maxAge       = 30 * 24 * time.Hour // since they were used
)

// maxKept limits the bytes that stay for the trials of the next session.
var maxKept int64 = 4 << 30

// maxMemory returns the bytes of memory that the processes of a command may have together.
var maxMemory = func() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return math.MaxInt64
	}
	return int64(info.Totalram) * int64(info.Unit) / 4 * 3 //nolint:gosec // no machine has as much
}

// Run runs a command in a trial, on the workspace as it is with the pending changes. The error means that
// it could not be started.
func (t *Trials) Run(ctx context.Context, opts shell.Options, pending []workspace.Change) (out *Outcome, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if opts.Env == nil {
		opts.Env = shell.Environ(os.Environ(), nil)
	}
	r := room.New(filepath.Join(t.dir, "at"), temporary)
	r.Limit(unix.RLIMIT_FSIZE, maxWritten)
	r.Limit(unix.RLIMIT_CORE, 0)
	r.Most(maxProcesses, maxMemory())
	env := environment(opts.Env)
	t.ground(r, env)
	more, err := t.caches(r, env, true)
	if err != nil {
		return nil, err
	}
	opts.Env, opts.Here, opts.Sandbox = append(slices.Clip(opts.Env), more...), true, r
	defer func() {
		for _, g := range t.roots {
			err = errors.Join(err, g.clear())
		}
	}()
	for _, g := range t.roots {
		if err := t.prepare(ctx, g, r, pending); err != nil {
			return nil, err
		}
	}
	out = &Outcome{}
	ctx, watched := t.watch(ctx, out)
	begin := time.Now()
	out.Result, err = t.opt.Jobs.Run(ctx, opts)
	watched()
	if err != nil {
		return nil, explain(err)
	}
	end := r.Ending()
	if end.Failed != "" && !out.Cancelled && !out.TimedOut {
		return nil, errors.New("the room for the command could not be set up: " + end.Failed)
	}
	t.judge(out, opts.Line, end, r)
	for _, g := range t.roots {
		if err := g.read(t.opt.Root, out, begin); err != nil {
			return nil, err
		}
	}
	out.Changes = paired(out.Changes)
	return out, nil
}

// prepare makes a folder of the workspace ready, and adds it to the room.
func (t *Trials) prepare(ctx context.Context, g *folder, r *room.Room, pending []workspace.Change) error {
	var err error
	if g.over, err = t.overlay(g.root, g.root); err != nil {
		return err
	}
	if err := g.fill(ctx, r, pending); err != nil {
		return err
	}
	r.Change(g.root, g.over)
	return nil
}
