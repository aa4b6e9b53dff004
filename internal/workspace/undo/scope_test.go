package undo_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// find plans an undo that must be possible.
func (w *tree) find(s undo.Scope) undo.Plan {
	w.T.Helper()
	plan, err := undo.Find(w.T.Context(), w.Root, s)
	must(w.T, err)
	return plan
}

func call(session, id string) workspace.Origin {
	return workspace.Origin{Session: session, Turn: "turn " + id[:1], Call: id, Tool: "edit_file"}
}

// known returns a Since.After that knows the given calls.
func known(calls map[string]bool) func(string) (bool, bool) {
	return func(call string) (after, known bool) {
		after, known = calls[call]
		return after, known
	}
}

// TestEverythingSinceACall goes back over several turns, by calls.
func TestEverythingSinceACall(t *testing.T) {
	w := open(t)
	w.Write("a", "a0\n")
	w.Edit("a", "a1\n", call("s", "1.1"))
	w.Edit("b", "b2\n", call("s", "2.1"))
	w.Edit("a", "a2\n", call("s", "2.2"))
	w.Edit("c", "c3\n", call("s", "3.1"))
	w.Edit("d", "d\n", call("other", "9.1"))
	w.undo(undo.LastChange) // by the other session
	plan := w.find(undo.Scope{Range: undo.Everything, Session: "s", Since: undo.Since{After: known(map[string]bool{"2.1": true, "2.2": true, "3.1": true})}})
	if diff := cmp.Diff([]string{"b", "a", "c"}, names(plan)); diff != "" {
		t.Error(diff)
	}
	must(t, plan.Do(t.Context()))
	if diff := cmp.Diff([]string{"a"}, w.Files()); diff != "" || w.Content("a") != "a1\n" {
		t.Errorf("a holds %q; files %s", w.Content("a"), diff)
	}
	w.undo(undo.LastUndo) // all of it at once
	if got := w.Content("a") + w.Content("b") + w.Content("c"); got != "a2\nb2\nc3\n" {
		t.Errorf("after the undo of the rewind: %q", got)
	}
	w.undo(undo.LastUndo)
	if got := w.Content("d"); got != "d\n" {
		t.Errorf("after another redo d holds %q", got)
	}
}

// TestRefusedFilesAreNamed: a file that somebody else changed is left alone, and the rest
// can be undone.
func TestRefusedFilesAreNamed(t *testing.T) {
	w := open(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		w.Write(name, "0\n")
		w.Edit(name, "1\n", turn(1))
	}
	w.Write("b", "theirs\n")
	must(t, os.Remove(w.Path("c")))
	w.Write("d", "between\n")
	w.Edit("d", "2\n", turn(1))
	plan := w.find(undo.Scope{Range: undo.LastTurn})
	var refused []string
	for _, r := range plan.Refused {
		if !errors.Is(r.Err, workspace.ErrStale) {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
		refused = append(refused, r.Name)
	}
	if diff := cmp.Diff([]string{"b", "c", "d"}, refused); diff != "" {
		t.Error(diff)
	}
	if err := plan.Err(); err == nil || !strings.Contains(err.Error(), "c cannot be undone") || !strings.Contains(err.Error(), "between two of") {
		t.Errorf("the plan says %v", err)
	}
	must(t, plan.Do(t.Context()))
	if got := w.Content("a") + w.Content("b") + w.Content("c") + w.Content("d"); got != "0\ntheirs\n<none>2\n" {
		t.Errorf("%q", got)
	}
	if _, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastTurn}); !errors.Is(err, workspace.ErrStale) || errors.Is(err, undo.ErrNothing) {
		t.Errorf("only refused files are left: %v", err)
	}
}

// TestExportsAreNoWork: an export is undone only by name, and does not prevent a redo.
func TestExportsAreNoWork(t *testing.T) {
	w := open(t)
	w.Write("f", "0\n")
	w.Edit("f", "1\n", turn(1))
	export := workspace.Origin{Session: "s", Turn: "export", Tool: undo.ExportTool}
	w.Edit("talk.md", "# Talk\n", export)
	if diff := cmp.Diff([]string{"f"}, w.undo(undo.LastChange)); diff != "" {
		t.Error(diff)
	}
	w.Edit("talk2.md", "# Talk\n", export)
	if diff := cmp.Diff([]string{"f"}, w.undo(undo.LastUndo)); diff != "" {
		t.Error(diff)
	}
	must(t, w.find(undo.Scope{File: "talk.md"}).Do(t.Context()))
	if diff := cmp.Diff([]string{"f", "talk2.md"}, w.Files()); diff != "" {
		t.Error(diff)
	}
	must(t, w.find(undo.Scope{File: w.Path("f")}).Do(t.Context()))
	if got := w.Content("f"); got != "0\n" {
		t.Errorf("f holds %q", got)
	}
}

