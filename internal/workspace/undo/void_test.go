package undo_test

import (
	"errors"
	"testing"

	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// remove removes a file as a tool does.
func (w *tree) remove(name string, by workspace.Origin) {
	w.T.Helper()
	c, err := w.Propose(name, func(workspace.File) (string, error) { return "", nil })
	must(w.T, err)
	c.Delete = true
	_, err = w.Commit(w.T.Context(), c, by)
	must(w.T, err)
}

// TestUndoOfATurnThatRemovedItsOwnFile: a file that a turn made and removed again keeps
// nothing from being undone, is not shown, and does not come back.
func TestUndoOfATurnThatRemovedItsOwnFile(t *testing.T) {
	w := open(t)
	w.Write("kept", "0\n")
	w.Edit("kept", "1\n", turn(1))
	w.Edit("scratch", "x\n", turn(2))
	w.Edit("kept", "2\n", turn(2))
	w.remove("scratch", turn(2))
	for range 2 {
		if got := w.undo(undo.LastTurn); len(got) != 1 || w.Content("kept") != "1\n" {
			t.Fatalf("undone %q: %q", got, w.Content("kept"))
		}
		if got := w.undo(undo.LastUndo); len(got) != 1 || w.Content("kept") != "2\n" {
			t.Fatalf("redone %q: %q", got, w.Content("kept"))
		}
	}
	w.undo(undo.LastTurn)
	if got := w.undo(undo.LastChange); len(got) != 1 || w.Content("kept") != "0\n" {
		t.Fatalf("the undo before undid %q: %q", got, w.Content("kept"))
	}
	w = reopen(t, w.Dir(), w.Home)
	if s := w.Stopped(); s.Of != 0 {
		t.Errorf("an undo seems to have stopped: %+v", s)
	}
}

// TestUndoOfATurnWithoutAnEffect: the last turn that changed something is undone.
func TestUndoOfATurnWithoutAnEffect(t *testing.T) {
	w := open(t)
	w.Edit("kept", "1\n", turn(1))
	w.Edit("scratch", "x\n", turn(2))
	w.remove("scratch", turn(2))
	if got := w.undo(undo.LastTurn); len(got) != 1 || got[0] != "kept" || w.Content("kept") != "<none>" {
		t.Fatalf("undone %q: %q", got, w.Content("kept"))
	}
	if _, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastTurn}); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("once more: %v", err)
	}
}
