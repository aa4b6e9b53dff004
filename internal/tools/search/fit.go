package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/gitignore"
	"github.com/bb2d0cf4/agent/internal/regularfile"
)

// maxFolders is the number of folders that fit checks.
const maxFolders = 200_000

// errUnfit is returned for a folder that rg must not walk.
var errUnfit = errors.New("unfit for ripgrep")

// fit reports whether rg may walk f: each .gitignore file that it would read, in f, below
// it and above it, is a small regular file, and there is no .rgignore, which rg obeys before
// version 14 and we do not. rg reads a link to /dev/zero until memory is full, and waits for
// a pipe forever. large lists the files below f that rg must leave out,
// since a huge one keeps it busy, and which count as unsearched.
func (f Folder) fit(ctx context.Context, seen *Seen) (large []string, ok bool) {
	for at := filepath.Dir(f.Abs); ; at = filepath.Dir(at) {
		if info, err := os.Lstat(filepath.Join(at, ".gitignore")); err == nil && !small(info) {
			return nil, false
		}
		if _, err := os.Lstat(filepath.Join(at, ".rgignore")); err == nil {
			return nil, false
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	l := looker{top: f.Abs, seen: seen}
	l.group, ctx = errgroup.WithContext(ctx)
	l.group.SetLimit(runtime.GOMAXPROCS(0))
	l.group.Go(func() error {
		defer crash.Guard()
		return l.look(ctx, "", gitignore.Above(f.Abs, f.Root))
	})
	ok = l.group.Wait() == nil
	return l.large, ok
}

func small(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Size() <= gitignore.MaxFile }

// looker checks the .gitignore files and the sizes of files below top.
type looker struct {
	top     string
	seen    *Seen
	group   *errgroup.Group
	folders atomic.Int64

	mu    sync.Mutex
	large []string
}

// look checks a folder, given relative to top, and those below it that are not ignored.
// It opens no file but theirs, which takes a fraction of a search.
func (l *looker) look(ctx context.Context, folder string, ig *gitignore.Rules) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := filepath.Join(l.top, filepath.FromSlash(folder))
	list, err := l.seen.list(dir)
	if err != nil {
		return err
	}
	if ig, err = list.rules(ig, folder, dir); err != nil {
		return err
	}
	l.seen.size(dir, &list)
	for _, file := range list.large {
		l.exceeds(path.Join(folder, file), ig)
	}
	for _, below := range list.below {
		name := path.Join(folder, below)
		if ig.Match(name, true) {
			continue
		}
		if l.folders.Add(1) > maxFolders {
			return errUnfit
		}
		look := func() error {
			defer crash.Guard()
			return l.look(ctx, name, ig)
		}
		if !l.group.TryGo(look) {
			if err := look(); err != nil {
				return err
			}
		}
	}
	return nil
}

// exceeds notes a file larger than MaxFile, unless it is ignored.
func (l *looker) exceeds(name string, ig *gitignore.Rules) {
	if ig.Match(name, false) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.large = append(l.large, name)
}

// rules returns ig with the rules of a folder added.
func (l listing) rules(ig *gitignore.Rules, folder, dir string) (*gitignore.Rules, error) {
	var data []byte
	if l.unfit {
		return nil, errUnfit
	}
	if l.ignore {
		var err error
		if data, err = regularfile.ReadFile(filepath.Join(dir, ".gitignore"), gitignore.MaxFile); err != nil {
			return nil, errUnfit
		}
	}
	return ig.Under(folder, data, l.git), nil
}
