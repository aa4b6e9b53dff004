package workspace_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/mishap"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// TestEachCallOfACommand does as TestEachCallOfACommit while the effects of a command are
// recorded, the command's own calls among them: the next start finds the effects, and an undo
// takes them back.
func TestEachCallOfACommand(t *testing.T) {
	for _, what := range []mishap.Kind{mishap.Killed, mishap.Torn, mishap.Failed} {
		t.Run(string(what), func(t *testing.T) { everyCall(t, scene{"command", commandScene}, what, nothing) })
	}
}

// TestEachCallOfAnUndo does so during the undo of a command.
func TestEachCallOfAnUndo(t *testing.T) {
	for _, what := range []mishap.Kind{mishap.Killed, mishap.Torn, mishap.Failed} {
		t.Run(string(what), func(t *testing.T) { everyCall(t, scene{"undo", undoScene}, what, nothing) })
	}
	for _, l := range []loss{all, theData, theNames} {
		t.Run("loses "+string(l), func(t *testing.T) { everyCall(t, scene{"undo", undoScene}, mishap.Killed, l) })
	}
}

// commandTree is a folder for mutate.
func commandTree(t *testing.T) *tree {
	w := open(t)
	for _, name := range []string{"a", "b", "sub/c", "tool"} {
		w.Write(name, name+"0\n")
		must(t, os.Chmod(w.Path(name), 0o640))
	}
	symlink(t, "b", w.Path("link"))
	return w
}

// look returns the state of each path, with the targets of links.
func (w *tree) look() map[string]string {
	state := w.State()
	for name, s := range state {
		if strings.HasPrefix(s, "L") {
			target, err := os.Readlink(w.Path(name))
			must(w.T, err)
			state[name] += " " + target
		}
	}
	return state
}

func commandScene(t *testing.T) ([]string, func(*testing.T, traced)) {
	w := commandTree(t)
	before := w.look()
	must(t, w.Close())
	return []string{"command", w.Dir(), w.Home}, func(t *testing.T, r traced) {
		now := reopen(t, w.Dir(), w.Home, workspace.Options{})
		tracker := effects.New(now.Root, effects.Options{Home: w.Home})
		found, err := tracker.Recover(t.Context())
		must(t, errors.Join(err, tracker.Close()))
		left := now.look()
		if !r.Died && len(found) > 0 {
			t.Errorf("it ended, and the next start found %q", found)
		}
		if kept, _ := filepath.Glob(filepath.Join(w.Home, "undo", "kept-*")); len(kept) > 0 && r.Died {
			t.Errorf("left over: %q", kept)
		}
		if strings.HasPrefix(r.Said, "error") {
			now.takeBackSome(before)
			must(t, now.Close())
			return
		}
		if !cmp.Equal(before, left) {
			now.undo(undo.LastChange)
		}
		if d := cmp.Diff(before, now.look()); d != "" {
			t.Errorf("undone: %s; the next start said %q", d, found)
		}
		if !cmp.Equal(before, left) {
			now.undo(undo.LastUndo)
		}
		if d := cmp.Diff(left, now.look()); d != "" {
			t.Errorf("redone: %s", d)
		}
		must(t, now.Close())
	}
}

// takeBackSome undoes the effects that were recorded before an error, which was reported: each
// path is then as before, or as the undo found it.
func (w *tree) takeBackSome(before map[string]string) {
	w.T.Helper()
	left := w.look()
	if err := takeBack(w.Root, undo.LastChange); err != nil && !errors.Is(err, undo.ErrNothing) {
		w.T.Error(err)
	}
	for name, s := range w.look() {
		if s != before[name] && s != left[name] {
			w.T.Errorf("%s is %q, which nobody wrote", name, s)
		}
	}
}

func undoScene(t *testing.T) ([]string, func(*testing.T, traced)) {
	w := commandTree(t)
	before := w.look()
	must(t, commandOnce(w.Root, w.Home))
	after := w.look()
	must(t, w.Close())
	return []string{"undo", w.Dir(), w.Home}, func(t *testing.T, r traced) {
		now := reopen(t, w.Dir(), w.Home, workspace.Options{})
		left := now.look()
		for name, s := range left {
			if s != before[name] && s != after[name] && !(r.lost != nothing && strings.HasPrefix(filepath.Base(name), ".agent-")) {
				t.Errorf("%s is neither as before nor as after: %q", name, s)
			}
		}
		done := strings.HasPrefix(r.Said, "done")
		if done && !cmp.Equal(left, before) {
			t.Error("it said that it is done")
		}
		if !done {
			_ = takeBack(now.Root, undo.Rewind)
		}
		got := now.look()
		maps.DeleteFunc(got, func(name, _ string) bool { // see TestPowerFailure
			return r.lost != nothing && strings.HasPrefix(filepath.Base(name), ".agent-")
		})
		if d := cmp.Diff(before, got); d != "" {
			t.Errorf("undone: %s", d)
		}
		must(t, now.Close())
	}
}
