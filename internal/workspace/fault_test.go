package workspace_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// errFault is the error of an injected fault.
var errFault = errors.New("injected fault")

// TestFaultAtEachStep fails the first step of a commit, then the second, and so on until
// one succeeds: the file is old or new, the error tells which, and nothing is left
// behind.
func TestFaultAtEachStep(t *testing.T) {
	for _, name := range []string{"f", "new/deep/g"} {
		for fail := 0; ; fail++ {
			w := open(t)
			w.Write("f", "old\n")
			before := w.Files()
			c := w.Change(name, "new\n")
			var failed string
			n := 0
			w.At(func(step string) error {
				if n++; n == fail+1 {
					failed = step
					return errFault
				}
				return nil
			})
			file, err := w.Commit(t.Context(), c, turn(1))
			if written := file.Text == "new\n"; written != (failed == "done" || failed == "") || errors.Is(err, workspace.ErrNotDurable) != (failed == "done") {
				t.Errorf("%s, fault at %q: %+v, %v", name, failed, file, err)
			}
			if failed == "" {
				must(t, err)
				if fail < 7 {
					t.Errorf("%s: only %d steps failed", name, fail)
				}
				break
			}
			w.At(func(string) error { return nil })
			checkFault(t, w, c, failed, err)
			if failed != "done" {
				if diff := cmp.Diff(before, w.Files()); diff != "" {
					t.Errorf("%s, fault at %s: left behind: %s", name, failed, diff)
				}
			}
		}
	}
}

func checkFault(t *testing.T, w *tree, c workspace.Change, failed string, err error) {
	t.Helper()
	if !errors.Is(err, errFault) {
		t.Errorf("fault at %s: error %v", failed, err)
	}
	want, says := "<none>", "was not written"
	if c.Exists {
		want = c.Text
	}
	if failed == "done" {
		want, says = c.After, "was written, but"
	}
	if got := w.Content(c.Name); got != want || !strings.Contains(err.Error(), says) {
		t.Errorf("fault at %s: holds %q, error %v", failed, got, err)
	}
	// The workspace and its journal still work.
	f := w.Edit(c.Name, "next\n", turn(2))
	if f.Text != "next\n" {
		t.Errorf("fault at %s: next edit gives %+v", failed, f)
	}
	w.undo(undo.LastTurn)
	if got := w.Content(c.Name); got != want {
		t.Errorf("fault at %s: undo of the next edit gives %q, want %q", failed, got, want)
	}
}

// TestCancelledCommit cancels at each step: a commit that has begun to replace the file
// is finished; any other leaves nothing.
func TestCancelledCommit(t *testing.T) {
	for _, step := range []string{"proposal", "temp", "sync"} {
		w := open(t)
		w.Write("f", "old\n")
		ctx, cancel := context.WithCancel(t.Context())
		c := w.Change("f", "new\n")
		came := intrude(w, step, func() error { cancel(); return nil })
		_, err := w.Commit(ctx, c, workspace.Origin{})
		if got := w.Content("f"); !*came || !errors.Is(err, context.Canceled) || got != "old\n" {
			t.Errorf("cancelled before %s: %v, f holds %q", step, err, got)
		}
		if got := w.Files(); len(got) != 1 {
			t.Errorf("cancelled before %s: left behind: %v", step, got)
		}
	}
}

func TestCommitNeedsAHome(t *testing.T) {
	root, err := workspace.Open(t.TempDir(), workspace.Options{})
	must(t, err)
	defer root.Close()
	c, err := root.Propose("f", func(workspace.File) (string, error) { return "x", nil })
	must(t, err)
	if _, err := root.Commit(t.Context(), workspace.AllOrNone, workspace.Origin{}, c); err == nil || !strings.Contains(err.Error(), "without an undo journal") {
		t.Errorf("commit: %v", err)
	}
	if _, err := undo.Find(t.Context(), root, undo.Scope{}); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("undo: %v", err)
	}
}

func TestInconsistentChangeIsRefused(t *testing.T) {
	w := open(t)
	w.Write("f", "old\n")
	c := w.Change("f", "new\n")
	c.Text = "what the reviewer saw was not what is there\n"
	if _, err := w.Commit(t.Context(), c, workspace.Origin{}); err == nil || w.Content("f") != "old\n" {
		t.Errorf("%v, f holds %q", err, w.Content("f"))
	}
}

