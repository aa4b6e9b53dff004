package search

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/gitignore"
	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// MaxWalk is the number of entries after which a walk stops.
const MaxWalk = 1_000_000

// Folder is a folder to search.
type Folder struct {
	FS fs.FS
	// Abs is the folder's absolute path and Root that of the workspace, for ripgrep and
	// for the .gitignore files above the folder. If Abs is empty, both are ignored.
	Abs, Root string
}

// entry is a file or folder that is not ignored.
type entry struct {
	path string // relative to the searched folder
	dir  bool
	fs.DirEntry
}

// walk returns the entries below f except ignored ones and every .git, sorted by path.
// complete is false after MaxWalk entries. It skips unreadable folders.
func (f Folder) walk(ctx context.Context) (entries []entry, complete bool, err error) {
	entries, _, complete, err = f.walkAll(ctx)
	return entries, complete, err
}

// walkAll is walk and also returns the folders that it skips.
func (f Folder) walkAll(ctx context.Context) (entries []entry, skipped []string, complete bool, err error) {
	w := walker{fsys: f.FS}
	w.group, ctx = errgroup.WithContext(ctx)
	w.group.SetLimit(runtime.GOMAXPROCS(0))
	var ig *gitignore.Rules
	if f.Abs != "" {
		ig = gitignore.Above(f.Abs, f.Root)
	}
	top := &branch{}
	w.group.Go(func() error {
		defer crash.Guard()
		return w.visit(ctx, top, ".", ig)
	})
	if err := w.group.Wait(); err != nil {
		return nil, nil, false, err
	}
	entries = top.collect(make([]entry, 0, w.count.Load()))
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	slices.Sort(w.skipped)
	return entries, w.skipped, w.count.Load() <= MaxWalk, nil
}

// branch holds the entries of one folder. The goroutine that visits the folder writes it;
// it is read after all have finished.
type branch struct {
	entries  []entry
	branches []*branch
}

func (b *branch) collect(into []entry) []entry {
	into = append(into, b.entries...)
	for _, sub := range b.branches {
		into = sub.collect(into)
	}
	return into
}

type walker struct {
	fsys  fs.FS
	group *errgroup.Group
	count atomic.Int64

	mu      sync.Mutex
	skipped []string // folders that cannot be read; they end in a slash
}

// visit reads one folder. Another goroutine visits its subfolders if one is free, else
// this one.
func (w *walker) visit(ctx context.Context, b *branch, folder string, ig *gitignore.Rules) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	list, err := fs.ReadDir(w.fsys, folder)
	if err != nil && folder == "." {
		return err
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.mu.Lock()
		w.skipped = append(w.skipped, withSlash(folder, true))
		w.mu.Unlock()
	}
	base := ""
	if folder != "." {
		base = folder
	}
	ig = w.ignoreIn(ig, base, list)
	for _, d := range list {
		name := path.Join(base, d.Name())
		if d.Name() == ".git" || ig.Match(name, d.IsDir()) {
			continue
		}
		if w.count.Add(1) > MaxWalk {
			return nil
		}
		b.entries = append(b.entries, entry{name, d.IsDir(), d})
		if !d.IsDir() {
			continue
		}
		sub := &branch{}
		b.branches = append(b.branches, sub)
		visit := func() error {
			defer crash.Guard()
			return w.visit(ctx, sub, name, ig)
		}
		if !w.group.TryGo(visit) {
			if err := visit(); err != nil {
				return err
			}
		}
	}
	return nil
}

// ignoreIn returns the rules for the entries of a folder.
func (w *walker) ignoreIn(ig *gitignore.Rules, base string, list []fs.DirEntry) *gitignore.Rules {
	var data []byte
	nested := false
	for _, d := range list {
		switch d.Name() {
		case ".gitignore":
			data, _ = regularfile.ReadFS(w.fsys, path.Join(base, d.Name()), gitignore.MaxFile) // unread, it ignores nothing
		case ".git":
			nested = true
		}
	}
	return ig.Under(base, data, nested)
}
