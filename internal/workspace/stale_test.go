package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// intruders are things that another program can do to d/f.txt, which holds "one\n",
// between a proposal and its commit, with the expected content of the path afterwards.
var intruders = []struct {
	name string
	act  func(w *tree) error
	want string // content of d/f.txt afterwards
}{
	{"same size and time", func(w *tree) error {
		info, err := os.Stat(w.Path("d/f.txt"))
		if err != nil {
			return err
		}
		w.Write("d/f.txt", "two\n")
		return os.Chtimes(w.Path("d/f.txt"), info.ModTime(), info.ModTime())
	}, "two\n"},
	{"appended", func(w *tree) error { w.Write("d/f.txt", "one\ntwo\n"); return nil }, "one\ntwo\n"},
	{"emptied", func(w *tree) error { return os.Truncate(w.Path("d/f.txt"), 0) }, ""},
	{"deleted", func(w *tree) error { return os.Remove(w.Path("d/f.txt")) }, "<none>"},
	{"folder deleted", func(w *tree) error { return os.RemoveAll(w.Path("d")) }, "<none>"},
	{"replaced by another file", func(w *tree) error {
		w.Write("new", "two\n")
		return os.Rename(w.Path("new"), w.Path("d/f.txt"))
	}, "two\n"},
	{"a symlink in its place, to a file with the same content", func(w *tree) error {
		w.Write("other", "one\n")
		err := os.Remove(w.Path("d/f.txt"))
		symlink(w.T, "../other", w.Path("d/f.txt"))
		return err
	}, "one\n"},
	{"a symlink in its place, to a file outside", func(w *tree) error {
		outside := filepath.Join(w.Home, "outside")
		err := errors.Join(os.WriteFile(outside, []byte("one\n"), 0o644), os.Remove(w.Path("d/f.txt")))
		symlink(w.T, outside, w.Path("d/f.txt"))
		return err
	}, "one\n"},
	{"a symlink in its folder's place", func(w *tree) error {
		w.Write("e/f.txt", "one\n")
		err := os.RemoveAll(w.Path("d"))
		symlink(w.T, "e", w.Path("d"))
		return err
	}, "one\n"},
	{"its folder moved away and made again", func(w *tree) error {
		err := os.Rename(w.Path("d"), w.Path("e"))
		w.Write("d/f.txt", "one\n")
		return err
	}, "one\n"},
	{"a hard link in its place", func(w *tree) error {
		w.Write("other", "one\n")
		return errors.Join(os.Remove(w.Path("d/f.txt")), os.Link(w.Path("other"), w.Path("d/f.txt")))
	}, "one\n"},
	{"made read-only", func(w *tree) error { return os.Chmod(w.Path("d/f.txt"), 0o444) }, "one\n"},
}

// steps are the points where an intruder may come in: before the commit, and before its
// steps up to the comparison.
var steps = []string{"proposal", "blob", "journal", "temp", "sync", "check"}

func TestChangedFileIsNeverOverwritten(t *testing.T) {
	for _, in := range intruders {
		for _, step := range steps {
			if step == "proposal" && in.name == "its folder moved away and made again" {
				continue // the path holds the reviewed file
			}
			t.Run(in.name+" before "+step, func(t *testing.T) {
				needLinks(t, in.name)
				w := open(t)
				w.Write("d/f.txt", "one\n")
				c := w.Change("d/f.txt", "mine\n")
				came := intrude(w, step, func() error { return in.act(w) })
				_, err := w.Commit(t.Context(), c, workspace.Origin{})
				if !*came {
					t.Fatal("nobody came in between")
				}
				checkRefused(t, w, in.name, err)
				if got := w.Content("d/f.txt"); got != in.want {
					t.Errorf("d/f.txt holds %q, want %q", got, in.want)
				}
			})
		}
	}
}

// needLinks skips the test of an intruder with a symlink if the system lacks them. To skip it during the
// commit would be too late: other goroutines of that go on.
func needLinks(t *testing.T, intruder string) {
	t.Helper()
	if strings.Contains(intruder, "symlink") {
		symlink(t, "nowhere", filepath.Join(t.TempDir(), "link"))
	}
}

// intrude calls act once before a step; "proposal" means at once.
func intrude(w *tree, step string, act func() error) *bool {
	came := new(bool)
	at := func(now string) error {
		if now != step || *came {
			return nil
		}
		*came = true
		return act()
	}
	must(w.T, at("proposal"))
	w.At(at)
	return came
}