// TestRewindOfAFileThatIsGone: the file was missing before and is missing now, although
// changes are in effect.
func TestRewindOfAFileThatIsGone(t *testing.T) {
	w := open(t)
	w.Edit("f", "1\n", turn(1))
	must(t, os.Remove(w.Path("f")))
	begin := undo.Since{Mark: w.Mark()}
	w.Edit("f", "1\n", turn(1))
	must(t, w.find(undo.Scope{Range: undo.LastTurn, Others: true}).Do(t.Context()))
	if plan, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.Rewind, Since: begin}); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("it would change %v, %v", names(plan), err)
	}
}

// TestRewindAfterTheClockWasSetBack: a change before the point stays, though its time is after
// that of the point and of the later change.
func TestRewindAfterTheClockWasSetBack(t *testing.T) {
	w := open(t)
	w.Edit("early", "1\n", turn(1))
	synctest.Test(t, func(t *testing.T) { // its clock begins in the year 2000
		begin := undo.Since{Mark: w.Mark()}
		w.Edit("late", "1\n", turn(2))
		plan := w.find(undo.Scope{Range: undo.Rewind, Session: "s", Since: begin})
		if diff := cmp.Diff([]string{"late"}, names(plan)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestRewindLeavesExports, whether they are there or were undone.
func TestRewindLeavesExports(t *testing.T) {
	w := open(t)
	begin := undo.Since{Mark: w.Mark()}
	export := workspace.Origin{Session: "s", Turn: "export", Tool: undo.ExportTool}
	w.Edit("talk.md", "# Talk\n", export)
	w.Edit("gone.md", "# Talk\n", export)
	must(t, w.find(undo.Scope{File: "gone.md"}).Do(t.Context()))
	w.Edit("f", "1\n", turn(1))
	plan := w.find(undo.Scope{Range: undo.Rewind, Session: "s", Since: begin})
	if diff := cmp.Diff([]string{"f"}, names(plan)); diff != "" {
		t.Error(diff)
	}
}

// TestFoldersOfSeveralFiles: a folder that was made for one file is removed with the last
// file in it.
func TestFoldersOfSeveralFiles(t *testing.T) {
	w := open(t)
	w.Edit("new/deep/f", "f\n", turn(1))
	w.Edit("new/deep/g", "g\n", turn(2))
	must(t, w.find(undo.Scope{File: "new/deep/f"}).Do(t.Context()))
	must(t, w.find(undo.Scope{File: "new/deep/g"}).Do(t.Context()))
	if diff := cmp.Diff([]string(nil), w.Files()); diff != "" {
		t.Error(diff)
	}
	w.undo(undo.LastUndo)
	if diff := cmp.Diff([]string{"new/", "new/deep/", "new/deep/g"}, w.Files()); diff != "" {
		t.Error(diff)
	}
}

// TestAForkInheritsChanges: it inherits those in its conversation, and not what the other
// session did after the fork.
func TestAForkInheritsChanges(t *testing.T) {
	w := open(t)
	w.Edit("a", "a\n", call("old", "1"))
	w.Edit("b", "b\n", call("old", "2"))
	w.Edit("late", "x\n", call("old", "3"))
	w.Edit("c", "c\n", call("fork", "4"))
	fork := undo.Scope{Range: undo.Everything, Session: "fork", From: []string{"old"}, Since: undo.Since{
		After: known(map[string]bool{"1": false, "2": true, "4": true}), Mark: 1,
	}}
	plan := w.find(fork)
	if diff := cmp.Diff([]string{"b", "c"}, names(plan)); diff != "" {
		t.Error(diff)
	}
	must(t, plan.Do(t.Context()))
	must(t, w.find(undo.Scope{Range: undo.LastUndo, Session: "fork"}).Do(t.Context()))
	if diff := cmp.Diff([]string{"a", "b", "c", "late"}, w.Files()); diff != "" {
		t.Error("after the fork's redo:", diff)
	}
}
