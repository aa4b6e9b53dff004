//go:build unix

package effects_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

func (w *world) start(line string, background bool) *effects.Run {
	w.T.Helper()
	run, err := w.tracker.Start(w.T.Context(), effects.Command{Line: line, Background: background, Origin: workspace.Origin{Session: "s", Tool: "shell"}})
	if err != nil {
		w.T.Fatal(err)
	}
	return run
}

func TestReport(t *testing.T) {
	w := newWorld(t, 1)
	w.fill()
	for _, tt := range []struct{ line, want string }{
		{"touch a.txt", ""},
		{
			"echo new > new.txt; echo more >> a.txt; rm sub/c.txt; mv 'e f.bin' g.bin; chmod 600 bin/tool",
			"created new.txt; changed a.txt; deleted sub/c.txt; renamed e f.bin → g.bin; changed the mode of bin/tool",
		},
		{"echo x > ignored/x; git commit -qam more", ""},
		{"rm .gitignore", "deleted .gitignore"},
		{"echo '*.txt' > .gitignore", "created .gitignore"},
		{"rm .gitignore; echo y > y", "created y; deleted .gitignore"},
		{"truncate -s 11M big", "created big (cannot be undone: it is larger than 10 MB)"},
		{"ln -sfn y link0", "changed link0"},
		{"mkfifo pipe; mkdir dir", ""},
		{"sleep 0.1; echo z > keep/z; touch -d 2020-01-01 keep", "created keep/z"},
		{"rm keep/z; touch -d 2020-01-01 keep", "deleted keep/z"},
	} {
		if got := w.run(tt.line).String(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

// TestChangesOfOthers: what somebody else changes before or after a command is no part of
// it, and an undo leaves alone a file that was changed after it.
func TestChangesOfOthers(t *testing.T) {
	w := newWorld(t, 1)
	w.fill()
	w.run("true")
	w.Write("a.txt", "mine\n")
	if got := w.run("echo 3 > b.txt; echo 4 > sub/c.txt").String(); got != "created b.txt; changed sub/c.txt" {
		t.Error(got)
	}
	w.Write("sub/c.txt", "mine too\n")
	plan := w.undo(undo.LastChange)
	if len(plan.Refused) != 1 || plan.Refused[0].Name != "sub/c.txt" {
		t.Errorf("%+v", plan.Refused)
	}
	if got := []string{w.Content("a.txt"), w.Content("b.txt"), w.Content("sub/c.txt")}; !cmp.Equal(got, []string{"mine\n", "<none>", "mine too\n"}) {
		t.Errorf("%q", got)
	}
}

// TestHardLinksAreRefused: an undo that would detach a name from the others leaves these alone
// from the start, and undoes the rest.
func TestHardLinksAreRefused(t *testing.T) {
	w := newWorld(t, 1)
	w.Write("a", "1\n")
	w.Write("z", "1\n")
	w.sh("ln a b")
	w.run("echo 2 | tee a z")
	plan := w.undo(undo.LastChange)
	if len(plan.Refused) != 2 || w.Content("a") != "2\n" || w.Content("z") != "1\n" {
		t.Errorf("%+v, a: %q, z: %q", plan.Refused, w.Content("a"), w.Content("z"))
	}
}

// TestTooManyFiles: in a folder with more files than are followed, each command is reported as not followed.
func TestTooManyFiles(t *testing.T) {
	w := newWorld(t, 1)
	w.tracker.Follow(3)
	for i := range 3 {
		w.Write(fmt.Sprint(i), "")
	}
	w.run("true")
	w.Write("more", "")
	for range 2 {
		if _, err := w.tracker.Start(t.Context(), effects.Command{Line: "true"}); err == nil || err.Error() != "the folder has more than 3 files that git does not ignore" {
			t.Errorf("%v", err)
		}
	}
}

// TestBackground: changes while a command runs in the background are its own until it
// ends, except those of a command in front and of the program itself.
func TestBackground(t *testing.T) {
	w := newWorld(t, 1)
	w.fill()
	job := w.start("server", true)
	w.Write("by-job", "1\n")
	front := w.start("make", false)
	w.Write("by-make", "1\n")
	if got := front.End(t.Context()).String(); got != "created by-make" {
		t.Error(got)
	}
	c, err := w.Propose("by-tool", func(workspace.File) (string, error) { return "text\n", nil })
	if err == nil {
		var f workspace.File
		f, err = w.Commit(t.Context(), c, workspace.Origin{Tool: "write_file"})
		w.tracker.Wrote(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Write("by-job-too", "1\n")
	if got := job.End(t.Context()).String(); got != "created by-job, by-job-too" {
		t.Error(got)
	}
	w.Write("after", "1\n")
	if got := w.run("true").String(); got != "" {
		t.Error(got)
	}
}

// TestFreshFile: a file that is changed at once after it was written, with the same size,
// is noticed.
func TestFreshFile(t *testing.T) {
	w := newWorld(t, 1)
	for range 30 {
		w.Write("f", "a")
		run := w.start("x", false)
		w.Write("f", "b")
		if got := run.End(t.Context()).String(); got != "changed f" {
			t.Fatalf("%q", got)
		}
		w.undo(undo.LastChange)
		if got := w.Content("f"); got != "a" {
			t.Fatalf("%q", got)
		}
	}
}

// TestIncluded: an ignored file counts if it is included.
func TestIncluded(t *testing.T) {
	w := newWorld(t, 1)
	w.Write(".gitignore", "*.env\n")
	w.Write("x.env", "1\n")
	w.tracker = effects.New(w.Root, effects.Options{Home: w.Home, Include: []string{"x.env"}})
	if got := w.run("rm x.env; touch y.env").String(); got != "deleted x.env" {
		t.Error(got)
	}
}

// TestNothingIsLeft: the copies are removed at the end, and their folder is private.
func TestNothingIsLeft(t *testing.T) {
	w := newWorld(t, 1)
	w.Write("f", "a")
	w.run("true")
	kept := func() (names []string) {
		list, err := os.ReadDir(w.Home + "/undo")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if strings.HasPrefix(e.Name(), "kept-") {
				names = append(names, e.Name())
			}
		}
		return names
	}
	if len(kept()) != 3 {
		t.Error(kept())
	}
	if err := w.tracker.Close(); err != nil {
		t.Error(err)
	}
	if len(kept()) != 0 {
		t.Error(kept())
	}
	w.tracker = nil
}

// TestLeftovers: whichever files of a store a kill left, the next start removes them, and old
// ones of other workspaces; not those of a living process, nor before the end of a recovery
// that was interrupted.
func TestLeftovers(t *testing.T) {
	w := newWorld(t, 1)
	w.Write("f", "a")
	run := w.start("x", false)
	store := func() string {
		all, err := filepath.Glob(filepath.Join(w.Home, "undo", "kept-*.lock"))
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return strings.TrimSuffix(all[0], ".lock")
	}()
	leave := func(name string, age time.Duration, exts ...string) {
		for _, ext := range append(exts, ".lock") {
			scratch.Write(t, name+ext, "secret")
			at := time.Now().Add(-age)
			if err := os.Chtimes(name+ext, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	other := filepath.Join(w.Home, "undo", "kept-0000000000000000-")
	prefix := store[:strings.LastIndexByte(store, '-')+1]
	leave(prefix+"DATA", 0, "")
	leave(prefix+"NONE", 0)
	leave(other+"OLD", 8*24*time.Hour, "", ".items")
	leave(other+"NEW", time.Hour, "", ".items")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = w.tracker.Recover(ctx) // interrupted
	for _, name := range []string{prefix + "DATA", other + "NEW"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if found, err := w.tracker.Recover(t.Context()); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
	left, err := filepath.Glob(filepath.Join(w.Home, "undo", "kept-*"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{store, store + ".items", store + ".lock", other + "NEW", other + "NEW.items", other + "NEW.lock"}
	slices.Sort(want)
	if !cmp.Equal(left, want) {
		t.Errorf("left: %q", left)
	}
	run.End(t.Context())
}

// TestUndoOfACommandKeepsLaterChanges: the undo of a command is merged with later changes of
// other lines, back and forth; a conflict, a picture and a text beyond the bound are left
// alone.
func TestUndoOfACommandKeepsLaterChanges(t *testing.T) {
	w := newWorld(t, 1)
	const was = "a\n1\n2\n3\nb\n"
	w.Write("f", was)
	w.Write("conflict", was)
	w.Write("raw", "\x00"+was)
	w.Write("large", strings.Repeat("x\n", 3<<20))
	w.run("sed -i s/a/A/ f conflict raw; echo more >> large")
	w.Write("f", "A\n1\n2\n3\nmine\n")
	w.Write("conflict", "mine\n1\n2\n3\nb\n")
	w.Write("raw", "\x00A\n1\n2\n3\nmine\n")
	w.Write("large", strings.Repeat("x\n", 3<<20)+"more\nmine\n")
	undoing := func(what undo.Range, want string) {
		t.Helper()
		plan, err := undo.Find(t.Context(), w.Root, undo.Scope{Range: what, Merge: true})
		if err == nil {
			err = plan.Do(t.Context())
		}
		if err != nil || !slices.Equal(plan.Merged, []string{"f"}) || w.Content("f") != want {
			t.Fatalf("%v: merged %q, f: %q, %v", err, plan.Merged, w.Content("f"), plan.Refused)
		}
	}
	undoing(undo.LastChange, "a\n1\n2\n3\nmine\n")
	w.Write("f", "a\n1\n2\n3\nmine\ntoo\n")
	undoing(undo.LastUndo, "A\n1\n2\n3\nmine\ntoo\n")
}

// TestUndoOfAnEditAndACommandRemovesFolders: the folders that an edit made go with its file, also
// if a command changed the file or put something beside it; those in use stay.
func TestUndoOfAnEditAndACommandRemovesFolders(t *testing.T) {
	for name, tt := range map[string]struct{ line, foreign, want string }{
		"changed":       {line: "echo more >> new/deep/f"},
		"a file beside": {line: "echo more >> new/deep/f; echo 1 > new/g"},
		"in use":        {line: "echo more >> new/deep/f", foreign: "new/mine", want: "/new /new/mine"},
		"only beside":   {line: "echo 1 > new/deep/g"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			before := w.state()
			w.Edit("new/deep/f", "1\n", workspace.Origin{Session: "s", Turn: "t", Tool: "write_file"})
			w.run(tt.line)
			after := w.state()
			if tt.foreign != "" {
				w.Write(tt.foreign, "mine\n")
			}
			w.undo(undo.LastTurn)
			var left []string
			for path := range w.state() {
				if before[path] == "" {
					left = append(left, path)
				}
			}
			slices.Sort(left)
			if got := strings.Join(left, " "); got != tt.want {
				t.Errorf("left %q, want %q", got, tt.want)
			}
			if tt.foreign != "" {
				return
			}
			w.undo(undo.LastUndo)
			if d := cmp.Diff(after, w.state()); d != "" {
				t.Error("redone:", d)
			}
		})
	}
}