// checkRefused checks that a commit failed for the right reason and left nothing.
func checkRefused(t *testing.T, w *tree, name string, err error) {
	t.Helper()
	if err == nil {
		t.Error("the commit went through")
	}
	reasoned := name == "made read-only" || name == "a hard link in its place"
	if !errors.Is(err, workspace.ErrStale) && !reasoned {
		t.Errorf("error %v, want ErrStale", err)
	}
	for _, f := range w.Files() {
		if strings.Contains(f, ".agent-") {
			t.Errorf("left behind: %s", f)
		}
	}
	w.At(func(string) error { return nil })
	if _, err := undo.Find(t.Context(), w.Root, undo.Scope{}); !errors.Is(err, undo.ErrNothing) {
		t.Errorf("undo after a refused commit: %v", err)
	}
}

// TestAppearedFileIsNeverOverwritten lets a file appear where one is to be created, up to
// the last moment: there is no gap before the link.
func TestAppearedFileIsNeverOverwritten(t *testing.T) {
	appear := map[string]func(w *tree) error{
		"file": func(w *tree) error { w.Write("d/new.txt", "theirs\n"); return nil },
		"symlink": func(w *tree) error {
			err := mkdir(w, "d")
			symlink(w.T, "nowhere", w.Path("d/new.txt"))
			return err
		},
		"folder":   func(w *tree) error { return mkdir(w, "d/new.txt") },
		"no place": func(w *tree) error { w.Write("d", "a file where the folder should be"); return nil },
	}
	for name, act := range appear {
		for _, step := range append(steps, "rename") {
			if name == "no place" && (step == "temp" || step == "sync" || step == "check" || step == "rename") {
				continue // the folder is there by then
			}
			t.Run(name+" before "+step, func(t *testing.T) {
				needLinks(t, name)
				w := open(t)
				c := w.Change("d/new.txt", "mine\n")
				came := intrude(w, step, func() error { return act(w) })
				before := ""
				if _, err := w.Commit(t.Context(), c, workspace.Origin{}); err == nil {
					t.Error("the commit went through")
				} else if name == "file" && !errors.Is(err, workspace.ErrStale) {
					t.Errorf("error %v, want ErrStale", err)
				}
				if !*came {
					t.Fatal("nothing appeared")
				}
				if name == "file" {
					before = w.Content("d/new.txt")
				}
				if name == "file" && before != "theirs\n" {
					t.Errorf("d/new.txt holds %q", before)
				}
				for _, f := range w.Files() {
					if strings.Contains(f, ".agent-") {
						t.Errorf("left behind: %s", f)
					}
				}
			})
		}
	}
}

func mkdir(w *tree, name string) error { return os.MkdirAll(w.Path(name), 0o755) }

// edits are changes of the file f, which holds "base\n" or, after a commit, "mine\n", by
// another program. Each returns the content of f afterwards.
var edits = []struct {
	name string
	act  func(w *tree, round int) (want string, err error)
}{
	{"content", func(w *tree, round int) (string, error) {
		w.Write("f", fmt.Sprintf("theirs %d\n", round))
		return fmt.Sprintf("theirs %d\n", round), nil
	}},
	{"same size and time", func(w *tree, round int) (string, error) {
		info, err := os.Stat(w.Path("f"))
		if err != nil {
			return "", err
		}
		w.Write("f", fmt.Sprintf("%04d\n", round%10_000))
		return fmt.Sprintf("%04d\n", round%10_000), os.Chtimes(w.Path("f"), info.ModTime(), info.ModTime())
	}},
	{"delete", func(w *tree, _ int) (string, error) { return "<none>", os.Remove(w.Path("f")) }},
	{"replace", func(w *tree, round int) (string, error) {
		w.Write("new", fmt.Sprintf("other %d\n", round))
		return fmt.Sprintf("other %d\n", round), os.Rename(w.Path("new"), w.Path("f"))
	}},
	{"symbolic link", func(w *tree, _ int) (string, error) {
		w.Write("other", "base\n")
		return "base\n", errors.Join(os.Remove(w.Path("f")), os.Symlink("other", w.Path("f")))
	}},
	{"hard link", func(w *tree, round int) (string, error) {
		w.Write("other", fmt.Sprintf("linked %d\n", round))
		return fmt.Sprintf("linked %d\n", round), errors.Join(os.Remove(w.Path("f")), os.Link(w.Path("other"), w.Path("f")))
	}},
}

// window is the one documented gap of a commit, between the last comparison and the
// replacement.
type window struct {
	sync.Mutex // held by the commit during the gap
	open       bool
	began      time.Time
	took       []time.Duration
}

