package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/journal"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// die leaves w's journal as a process does that is killed in the middle of the entries.
func die(t *testing.T, w *tree, entries ...journal.Entry) {
	t.Helper()
	j := journal.Open(w.Home, w.Dir(), journal.Recover{})
	for _, e := range entries {
		must(t, j.Begin(&e))
	}
	must(t, j.Close()) // which leaves entries without an outcome to the next start
}

func TestRecoveryRemovesOnlyOurFiles(t *testing.T) {
	w := open(t)
	after := workspace.Hash{1}
	entry := func(temp string, dirs ...string) journal.Entry {
		return journal.Entry{Path: w.Path("f"), Name: "f", After: &after, Made: journal.Made{Temp: temp, Dirs: dirs}}
	}
	w.Write("f", "x")
	w.Write("precious", "x")
	w.Write(".agent-THEIRS.tmp", "x")
	w.Write(".agent-OURS.tmp", "x")
	w.Write("used/file", "x")
	must(t, os.MkdirAll(w.Path("made/deep"), 0o755))
	must(t, os.Mkdir(w.Path(".agent-DIR.tmp"), 0o755))
	die(
		t, w, entry(".agent-OURS.tmp"), entry(".agent-DIR.tmp"), entry("precious"), entry("../x"),
		entry("", w.Path("made"), w.Path("made/deep")), entry("", w.Path("used")),
		journal.Entry{Path: filepath.Join(t.TempDir(), "gone", "f"), After: &after, Made: journal.Made{Dirs: []string{"/none/at/all"}}},
	)
	w = reopen(t, w.Dir(), w.Home, workspace.Options{})
	want := []string{".agent-DIR.tmp/", ".agent-THEIRS.tmp", "f", "precious", "used/", "used/file"}
	if diff := cmp.Diff(want, w.Files()); diff != "" {
		t.Error(diff)
	}
	if _, err := undo.Find(t.Context(), w.Root, undo.Scope{}); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("what was not done can be undone: %v", err)
	}
}

// TestLivingProcessIsLeftAlone opens a workspace while another process is in the middle
// of a commit: its temp file must not be removed.
func TestLivingProcessIsLeftAlone(t *testing.T) {
	w := open(t)
	opened := false
	w.At(func(step string) error {
		if step != "check" {
			return nil
		}
		opened = true
		second, err := workspace.Open(w.Dir(), workspace.Options{Home: w.Home})
		if err != nil {
			return err
		}
		if _, err := undo.Find(context.WithoutCancel(t.Context()), second, undo.Scope{}); !errors.Is(err, undo.ErrNothing) {
			t.Errorf("a change that is not done can be undone: %v", err)
		}
		return second.Close()
	})
	w.Edit("f", "x", turn(1))
	if !opened {
		t.Fatal("nobody opened the workspace meanwhile")
	}
}
