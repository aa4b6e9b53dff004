// Package fileindex knows a project's files for the completion of their names. It
// guarantees that asking never waits, and that the folder is walked no more often
// than every five seconds.
package fileindex

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/bb2d0cf4/agent/internal/tools/search"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Bounds of the list of files that @ completes.
const (
	maxPaths  = 50_000
	walkEvery = 5 * time.Second // at most: completion asks at every key
	firstWalk = 300 * time.Millisecond
)

// Index knows the project's files for completion. It walks the folder soon
// after the start, when the first picture is up, and again when it is asked
// later. Paths may be called from any goroutine.
type Index struct {
	root  *workspace.Root
	known atomic.Pointer[[]string]
	asked chan struct{}
}

// New returns an index of root that knows nothing yet; Run fills it.
func New(root *workspace.Root) *Index {
	return &Index{root: root, asked: make(chan struct{}, 1)}
}

// Paths returns what is known, nil before the first walk, and has it refreshed.
func (x *Index) Paths() []string {
	x.ask()
	if known := x.known.Load(); known != nil {
		return *known
	}
	return nil
}

func (x *Index) ask() {
	select {
	case x.asked <- struct{}{}:
	default: // a walk is due already
	}
}

// Run serves Paths until ctx ends.
func (x *Index) Run(ctx context.Context) {
	var walked time.Time
	first := time.AfterFunc(firstWalk, x.ask)
	defer first.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.asked:
			if time.Since(walked) > walkEvery {
				x.walk(ctx)
				walked = time.Now()
			}
		}
	}
}

func (x *Index) walk(ctx context.Context) {
	fsys, _, err := x.root.FS(".")
	if err != nil {
		return // completion then offers nothing
	}
	dir := x.root.Dir()
	found, err := search.Folder{FS: fsys, Abs: dir, Root: dir}.Find(ctx, "**", maxPaths)
	if err != nil {
		return
	}
	for i, p := range found.Names {
		found.Names[i] = filepath.ToSlash(p)
	}
	x.known.Store(&found.Names)
}