func TestCommitReturnsTheWrittenFile(t *testing.T) {
	w := open(t)
	w.Write("f", "\xef\xbb\xbfold\r\n")
	c := workspace.NewContent(w.Change("f", "proposed\r\n"), "reviewed\r\n")
	got, err := w.Commit(t.Context(), c, workspace.Origin{})
	must(t, err)
	want, err := w.Read("f")
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := w.Content("f"); got != "\xef\xbb\xbfreviewed\r\n" {
		t.Errorf("f holds %q", got)
	}
	next, err := w.Commit(t.Context(), workspace.Change{File: got, After: "again\r\n"}, workspace.Origin{})
	if err != nil || next.Text != "again\r\n" { // no need to read again
		t.Errorf("%+v, %v", next, err)
	}
}

func TestEditErrorIsReturnedAsItIs(t *testing.T) {
	w := open(t)
	_, err := w.Propose("f", func(f workspace.File) (string, error) {
		if f.Exists || f.Mode != 0o644 || f.Format.EOL != "\n" || f.Name != "f" || f.Path != w.Path("f") {
			t.Errorf("missing file is given as %+v", f)
		}
		return "", errFault
	})
	if err != errFault { //nolint:errorlint // exactly this one
		t.Errorf("%v", err)
	}
}

func TestSymlinkIsWrittenThrough(t *testing.T) {
	w := open(t)
	w.Write("d/f", "old\n")
	symlink(t, "d/f", w.Path("link"))
	c := w.Change("link", "new\n")
	if c.Name != "d/f" {
		t.Errorf("the reviewer is shown %s", c.Name)
	}
	_, err := w.Commit(t.Context(), c, workspace.Origin{})
	must(t, err)
	if got := w.Content("d/f"); got != "new\n" || !isLink(t, w.Path("link")) {
		t.Errorf("d/f holds %q, link is kept: %v", got, isLink(t, w.Path("link")))
	}
}

// An undo of several files that stops half way must not look like a failed undo.
func TestStoppedUndoNamesTheUndoneFiles(t *testing.T) {
	w := open(t)
	w.Write("a", "a0\n")
	w.Write("b", "b0\n")
	w.Edit("a", "a1\n", turn(1))
	w.Edit("b", "b1\n", turn(1))
	plan, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastTurn})
	if err != nil {
		t.Fatal(err)
	}
	checks := 0
	w.At(func(step string) error {
		if step == "check" {
			if checks++; checks == 2 {
				w.Write("b", "mine\n")
			}
		}
		return nil
	})
	err = plan.Do(t.Context())
	if checks != 2 || !errors.Is(err, workspace.ErrStale) || !strings.Contains(err.Error(), "a is undone already") {
		t.Errorf("after %d checks: %v", checks, err)
	}
	if a, b := w.Content("a"), w.Content("b"); a != "a0\n" || b != "mine\n" {
		t.Errorf("a holds %q, b holds %q", a, b)
	}
	w.At(func(string) error { return nil })
	w.Write("b", "b1\n")
	if plan, err = undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastTurn}); err != nil || len(plan.Changes) != 1 {
		t.Fatalf("%+v, %v", plan.Changes, err)
	}
	w.Write("b", "mine\n")
	if err := plan.Do(t.Context()); !errors.Is(err, workspace.ErrStale) || !strings.Contains(err.Error(), "not undone") {
		t.Error(err)
	}
}

// A cancelled undo that changed something returns an error of its own, which callers that
// ignore cancellation must not drop.
func TestCancelledUndoReportsItsChanges(t *testing.T) {
	for _, after := range []int{0, 1} {
		w := open(t)
		w.Edit("a", "a\n", turn(1))
		w.Edit("b", "b\n", turn(1))
		plan, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: undo.LastTurn})
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := 0
		w.At(func(step string) error {
			if step == "blob" {
				if done == after {
					cancel()
				}
				done++
			}
			return nil
		})
		err = plan.Do(ctx)
		cancel()
		if silent := errors.Is(err, context.Canceled); err == nil || silent != (after == 0) || silent != (len(w.Files()) == 2) {
			t.Errorf("cancelled in file %d: %v; left: %v", after, err, w.Files())
		}
	}
}
