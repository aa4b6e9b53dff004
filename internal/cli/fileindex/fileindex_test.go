package fileindex

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

func TestIndex(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := workspace.Open(dir, workspace.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}()
	x := New(root)
	if x.Paths() != nil {
		t.Error("known before the first walk")
	}
	x.walk(t.Context())
	if d := cmp.Diff([]string{"a.txt"}, x.Paths()); d != "" {
		t.Error(d)
	}
}
