package undo_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

func TestUndoGoesBackStepByStep(t *testing.T) {
	w := open(t)
	w.Write("f", "0\n")
	for i := 1; i <= 3; i++ {
		w.Edit("f", fmt.Sprintln(i), turn(i))
	}
	for i := 2; i >= 0; i-- {
		w.undo(undo.LastChange)
		if got := w.Content("f"); got != fmt.Sprintln(i) {
			t.Fatalf("after undo: %q, want %d", got, i)
		}
	}
	if _, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastChange}); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("undo of nothing: %v", err)
	}
	for i := 1; i <= 3; i++ { // and back again
		w.undo(undo.LastUndo)
		if got := w.Content("f"); got != fmt.Sprintln(i) {
			t.Fatalf("after redo: %q, want %d", got, i)
		}
	}
	if _, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastUndo}); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("redo of nothing: %v", err)
	}
	w.undo(undo.LastChange) // a redo can be undone
	if got := w.Content("f"); got != "2\n" {
		t.Errorf("after redo and undo: %q", got)
	}
}

func TestNewChangeEndsRedo(t *testing.T) {
	w := open(t)
	w.Write("f", "0\n")
	w.Edit("f", "1\n", turn(1))
	w.undo(undo.LastChange)
	w.Edit("g", "new\n", turn(2))
	if _, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastUndo}); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("redo after another change: %v", err)
	}
}

func TestUndoOfTurn(t *testing.T) {
	w := open(t)
	w.Write("a", "a0\n")
	w.Write("b", "b0\n")
	w.Edit("a", "a1\n", turn(1))
	w.Edit("a", "a2\n", turn(2))
	w.Edit("b", "b1\n", turn(2))
	w.Edit("new/deep/c", "c\n", turn(2))
	w.Edit("a", "a3\n", turn(2))
	got := w.undo(undo.LastTurn)
	if diff := cmp.Diff([]string{"a", "b", "new/deep/c"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, w.Files()); diff != "" {
		t.Error("files after the undo:", diff)
	}
	if a, b := w.Content("a"), w.Content("b"); a != "a1\n" || b != "b0\n" {
		t.Errorf("a holds %q, b holds %q", a, b)
	}
	w.undo(undo.LastUndo)
	if a, c := w.Content("a"), w.Content("new/deep/c"); a != "a3\n" || c != "c\n" {
		t.Errorf("after redo a holds %q, new/deep/c holds %q", a, c)
	}
	w.undo(undo.LastTurn)
	w.undo(undo.LastTurn)
	if got := w.Content("a"); got != "a0\n" {
		t.Errorf("after the undo of both turns a holds %q", got)
	}
}

func TestPlanShowsTheUndo(t *testing.T) {
	w := open(t)
	w.Write("f", "old\n")
	w.Edit("f", "new\n", turn(1))
	w.Edit("g", "made\n", turn(1))
	plan, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastTurn})
	must(t, err)
	type shown struct {
		Name, Text, After string
		Exists, Delete    bool
	}
	var got []shown
	for _, c := range plan.Changes {
		got = append(got, shown{c.Name, c.Text, c.After, c.Exists, c.Delete})
	}
	want := []shown{{"f", "new\n", "old\n", true, false}, {"g", "made\n", "", true, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	plan.Changes[0].After = "something else\n"
	if err := plan.Do(t.Context()); err == nil {
		t.Error("an undo wrote what was not planned")
	}
	if f, g := w.Content("f"), w.Content("g"); f != "new\n" || g != "made\n" {
		t.Errorf("after the refused undo: %q, %q", f, g)
	}
}

func TestUndoRefusesChangedFiles(t *testing.T) {
	after := map[string]func(w *tree){
		"changed":         func(w *tree) { w.Write("f", "theirs\n") },
		"deleted":         func(w *tree) { must(t, os.Remove(w.Path("f"))) },
		"made a folder":   func(w *tree) { must(t, errors.Join(os.Remove(w.Path("f")), os.Mkdir(w.Path("f"), 0o755))) },
		"made a link":     func(w *tree) { must(t, errors.Join(os.Remove(w.Path("f")), os.Symlink("g", w.Path("f")))) },
		"changed by half": func(w *tree) { w.Write("f", "one\nTHEIRS\n") },
	}
	for name, act := range after {
		for _, planned := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, planned %v", name, planned), func(t *testing.T) {
				w := open(t)
				w.Write("f", "zero\n")
				w.Write("g", "one\ntwo\n")
				w.Edit("f", "one\ntwo\n", turn(1))
				var plan undo.Plan
				var err error
				if planned {
					plan, err = undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastChange})
					must(t, err)
				}
				act(w)
				before, _ := os.ReadFile(w.Path("f"))
				if planned {
					err = plan.Do(t.Context())
				} else {
					_, err = undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastChange})
				}
				if !errors.Is(err, workspace.ErrStale) {
					t.Errorf("error %v, want ErrStale", err)
				}
				if now, _ := os.ReadFile(w.Path("f")); string(now) != string(before) {
					t.Errorf("f holds %q, want %q", now, before)
				}
			})
		}
	}
}

