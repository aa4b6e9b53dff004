// Package fileindex lists a project's files and folders to complete their names. It
// guarantees that a query never waits for the disk, that the folder is walked at most
// once in five seconds, and that files ignored by git are not offered.
package fileindex

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/fuzzy"
	"github.com/bb2d0cf4/agent/internal/tools/search"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Limits of the completion of @ names.
const (
	maxPaths  = 100_000
	walkEvery = 5 * time.Second // each key is a query
	firstWalk = 300 * time.Millisecond
	offered   = 50
)

// Index holds the project's files. It walks the folder soon after the start, once the
// first screen is drawn, and again on later queries.
type Index struct {
	root  *workspace.Root
	max   int // paths
	known atomic.Pointer[paths]
	asked chan struct{}
}

// paths is the result of a walk.
type paths struct {
	ranked *fuzzy.Index
	sorted []string // folders end in a slash
	more   bool     // the project has more
}

// New returns an empty index of root; Run fills it.
func New(root *workspace.Root) *Index {
	return &Index{root: root, max: maxPaths, asked: make(chan struct{}, 1)}
}

// Finder answers queries from an Index. It is for use by one goroutine.
type Finder struct {
	index  *Index
	search fuzzy.Search
}

// Finder returns a new Finder.
func (x *Index) Finder() *Finder { return &Finder{index: x} }

// Find returns the best matches among the known paths, at most 50, and requests a new
// walk. Folders end in a slash. The contents of a folder that was typed out come first.
func (f *Finder) Find(query string) []string {
	f.index.ask()
	p := f.index.known.Load()
	if p == nil {
		return nil
	}
	var in []string
	if strings.HasSuffix(query, "/") {
		in = p.in(query)
	}
	for _, name := range f.search.Find(p.ranked, query, offered) {
		if name != query && !slices.Contains(in, name) {
			in = append(in, name)
		}
	}
	return in[:min(len(in), offered)]
}

// in lists the contents of a folder, at most 50, folders first.
func (p *paths) in(folder string) []string {
	var dirs, files []string
	at, _ := slices.BinarySearch(p.sorted, folder)
	for ; at < len(p.sorted) && strings.HasPrefix(p.sorted[at], folder); at++ {
		switch i := strings.IndexByte(p.sorted[at][len(folder):], '/'); {
		case p.sorted[at] == folder:
		case i < 0:
			files = append(files, p.sorted[at])
		case len(folder)+i+1 == len(p.sorted[at]):
			dirs = append(dirs, p.sorted[at])
		}
	}
	all := slices.Concat(dirs, files)
	return all[:min(len(all), offered)]
}

// Remark describes what Find leaves out; empty for nothing.
func (x *Index) Remark() string {
	if p := x.known.Load(); p == nil || !p.more {
		return ""
	}
	return fmt.Sprintf("more than %d files and folders: not all are listed", x.max)
}

func (x *Index) ask() {
	select {
	case x.asked <- struct{}{}:
	default: // a walk is already due
	}
}

// Run serves finders until ctx is done. It calls walked after each walk.
func (x *Index) Run(ctx context.Context, walked func()) {
	var last time.Time
	first := time.AfterFunc(firstWalk, crash.Guarded(x.ask))
	defer first.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.asked:
			if time.Since(last) > walkEvery {
				x.Walk(ctx)
				last = time.Now()
				walked()
			}
		}
	}
}

// Walk walks the folder now.
func (x *Index) Walk(ctx context.Context) {
	fsys, _, err := x.root.FS(".")
	if err != nil {
		return // completion offers nothing then
	}
	dir := x.root.Dir()
	found, err := search.Folder{FS: fsys, Abs: dir, Root: dir}.All(ctx, x.max)
	if err != nil {
		return
	}
	p := index(found.Names)
	p.more = found.Partial || found.Total > len(found.Names)
	x.known.Store(p)
}

// index sorts names and adds the folders that contain them.
func index(names []string) *paths {
	seen := map[string]bool{}
	for i, name := range names {
		if names[i] = filepath.ToSlash(name); strings.HasSuffix(names[i], "/") {
			seen[strings.TrimSuffix(names[i], "/")] = true
		}
	}
	var folders []string
	for _, name := range names {
		for dir := path.Dir(strings.TrimSuffix(name, "/")); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			folders = append(folders, dir+"/")
		}
	}
	all := slices.Concat(names, folders)
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return &paths{ranked: fuzzy.NewIndex(all), sorted: sorted}
}
