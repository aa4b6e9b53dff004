package workspace_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/mishap"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session/archive"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// scene is a state of the disk and an action on it.
type scene struct {
	what  string
	setup func(t *testing.T) (args []string, check func(t *testing.T, r traced))
}

// traced is the result of a process with a mishap.
type traced struct {
	mishap.Result
	lost loss // in a power failure
}

var scenes = []scene{
	{"edit", changeScene("edit", map[string]string{"a": "a0\n"}, map[string]string{"a": "a1\n"})},
	{"create", changeScene("create", map[string]string{}, map[string]string{"new/deep/c": strings.Repeat("c1\n", 1000)})},
	{"delete", changeScene("delete", map[string]string{"a": "a0\n"}, map[string]string{})},
	{"move", changeScene("move", map[string]string{"a": "a0\n"}, map[string]string{"new/deep/c": "a1\n"})},
	{"set", changeScene("set", map[string]string{"a": "a0\n", "b": "b0\n", "d": "d0\n"}, map[string]string{"a": "a1\n", "d": "a1\n", "new/deep/c": "c1\n"})},
	{"rewind", rewindScene},
	{"append", appendScene},
}

// TestEachCallOfACommit kills a process before each of its system calls that change the
// disk, tears each write in two, and lets each call fail: the disk holds the state before
// or after, as the process reported if it could; the next start leaves nothing behind;
// and the change can be undone.
func TestEachCallOfACommit(t *testing.T) {
	for _, s := range scenes {
		for _, what := range []mishap.Kind{mishap.Killed, mishap.Torn, mishap.Failed} {
			t.Run(s.what+" "+string(what), func(t *testing.T) { everyCall(t, s, what, nothing) })
		}
	}
}

// TestPowerFailure removes from the disk, before each of those system calls and at the
// end, everything not synced: data, names, or both. Changes that the process reported are
// there; each file is as before or as after, and the change can be undone. Only temp
// files that the journal does not know yet may be left over.
func TestPowerFailure(t *testing.T) {
	for _, s := range scenes {
		for _, l := range []loss{all, theData, theNames} {
			t.Run(s.what+" loses "+string(l), func(t *testing.T) { everyCall(t, s, mishap.Killed, l) })
		}
	}
}

func everyCall(t *testing.T, s scene, what mishap.Kind, l loss) {
	calls, points, step, least := map[string]int{}, 0, 1, 4
	if what == mishap.Torn {
		least = 1 // appending writes once
	}
	if l != nothing {
		step = stress.Size(3, 1)
	}
	for n := 1 + int(stress.Seed(t)%uint64(step)); ; n += step {
		args, check := s.setup(t)
		m := mishap.Mishap{Roots: args[1:3], N: n, Kind: what}
		var d *disk
		if l != nothing {
			d = newDisk(t, m.Roots)
			m.Synced = d.sync
		}
		cmd := exec.Command(os.Args[0])
		cmd.Args, cmd.Env = append(cmd.Args, args...), append(os.Environ(), role+"=once")
		r := traced{m.To(t, cmd), l}
		if l != nothing {
			d.fail(l)
			check(t, r)
		}
		if r.Call == "" {
			if !strings.HasPrefix(r.Said, "done") || n <= least {
				t.Errorf("with no misfortune, after %d calls: %+v", n-1, r)
			}
			t.Logf("load: %d points: %v", points, calls)
			return
		}
		calls[r.Call]++
		points++
		if r.Died != (what != mishap.Failed) || !r.Died && r.Said == "" {
			t.Errorf("call %d, %s: %+v", n, r.Call, r)
		}
		if l == nothing {
			check(t, r)
		}
		if t.Failed() {
			t.Fatalf("%s, %s at call %d, %s; it said %q, %s", s.what, what, n, r.Call, r.Said, r.Warned)
		}
	}
}