func TestUndoOfTurnSeesForeignEditBetween(t *testing.T) {
	w := open(t)
	w.Write("f", "0\n")
	w.Edit("f", "1\n", turn(1))
	w.Write("f", "1 and theirs\n")
	w.Edit("f", "2 and theirs\n", turn(1))
	if _, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastTurn}); !errors.Is(err, workspace.ErrStale) {
		t.Errorf("the undo would lose their edit: %v", err)
	}
	w.undo(undo.LastChange)
	if got := w.Content("f"); got != "1 and theirs\n" {
		t.Errorf("f holds %q", got)
	}
}

func TestUndoKeepsFoldersInUse(t *testing.T) {
	w := open(t)
	w.Edit("new/deep/f", "x", turn(1))
	w.Write("new/theirs", "y")
	w.undo(undo.LastChange)
	if diff := cmp.Diff([]string{"new/", "new/theirs"}, w.Files()); diff != "" {
		t.Error(diff)
	}
}

func TestUndoBringsModeBack(t *testing.T) {
	w := open(t)
	w.Write("f", "old\n")
	must(t, os.Chmod(w.Path("f"), 0o755))
	w.Edit("f", "new\n", turn(1))
	must(t, os.Chmod(w.Path("f"), 0o600))
	w.undo(undo.LastChange)
	info, err := os.Stat(w.Path("f"))
	must(t, err)
	if info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestUndoAcrossProcessesAndSessions(t *testing.T) {
	w := open(t)
	w.Write("f", "0\n")
	w.Edit("f", "1\n", workspace.Origin{Session: "one", Turn: "1"})
	two := reopen(t, w.Dir(), w.Home)
	two.Edit("g", "new\n", workspace.Origin{Session: "two", Turn: "1"})
	of := undo.Scope{Range: undo.LastTurn, Session: "two"}
	plan, err := undo.Find(t.Context(), two.Root, of)
	must(t, err)
	must(t, plan.Do(t.Context()))
	if diff := cmp.Diff([]string{"g"}, names(plan)); diff != "" {
		t.Error(diff)
	}
	if _, err := undo.Find(t.Context(), two.Root, of); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("session two undoes a change of session one: %v", err)
	}
	both := reopen(t, w.Dir(), w.Home)
	if diff := cmp.Diff([]string{"f"}, both.undo(undo.LastChange)); diff != "" {
		t.Error(diff)
	}
	if got := w.Content("f"); got != "0\n" {
		t.Errorf("f holds %q", got)
	}
}

// TestUndoAcrossEncodings undoes a turn in which a file changed its encoding: the first
// edit removed the only character that was not ASCII.
func TestUndoAcrossEncodings(t *testing.T) {
	w := open(t)
	w.Write("f", "caf\xe9\n")
	w.Edit("f", "cafe\n", turn(1))
	w.Edit("f", "日本\n", turn(1))
	w.undo(undo.LastTurn)
	if got := w.Content("f"); got != "caf\xe9\n" {
		t.Errorf("f holds %q", got)
	}
	w.undo(undo.LastUndo)
	if got := w.Content("f"); got != "日本\n" {
		t.Errorf("f holds %q", got)
	}
}
