package cli

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

// fileIndex knows the project's files for completion. It walks the folder when
// it is first asked and again when it is asked later; asking never waits.
type fileIndex struct {
	root  *workspace.Root
	known atomic.Pointer[[]string]
	asked chan struct{}
}

func newFileIndex(root *workspace.Root) *fileIndex {
	return &fileIndex{root: root, asked: make(chan struct{}, 1)}
}

// paths returns what is known, nil before the first walk, and has it refreshed.
func (x *fileIndex) paths() []string {
	select {
	case x.asked <- struct{}{}:
	default: // a walk is due already
	}
	if known := x.known.Load(); known != nil {
		return *known
	}
	return nil
}

// run serves paths until ctx ends.
func (x *fileIndex) run(ctx context.Context) {
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

func (x *fileIndex) walk(ctx context.Context) {
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
