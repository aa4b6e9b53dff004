package fileindex

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func open(t *testing.T, names ...string) *workspace.Root {
	t.Helper()
	root := scratch.Workspace(t, t.TempDir(), workspace.Options{})
	for _, n := range names {
		put(t, root, n)
	}
	return root
}

func put(t *testing.T, root *workspace.Root, name string) {
	t.Helper()
	scratch.Write(t, filepath.Join(root.Dir(), filepath.FromSlash(name)), "")
}

func check(t *testing.T, x *Index, want ...string) {
	t.Helper()
	got := slices.Sorted(slices.Values(x.Finder().Find(""))) // the newest come first
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The first walk starts by itself; queries start further ones, but not each query.
func TestWalks(t *testing.T) {
	root := open(t, "a.txt", "d/b.txt")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		x := New(root)
		ended := make(chan struct{})
		walks := 0
		go func() {
			defer close(ended)
			x.Run(ctx, func() { walks++ })
		}()
		<-time.After(2 * firstWalk)
		synctest.Wait()
		check(t, x, "a.txt", "d/", "d/b.txt")

		put(t, root, "c.txt")
		synctest.Wait()
		check(t, x, "a.txt", "d/", "d/b.txt")
		<-time.After(walkEvery)
		synctest.Wait()
		x.Finder().Find("")
		synctest.Wait()
		if got := x.Finder().Find(""); len(got) != 4 {
			t.Errorf("after the second walk: %q", got)
		}
		cancel()
		<-ended
		if walks != 2 {
			t.Errorf("%d walks were reported", walks)
		}
	})
}

func TestNewIndexIsEmpty(t *testing.T) { check(t, New(open(t, "a.txt"))) }

func TestRemovedFolderOffersNothing(t *testing.T) {
	root := open(t, "a.txt")
	x := New(root)
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	x.Walk(t.Context())
	check(t, x)
}

// A folder that was typed out lists its contents, folders first, then other matches.
// Files ignored by git are left out.
func TestFoldersComplete(t *testing.T) {
	x := New(open(t, "src/app/main.go", "src/app/z.go", "src/app/sub/deep.go", "src/app.go", "out/junk.o", "x/src/app/other.go"))
	scratch.Write(t, filepath.Join(x.root.Dir(), ".gitignore"), "out/\n")
	x.Walk(t.Context())
	f := x.Finder()
	for query, want := range map[string][]string{
		"src/app/":  {"src/app/sub/", "src/app/main.go", "src/app/z.go", "x/src/app/", "x/src/app/other.go", "src/app/sub/deep.go"},
		"src/app/s": {"src/app/sub/", "src/app/sub/deep.go"},
		"sraz":      {"src/app/z.go"},
		"junk":      nil,
	} {
		got := f.Find(query)
		if d := cmp.Diff(want, got[:min(len(got), len(want))]); len(got) < len(want) || len(want) == 0 && len(got) > 0 || d != "" && len(want) > 0 {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// Empty folders are offered, unless git ignores them.
func TestEmptyFoldersComplete(t *testing.T) {
	root := open(t, "a.txt", "d/b.txt")
	scratch.Write(t, filepath.Join(root.Dir(), ".gitignore"), "out/\n")
	for _, dir := range []string{"empty/below", "d/none", "out/junk"} {
		scratch.Mkdir(t, filepath.Join(root.Dir(), dir))
	}
	x := New(root)
	x.Walk(t.Context())
	check(t, x, ".gitignore", "a.txt", "d/", "d/b.txt", "d/none/", "empty/", "empty/below/")
	if d := cmp.Diff([]string{"empty/below/"}, x.Finder().Find("empty/")); d != "" {
		t.Error(d)
	}
}

// TestRemark requires a remark on a list without all names of the project.
func TestRemark(t *testing.T) {
	x := New(open(t, "a.txt", "b.txt", "c.txt"))
	for _, tt := range []struct {
		max, known int
		remark     string
	}{
		{2, 2, "more than 2 files and folders: not all are listed"},
		{3, 3, ""},
	} {
		x.max = tt.max
		x.Walk(t.Context())
		if got := x.Finder().Find(""); len(got) != tt.known || x.Remark() != tt.remark {
			t.Errorf("at most %d: %q, %q", tt.max, got, x.Remark())
		}
	}
}

func TestAHundredThousandPathsAreKnown(t *testing.T) {
	files := make([]string, maxPaths)
	for i := range files {
		files[i] = fmt.Sprintf("dir%d/sub%d/file%d.go", i%10, i%100, i)
	}
	x := New(nil)
	x.known.Store(index(files))
	f := x.Finder()
	if got := f.Find("file99999.go"); len(got) != 1 || got[0] != "dir9/sub99/file99999.go" {
		t.Errorf("%q", got)
	}
	if got := f.Find("dir9/sub99/"); len(got) != offered || got[0] != "dir9/sub99/file10099.go" && got[0] != "dir9/sub99/file1099.go" && got[0] != "dir9/sub99/file10199.go" {
		t.Errorf("%d, %q first", len(got), got[0])
	}
}

// BenchmarkFind measures one key in a project of 100,000 files.
func BenchmarkFind(b *testing.B) {
	files := make([]string, maxPaths)
	for i := range files {
		files[i] = fmt.Sprintf("some/path/number%d/to/a/file_%d.go", i%977, i)
	}
	x := New(nil)
	x.known.Store(index(files))
	for b.Loop() {
		x.Finder().Find("pafi")
	}
}