// step is called before each step of a commit.
func (g *window) step(step string) error {
	switch step {
	case "check":
		g.Lock()
		g.open, g.began = true, time.Now()
	case "done":
		g.took = append(g.took, time.Since(g.began))
		g.open = false
		g.Unlock()
	}
	return nil
}

// TestRandomIntruders changes the file at random instants around a commit, from another
// goroutine, in every way of edits. The file then holds the intruder's change: either the
// commit failed, or the intruder came after it. Only the documented gap, between comparison
// and replacement, is kept free; it takes less than a millisecond.
func TestRandomIntruders(t *testing.T) {
	rounds, start := stress.Size(300, 10_000), stress.Seed(t)
	rng := rand.New(rand.NewPCG(start, 4))
	w := open(t)
	gap := &window{}
	w.At(gap.step)
	refused, passed, kinds := 0, 0, map[string]int{}
	for i := range rounds {
		must(t, os.RemoveAll(w.Path("f")))
		must(t, os.RemoveAll(w.Path("other")))
		w.Write("f", "base\n")
		c := w.Change("f", "mine\n")
		edit, delay := edits[rng.IntN(len(edits))], time.Duration(rng.IntN(1500))*time.Microsecond
		kinds[edit.name]++
		wrote := make(chan struct{})
		var want string
		var failed error
		go func() {
			defer close(wrote)
			<-time.After(delay)
			gap.Lock()
			defer gap.Unlock()
			want, failed = edit.act(w, i)
		}()
		_, err := w.Commit(t.Context(), c, workspace.Origin{})
		if gap.open {
			gap.open = false
			gap.Unlock()
		}
		<-wrote
		must(t, failed)
		if got := w.Content("f"); got != want {
			t.Fatalf("round %d of seed %d: f holds %q, the other program's %s is lost (%v)", i, start, got, edit.name, err)
		}
		if err == nil {
			passed++
		} else if refused++; !errors.Is(err, workspace.ErrStale) && edit.name != "hard link" {
			t.Fatal(err)
		}
	}
	slices.Sort(gap.took)
	median, most := gap.took[len(gap.took)/2], gap.took[len(gap.took)-1]
	t.Logf("load: %d intrusions, seed %d: %d before the check, %d after the commit; %v; the gap took %v, at most %v", rounds, start, refused, passed, kinds, median, most)
	if refused == 0 || passed == 0 || len(kinds) < len(edits) {
		t.Error("the intruder came always before or always after, or did not do everything")
	}
	if median > time.Millisecond {
		t.Error("the gap is too long")
	}
}

// TestRacingWorkspaces lets several workspaces on one folder increment counters. No
// increment may be lost: each workspace locks the others out during its gap.
func TestRacingWorkspaces(t *testing.T) {
	const writers, each = 4, 25
	first := open(t)
	first.Write("counter", "")
	var wg sync.WaitGroup
	for range writers {
		w := reopen(t, first.Dir(), first.Home, workspace.Options{})
		wg.Go(func() {
			for done := 0; done < each; {
				c, err := w.Propose("counter", func(f workspace.File) (string, error) { return f.Text + "x", nil })
				if err == nil {
					_, err = w.Commit(context.WithoutCancel(t.Context()), c, workspace.Origin{})
				}
				switch {
				case err == nil:
					done++
				case !errors.Is(err, workspace.ErrStale):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := len(first.Content("counter")); got != writers*each {
		t.Errorf("%d increments are there, want %d", got, writers*each)
	}
}

func TestRacingCreators(t *testing.T) {
	first := open(t)
	second := reopen(t, first.Dir(), first.Home, workspace.Options{})
	for i := range 30 {
		name := fmt.Sprintf("d%d/f", i)
		a, b := first.Change(name, "a"), second.Change(name, "b")
		errs := make(chan error, 1)
		go func() {
			_, err := second.Commit(t.Context(), b, workspace.Origin{})
			errs <- err
		}()
		_, errA := first.Commit(t.Context(), a, workspace.Origin{})
		errB := <-errs
		if (errA == nil) == (errB == nil) {
			t.Fatalf("both or none went through: %v, %v", errA, errB)
		}
		want := "a"
		if errA != nil {
			want = "b"
		}
		if got := first.Content(name); got != want || !errors.Is(errors.Join(errA, errB), workspace.ErrStale) {
			t.Fatalf("%s holds %q, want %q (%v, %v)", name, got, want, errA, errB)
		}
	}
}
