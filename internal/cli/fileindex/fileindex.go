// Package fileindex knows the files of a project for completion. It guarantees that
// asking for them never waits.
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
)

// Index knows the project's files for completion. It walks the folder when
// it is first asked and again when it is asked later; asking never waits.
type Index struct {
	root  *workspace.Root
	known atomic.Pointer[[]string]
	asked chan struct{}
}

// New returns an index of the files under root.
func New(root *workspace.Root) *Index {
	return &Index{root: root, asked: make(chan struct{}, 1)}
}

// Paths returns what is known, nil before the first walk, and has it refreshed.
func (x *Index) Paths() []string {
	select {
	case x.asked <- struct{}{}:
	default: // a walk is due already
	}
	if known := x.known.Load(); known != nil {
		return *known
	}
	return nil
}

// Run serves Paths until ctx ends.
func (x *Index) Run(ctx context.Context) {
	var walked time.Time
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
