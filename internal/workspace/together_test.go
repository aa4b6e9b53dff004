package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// many is the number of files that the tests write together.
const many = 12

// before writes the files of a review of many files, as they are before it.
func before(w *tree) {
	for i := range many - 3 {
		w.Write(fmt.Sprintf("old/f%02d", i), fmt.Sprintln("old", i))
	}
	must(w.T, os.Chmod(w.Path("old/f00"), 0o755))
}

// together returns changes of many files: edits, new files in new folders, a removal, a mode, and
// a link in place of a file.
func together(root *workspace.Root) ([]workspace.Change, error) {
	var all []workspace.Change
	for i := range many {
		name := fmt.Sprintf("old/f%02d", i)
		if i >= many-3 {
			name = fmt.Sprintf("new/d%d/f", i%2)
		}
		if i == many-1 {
			name = "new/g"
		}
		c, err := root.Propose(name, func(workspace.File) (string, error) { return fmt.Sprintln("new", i), nil })
		if err != nil {
			return nil, err
		}
		switch i {
		case 3:
			c.After, c.Delete = "", true
		case 4, 5:
			now, content, err := root.Look(c.Path)
			if err != nil {
				return nil, err
			}
			mode := fs.FileMode(0o755)
			if runtime.GOOS == "windows" { // which knows no others
				mode = 0o444
			}
			c.States = &workspace.States{Before: now, After: workspace.StateOf(mode, content), Content: content}
			if i == 5 && runtime.GOOS != "windows" { // where few may make a link
				c.States.After, c.States.Content = workspace.StateOf(fs.ModeSymlink, []byte("f00")), []byte("f00")
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// byCase returns a move of a.txt to A.txt with an edit.
func byCase(root *workspace.Root) ([]workspace.Change, error) {
	file, err := root.Removable("a.txt")
	if err != nil {
		return nil, err
	}
	c := workspace.Change{File: file, After: "1\n"}
	c.To, c.ToName, err = root.Place(file.Path, "A.txt")
	return []workspace.Change{c}, err
}

// writeTogether is the child: it writes many files together, or moves one, and stays in a phase.
func writeTogether(args []string) error {
	root, err := workspace.Open(args[0], workspace.Options{Home: args[1]})
	if err != nil {
		return err
	}
	proposed := together
	if args[4] == "by case" {
		proposed = byCase
	}
	changes, err := proposed(root)
	if err != nil {
		return err
	}
	phase, left := args[2], 0
	if _, err := fmt.Sscan(args[3], &left); err != nil {
		return err
	}
	root.At(func(name string) error {
		err := say("phase", name)
		if name == phase {
			if left--; left < 0 {
				<-time.After(time.Minute) // until killed
			}
		}
		return err
	})
	_, err = root.Commit(context.Background(), workspace.AllOrNone, workspace.Origin{Session: "s", Turn: "t", Tool: "review"}, changes...)
	return errors.Join(err, say("phase written"))
}

// TestFilesAreWrittenTogetherOrNot fails the first step of a commit of many files, then
// the second, and so on until none fails: all files are written, or none.
func TestFilesAreWrittenTogetherOrNot(t *testing.T) {
	for fail := 0; ; fail++ {
		w := open(t)
		before(w)
		old := w.State()
		changes, err := together(w.Root)
		must(t, err)
		n, failed := 0, ""
		w.At(func(step string) error {
			if n++; n == fail+1 {
				failed = step
				return errFault
			}
			return nil
		})
		_, err = w.Root.Commit(t.Context(), workspace.AllOrNone, turn(1), changes...)
		w.At(func(string) error { return nil })
		wrote := failed == "" || failed == "done"
		if (err == nil) != (failed == "") || errors.Is(err, workspace.ErrNotDurable) != (failed == "done") {
			t.Errorf("fault at %d, %s: %v", fail, failed, err)
		}
		if diff := cmp.Diff(old, w.State()); (diff == "") == wrote {
			t.Errorf("fault at %d, %s: %s", fail, failed, diff)
		}
		if wrote {
			if got := w.undo(undo.LastChange); len(got) != many {
				t.Errorf("one undo takes back %q", got)
			}
			if diff := cmp.Diff(old, w.State()); diff != "" {
				t.Errorf("fault at %d, %s: after the undo: %s", fail, failed, diff)
			}
		}
		w = reopen(t, w.Dir(), w.Home, workspace.Options{})
		if diff := cmp.Diff(old, w.State()); diff != "" {
			t.Errorf("fault at %d, %s: after a start: %s", fail, failed, diff)
		}
		if failed == "" {
			if fail < 5*many {
				t.Errorf("only %d steps failed", fail)
			}
			return
		}
	}
}

// TestKilledWhileItWritesTogether kills a process at each phase of each file of a commit of
// many files. The next start leaves all files old or all new, reports those taken back,
// and nothing is left over.
func TestKilledWhileItWritesTogether(t *testing.T) {
	phases := []string{"blob", "journal", "temp", "sync", "check", "rename", "done"}
	all, back := 0, 0
	for i, phase := range phases {
		for _, n := range []int{0, 1, 5, many - 4} { // three have no temp file to sync
			w := open(t)
			before(w)
			old := w.State()
			must(t, w.Close())
			kill(t, "together", []string{w.Dir(), w.Home, phase, fmt.Sprint(n), "many"}, phase, n, -1)
			w = reopen(t, w.Dir(), w.Home, workspace.Options{})
			taken := w.TakenBack()
			if partly := phase == "rename" && n > 0; partly != (taken.Of == many) || partly != (len(taken.Names) == n && n > 0) || len(taken.Left) > 0 {
				t.Errorf("%s %d: %+v", phase, n, taken)
			}
			written := phase == "done"
			if diff := cmp.Diff(old, w.State()); (diff == "") == written {
				t.Errorf("%s %d: %s", phase, n, diff)
			}
			if taken.Of > 0 {
				back++
			}
			if written {
				all++
				if got := w.undo(undo.LastChange); len(got) != many {
					t.Errorf("%s %d: one undo takes back %q", phase, n, got)
				}
				if diff := cmp.Diff(old, w.State()); diff != "" {
					t.Errorf("%s %d: after the undo: %s", phase, n, diff)
				}
			} else if _, err := undo.Find(t.Context(), w.Root, undo.Scope{}); !errors.Is(err, undo.ErrNothing) {
				t.Errorf("%s %d: what was not written can be undone: %v", phase, n, err)
			}
			must(t, w.Close())
			if again := reopen(t, w.Dir(), w.Home, workspace.Options{}); again.TakenBack().Of != 0 {
				t.Errorf("%s %d: reported twice", phases[i], n)
			}
		}
	}
	t.Logf("load: kills in %d phases at 4 files each, %d all written, %d taken back", len(phases), all, back)
	if all == 0 || back == 0 {
		t.Error("the kills do not reach both outcomes")
	}
}

// TestChangedAfterTheKill: a file that somebody has changed since is left alone and named.
func TestChangedAfterTheKill(t *testing.T) {
	w := open(t)
	before(w)
	must(t, w.Close())
	kill(t, "together", []string{w.Dir(), w.Home, "rename", "5", "many"}, "rename", 5, -1)
	w.Write("old/f01", "theirs\n")
	w = reopen(t, w.Dir(), w.Home, workspace.Options{})
	taken := w.TakenBack()
	if !slices.Equal(taken.Left, []string{"old/f01"}) || len(taken.Names) != 4 || w.Content("old/f01") != "theirs\n" || w.Content("old/f00") != "old 0\n" {
		t.Errorf("%+v", taken)
	}
}

// TestOneStaleFileStopsAll: nothing is written if one of the files has changed since.
func TestOneStaleFileStopsAll(t *testing.T) {
	w := open(t)
	before(w)
	changes, err := together(w.Root)
	must(t, err)
	w.Write("old/f07", "theirs\n")
	now := w.State()
	if _, err := w.Root.Commit(t.Context(), workspace.AllOrNone, turn(1), changes...); !errors.Is(err, workspace.ErrStale) {
		t.Error(err)
	}
	if diff := cmp.Diff(now, w.State()); diff != "" {
		t.Error(diff)
	}
}

// TestKilledWhileItMovesByCase kills a process at each phase of a move of a.txt to A.txt. The next start
// leaves the one or the other, whole, and an undo leads back.
func TestKilledWhileItMovesByCase(t *testing.T) {
	old, moved := map[string]string{"a.txt": "one\n"}, map[string]string{"A.txt": "1\n"}
	texts := func(w *tree) map[string]string {
		out := map[string]string{}
		for _, name := range w.Files() {
			out[name] = w.Content(name)
		}
		return out
	}
	back, done := 0, 0
	for _, at := range []struct {
		phase string
		n     int
	}{{"blob", 0}, {"blob", 1}, {"journal", 0}, {"journal", 1}, {"temp", 0}, {"sync", 0}, {"check", 0}, {"check", 1}, {"rename", 0}, {"rename", 1}, {"done", 0}, {"done", 1}} {
		w := open(t)
		w.Write("a.txt", "one\n")
		must(t, w.Close())
		kill(t, "together", []string{w.Dir(), w.Home, at.phase, fmt.Sprint(at.n), "by case"}, at.phase, at.n, -1)
		w = reopen(t, w.Dir(), w.Home, workspace.Options{})
		back += w.TakenBack().Of
		if at.phase == "done" {
			done++
			if diff := cmp.Diff(moved, texts(w)); diff != "" {
				t.Fatalf("%v: %s", at, diff)
			}
			w.undo(undo.LastChange)
		}
		if diff := cmp.Diff(old, texts(w)); diff != "" {
			t.Fatalf("%v: %s", at, diff)
		}
	}
	if back != 2 || done != 2 {
		t.Errorf("%d files taken back, %d kills after the move", back, done)
	}
}

// TestUndoOfACommandThatRespells takes back a command that renamed a.txt to A.txt, and the undo.
func TestUndoOfACommandThatRespells(t *testing.T) {
	w := open(t)
	w.Write("a.txt", "one\n")
	before, content, err := w.Look(w.Path("a.txt"))
	must(t, err)
	must(t, os.Rename(w.Path("a.txt"), w.Path("between"))) // else Wine does nothing
	must(t, os.Rename(w.Path("between"), w.Path("A.txt")))
	must(t, w.Record(slices.Values([]workspace.Effect{
		{Path: w.Path("A.txt"), Name: "A.txt", After: before},
		{Path: w.Path("a.txt"), Name: "a.txt", Before: before, Content: content},
	}), turn(1)))
	for _, c := range []struct {
		what undo.Range
		want string
	}{{undo.LastTurn, "a.txt"}, {undo.LastUndo, "A.txt"}, {undo.LastTurn, "a.txt"}} {
		if got := w.undo(c.what); len(got) != 2 {
			t.Errorf("it takes back %q", got)
		}
		if got := w.Files(); !slices.Equal(got, []string{c.want}) || w.Content(c.want) != "one\n" {
			t.Fatalf("there are %q, want %s", got, c.want)
		}
	}
}
