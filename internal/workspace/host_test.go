package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
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
	if _, err := root.Commit(t.Context(), workspace.AllOrNone, workspace.Origin{}, change); !errors.Is(err, late) {
		t.Errorf("commit: %v", err)
	}
	if asked != 6 {
		t.Errorf("the host was asked %d times", asked)
	}
}

// TestHostFailsAtOneOfSeveral: files written together through the host are all written or none,
// whichever it does not save, and whether it reports that.
func TestHostFailsAtOneOfSeveral(t *testing.T) {
	for _, reports := range []bool{true, false} {
		for at := range 3 {
			t.Run(fmt.Sprint(at, reports), func(t *testing.T) {
				dir := t.TempDir()
				for _, name := range []string{"a", "b", "gone"} {
					scratch.Write(t, filepath.Join(dir, name), name+"\n")
				}
				before := textsIn(t, dir)
				writes, fired := 0, 0
				host := workspace.Host{
					Buffer: func(string) (string, bool, error) { return "", false, nil },
					Write: func(path, text string) error {
						writes++
						if writes != at+1 {
							return os.WriteFile(path, []byte(text), 0o600)
						}
						fired++
						if reports {
							return errors.New("disk full")
						}
						return nil
					},
				}
				root := scratch.Workspace(t, dir, workspace.Options{Home: t.TempDir(), Host: host})
				var changes []workspace.Change
				for _, name := range []string{"a", "new/x", "b"} {
					c, err := root.Propose(name, func(f workspace.File) (string, error) { return f.Text + "more\n", nil })
					if err != nil {
						t.Fatal(err)
					}
					changes = append(changes, c)
				}
				gone, err := root.Removable("gone")
				if err != nil {
					t.Fatal(err)
				}
				changes = append(changes, workspace.Change{File: gone, Delete: true})
				files, err := root.Commit(t.Context(), workspace.AllOrNone, workspace.Origin{Session: "s"}, changes...)
				if err == nil || len(files) > 0 || fired != 1 {
					t.Errorf("%d files, %v; %d faults", len(files), err, fired)
				}
				if diff := cmp.Diff(before, textsIn(t, dir)); diff != "" {
					t.Error(diff)
				}
				past, err := root.Past()
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range past {
					t.Errorf("in the journal: %s", p.Name)
				}
			})
		}
	}
}

// textsIn returns the texts of all files below dir, and "/" for the folders.
func textsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "/"
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
