package workspace_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// rewindAndRedo is a child that undoes and redoes two turns until it is killed.
// Arguments: folder, home.
func rewindAndRedo(args []string) error {
	root, err := workspace.Open(args[0], workspace.Options{Home: args[1]})
	if err != nil {
		return err
	}
	root.At(func(step string) error { return say("phase", step) })
	for {
		for _, what := range []undo.Range{undo.Rewind, undo.LastUndo} {
			if err := takeBack(root, what); err != nil {
				return err
			}
		}
	}
}

func takeBack(root *workspace.Root, what undo.Range) error {
	plan, err := undo.Find(context.Background(), root, undo.Scope{Range: what, Session: "s"})
	if err != nil {
		return err
	}
	return plan.Do(context.Background())
}

// rewindable is a folder with two turns to undo, and its states before and after.
type rewindable struct {
	*tree
	before, after map[string]string
}

func newRewindable(t *testing.T) *rewindable {
	w := &rewindable{tree: open(t)}
	w.Write("a", "a0\n")
	w.Write("b", "b0\n")
	must(t, os.Chmod(w.Path("a"), 0o600))
	must(t, os.Chmod(w.Path("b"), 0o755))
	w.before = w.State()
	w.Edit("a", "a1\n", turn(1))
	w.Edit("new/deep/c", "c1\n", turn(1))
	w.Edit("b", strings.Repeat("b1\n", 5000), turn(2))
	w.Edit("a", "a2\n", turn(2))
	must(t, os.Chmod(w.Path("a"), 0o644))
	w.after = w.State()
	return w
}

// TestKilledRewind kills a rewind of several files, and its undo, at random instants.
// After each kill every file is as before or as after, with its mode; the next start
// leaves nothing behind; and a rewind and an undo of it then lead to the same states as
// without a kill.
func TestKilledRewind(t *testing.T) {
	kills, start := stress.Size(120, 2000), stress.Seed(t)
	rng := rand.New(rand.NewPCG(start, 4))
	phases := []string{"blob", "journal", "temp", "sync", "check", "rename", "done"}
	mixed, counts := 0, map[string]int{}
	for i := range kills {
		w := newRewindable(t)
		must(t, w.Close()) // the child is alone
		phase := phases[i%len(phases)]
		kill(t, "rewind", []string{w.Dir(), w.Home}, phase, rng.IntN(5), time.Duration(rng.IntN(300))*time.Microsecond)
		counts[phase]++
		root, err := workspace.Open(w.Dir(), workspace.Options{Home: w.Home})
		must(t, err)
		w.Root = root
		w.eachIsWhole()
		half := !cmp.Equal(w.State(), w.before) && !cmp.Equal(w.State(), w.after)
		if half {
			mixed++
		}
		if s := root.Stopped(); half != (s.Of == 3 && s.Done > 0 && s.Done < 3) || !half && s.Of != 0 {
			t.Errorf("in the midst of the files: %v; the journal says %+v", half, s)
		}
		w.leadsTo(undo.Rewind, w.before, false)
		w.leadsTo(undo.LastUndo, w.after, false)
		must(t, root.Close())
		if t.Failed() {
			t.Fatalf("kill %d of seed %d, in phase %s", i, start, phase)
		}
	}
	t.Logf("load: %d kills, seed %d, kills per phase: %v, in the midst of the files: %d", kills, start, counts, mixed)
	if mixed < kills/10 {
		t.Errorf("%d of %d kills were in the midst of a rewind", mixed, kills)
	}
}

// eachIsWhole checks that each file is as before or as after, and there is nothing
// else.
func (w *rewindable) eachIsWhole() {
	w.T.Helper()
	got := w.State()
	for _, name := range []string{"a", "b", "new/deep/c"} {
		if got[name] != w.before[name] && got[name] != w.after[name] {
			w.T.Errorf("%s is neither as before nor as after: %.40q", name, got[name])
		}
	}
	for name := range got {
		if strings.HasPrefix(name, "new") && got["new/deep/c"] == "" || filepath.Base(name)[0] == '.' {
			w.T.Errorf("left over: %s", name)
		}
	}
	for _, ext := range []string{"live", "lock"} {
		if left, _ := filepath.Glob(filepath.Join(w.Home, "undo", "*", "*."+ext)); len(left) > 0 {
			w.T.Errorf("left over: %v", left)
		}
	}
}

// leadsTo undoes step by step, once or, if the first undo was interrupted, twice. A
// folder that could not be removed may stay.
func (w *rewindable) leadsTo(what undo.Range, want map[string]string, folders bool) {
	w.T.Helper()
	state := w.State
	if folders {
		want, state = contents(want), w.whole
	}
	for range 2 {
		err := takeBack(w.Root, what)
		if errors.Is(err, undo.ErrNothing) {
			break
		}
		must(w.T, err)
	}
	if diff := cmp.Diff(want, state()); diff != "" {
		w.T.Errorf("%v leads to %s", what, diff)
	}
}

// whole returns the content of each file except temp files.
func (w *tree) whole() map[string]string {
	out := map[string]string{}
	for _, name := range w.Files() {
		if !strings.HasSuffix(name, "/") && !strings.HasPrefix(filepath.Base(name), ".agent-") {
			out[name] = w.Content(name)
		}
	}
	return out
}

// contents returns a state without folders and modes.
func contents(state map[string]string) map[string]string {
	out := map[string]string{}
	for name, s := range state {
		if _, text, ok := strings.Cut(s, " "); ok {
			out[name] = text
		}
	}
	return out
}
