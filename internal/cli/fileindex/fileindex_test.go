package fileindex

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

func open(t *testing.T, names ...string) *workspace.Root {
	t.Helper()
	root, err := workspace.Open(t.TempDir(), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for _, n := range names {
		put(t, root, n)
	}
	return root
}

func put(t *testing.T, root *workspace.Root, name string) {
	t.Helper()
	path := filepath.Join(root.Dir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, x *Index, want ...string) {
	t.Helper()
	got := slices.Sorted(slices.Values(x.Paths())) // they come newest first
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The first walk comes by itself; another one when the index is asked, but not for
// each key.
func TestWalks(t *testing.T) {
	root := open(t, "a.txt", "d/b.txt")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		x := New(root)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			x.Run(ctx)
		}()
		<-time.After(2 * firstWalk)
		synctest.Wait()
		check(t, x, "a.txt", "d/b.txt")

		put(t, root, "c.txt")
		synctest.Wait()
		check(t, x, "a.txt", "d/b.txt")
		<-time.After(walkEvery)
		synctest.Wait()
		x.Paths()
		synctest.Wait()
		if got := x.Paths(); len(got) != 3 {
			t.Errorf("after the second walk: %q", got)
		}
		cancel()
		<-ended
	})
}

func TestNothingIsKnownAtFirst(t *testing.T) { check(t, New(open(t, "a.txt"))) }

func TestAFolderThatIsGoneOffersNothing(t *testing.T) {
	root := open(t, "a.txt")
	x := New(root)
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	x.walk(t.Context())
	check(t, x)
}