// changeScene is a folder in which one file is changed.
func changeScene(what string, before, after map[string]string) func(*testing.T) ([]string, func(*testing.T, traced)) {
	return func(t *testing.T) ([]string, func(*testing.T, traced)) {
		w := open(t)
		for name, text := range before {
			w.Write(name, text)
		}
		return []string{what, w.Dir(), w.Home}, func(t *testing.T, r traced) {
			now := reopen(t, w.Dir(), w.Home, workspace.Options{})
			got := now.whole()
			isNew := cmp.Equal(got, after)
			if !isNew && !cmp.Equal(got, before) {
				t.Errorf("neither before nor after: %q", got)
			}
			saidNew := strings.HasPrefix(r.Said, "done") || strings.HasPrefix(r.Said, "error: true")
			if r.Said != "" && saidNew != isNew {
				t.Errorf("it said %q, and the disk holds %q", r.Said, got)
			}
			if r.lost == nothing {
				now.nothingLeft(t)
			}
			if isNew {
				now.undo(undo.LastChange)
			} else if _, err := undo.Find(t.Context(), now.Root, undo.Scope{}); !errors.Is(err, undo.ErrNothing) {
				t.Errorf("an undo of what was not done: %v", err)
			}
			if diff := cmp.Diff(before, now.whole()); diff != "" {
				t.Errorf("after the undo: %s", diff)
			}
			must(t, now.Close())
		}
	}
}

// nothingLeft fails on leftovers that no start should leave.
func (w *tree) nothingLeft(t *testing.T) {
	t.Helper()
	for _, name := range w.Files() {
		if list, err := os.ReadDir(w.Path(name)); strings.HasPrefix(filepath.Base(name), ".agent-") || err == nil && len(list) == 0 {
			t.Errorf("left over: %s", name)
		}
	}
	for _, ext := range []string{"live", "lock"} {
		if left, _ := filepath.Glob(filepath.Join(w.Home, "undo", "*", "*."+ext)); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	}
}

// rewindScene is a rewind of three files.
func rewindScene(t *testing.T) ([]string, func(*testing.T, traced)) {
	w := newRewindable(t)
	must(t, w.Close())
	return []string{"rewind", w.Dir(), w.Home}, func(t *testing.T, r traced) {
		root, err := workspace.Open(w.Dir(), workspace.Options{Home: w.Home})
		must(t, err)
		w.Root = root
		if r.Died && r.lost == nothing {
			w.eachIsWhole()
		}
		w.eachHolds(contents(w.before), contents(w.after))
		if strings.HasPrefix(r.Said, "done") && !cmp.Equal(w.whole(), contents(w.before)) {
			t.Error("it said that it is done")
		}
		half := !cmp.Equal(w.State(), w.before) && !cmp.Equal(w.State(), w.after)
		if s := root.Stopped(); r.Died && r.lost == nothing && half != (s.Of == 3 && s.Done > 0 && s.Done < 3) {
			t.Errorf("in the midst of the files: %v; the journal says %+v", half, s)
		}
		w.leadsTo(undo.Rewind, w.before, !r.Died || r.lost != nothing)
		w.leadsTo(undo.LastUndo, w.after, !r.Died || r.lost != nothing)
		must(t, root.Close())
	}
}

// eachHolds checks that each file has its content in one of the states.
func (w *rewindable) eachHolds(states ...map[string]string) {
	w.T.Helper()
	got := w.whole()
	for _, state := range states {
		for name := range state {
			if !slices.ContainsFunc(states, func(s map[string]string) bool { return s[name] == got[name] }) {
				w.T.Errorf("%s is neither as before nor as after: %.40q", name, got[name])
			}
		}
	}
}

// appendScene is a session to which a message is added.
func appendScene(t *testing.T) ([]string, func(*testing.T, traced)) {
	dir, home := t.TempDir(), t.TempDir()
	store := archive.New(home).Create(dir, "none")
	must(t, errors.Join(store.Append(history.Entries(llm.TextMessage(llm.User, "one"))...), store.Sync(), store.Close()))
	return []string{"append", dir, home, store.ID()}, func(t *testing.T, r traced) {
		again, err := archive.New(home).Open(store.ID())
		must(t, err)
		var got []string
		for _, m := range again.Conversation().Messages() {
			got = append(got, m.Text())
		}
		isNew := cmp.Equal(got, []string{"one", "two"})
		if !isNew && !cmp.Equal(got, []string{"one"}) {
			t.Errorf("the session holds %q", got)
		}
		if strings.HasPrefix(r.Said, "done") && !isNew {
			t.Error("it said that it kept the message")
		}
		must(t, again.Append(history.Entries(llm.TextMessage(llm.User, "three"))...)) // it can be continued
		must(t, errors.Join(again.Sync(), again.Close()))
		last, err := archive.New(home).Open(store.ID())
		must(t, err)
		if m := last.Conversation().Messages(); len(m) != len(got)+1 || m[len(m)-1].Text() != "three" {
			t.Errorf("it went on to %d messages", len(m))
		}
		must(t, last.Close())
	}
}
