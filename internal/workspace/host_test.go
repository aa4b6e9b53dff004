package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// TestLateHost: a file is neither read, edited nor removed on the base of the disk alone while the
// host may hold another text.
func TestLateHost(t *testing.T) {
	dir, late := t.TempDir(), errors.New("no answer within 30s")
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("saved\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked int
	failing := late
	root, err := workspace.Open(dir, workspace.Options{Home: t.TempDir(), Host: workspace.Host{
		Buffer: func(string) (string, bool, error) { asked++; return "", false, failing },
		Write:  func(string, string) error { t.Error("it wrote"); return nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}()
	edit := func(workspace.File) (string, error) { return "new\n", nil }
	_, proposing := root.Propose("a.txt", edit)
	_, opening := root.Open("a.txt")
	_, removing := root.Removable("a.txt")
	for what, err := range map[string]error{"propose": proposing, "open": opening, "remove": removing} {
		if !errors.Is(err, late) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !root.Unsaved(filepath.Join(dir, "a.txt")) {
		t.Error("it is said to be saved")
	}
	failing = nil
	change, err := root.Propose("a.txt", edit)
	if err != nil {
		t.Fatal(err)
	}
	failing = late
	if _, err := root.Commit(t.Context(), change, workspace.Origin{}); !errors.Is(err, late) {
		t.Errorf("commit: %v", err)
	}
	if asked != 6 {
		t.Errorf("the host was asked %d times", asked)
	}
}
