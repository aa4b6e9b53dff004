package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/mishap"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
)

// removals are calls that move and remove files, with the names that are there after each.
var removals = []struct{ tool, args, after string }{
	{"move_file", `{path: a.txt, to: new/deep/x.txt}`, "b.txt c.txt gone.bin new/ new/deep/ new/deep/x.txt"},
	{"delete_file", `{path: gone.bin}`, "a.txt b.txt c.txt"},
	{"patch", `{diff: "*** Begin Patch\n*** Update File: a.txt\n*** Move to: new/a.txt\n@@\n-one\n+1\n*** Update File: b.txt\n*** Move to: far/b.txt\n` +
		`*** Delete File: gone.bin\n*** Update File: c.txt\n@@\n-three\n+3\n*** Add File: d.txt\n+four\n*** End Patch\n"}`, "c.txt d.txt far/ far/b.txt new/ new/a.txt"},
}

// TestKilledWhileFilesAreMoved kills the program before each of its system calls that change
// the disk while it moves and removes files. After the next start each file is at exactly one
// place, all files of a patch are as before or as after, no temporary file is left, and a
// finished change can be undone. If the start takes files back it tells the person.
func TestKilledWhileFilesAreMoved(t *testing.T) {
	t.Parallel()
	for _, r := range removals {
		t.Run(r.tool, func(t *testing.T) {
			t.Parallel()
			faults, step := stress.Faults{}, stress.Size(5, 1)
			for n := 1 + int(stress.Seed(t)%uint64(step)); ; n += step {
				if died := killedAt(t, n, r.tool, r.args, r.after, faults); !died {
					break
				}
				if t.Failed() {
					t.Fatalf("killed at call %d", n)
				}
			}
			faults.Check(t, "as before", "as after")
		})
	}
}

// killedAt kills the program at its nth call while it runs a tool.
func killedAt(t *testing.T, n int, tool, args, after string, faults stress.Faults) (died bool) {
	dir := t.TempDir()
	work, home := filepath.Join(dir, "work"), filepath.Join(dir, "home")
	scratch.Fill(t, work, map[string]string{"a.txt": "one\n", "b.txt": "two\n", "c.txt": "three\n", "gone.bin": "\x00\x01"})
	if err := os.Chmod(filepath.Join(work, "a.txt"), 0o751); err != nil {
		t.Fatal(err)
	}
	before := held(t, work)
	run := func(turns string, args ...string) mishap.Result {
		t.Helper()
		scratch.Write(t, filepath.Join(dir, "script.yaml"), "turns:\n"+turns)
		cmd := agentIn(t, dir, args...)
		cmd.Dir = work
		m := mishap.Mishap{Roots: []string{work, home}, Kind: mishap.Killed}
		if slices.Contains(args, "bypass") {
			m.N = n
		}
		return m.To(t, cmd)
	}
	end := run(fmt.Sprintf("  - calls: [{tool: %s, args: %s}]\n  - text: Done.\n", tool, args), "-p", "work", "--permission-mode", "bypass")
	between := held(t, work)
	next := run("  - text: Hello.\n", "-p", "hi")
	now := held(t, work)
	state := "as before"
	if names(now) == after {
		state = "as after"
	} else if !cmp.Equal(now, before) {
		t.Errorf("neither as before nor as after: %q", now)
	}
	if next.Died || !strings.Contains(next.Said, "Hello.") {
		t.Errorf("the next start: %+v", next)
	}
	if strings.Contains(end.Said, "Done.") && state != "as after" {
		t.Errorf("it said that all is done, and the files are %s", state)
	}
	if told := strings.Contains(next.Warned, "are reverted"); told == cmp.Equal(whole(between), whole(now)) {
		t.Errorf("of %q to %q is told %q", between, now, next.Warned)
	}
	if verified := run("", "audit", "verify"); verified.Warned != "" {
		t.Errorf("the audit log: %+v", verified)
	}
	back := run("", "undo", "--yes")
	if got := held(t, work); !cmp.Equal(got, before) {
		t.Errorf("after the undo: %q; %+v", got, back)
	}
	if nothing := strings.Contains(back.Warned, "nothing to undo"); nothing == (state == "as after") {
		t.Errorf("the files were %s, and the undo said %+v", state, back)
	}
	if end.Died {
		faults[state]++
		faults[end.Call]++
	}
	return end.Died
}

// held returns the content of each file below dir with its mode; folders end with a slash.
func held(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil || path == dir:
			return err
		case e.IsDir():
			got[name+"/"] = ""
			return nil
		}
		info, err := e.Info()
		if err == nil {
			got[name] = info.Mode().String() + " " + scratch.Read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// whole returns the entries that are files of the person.
func whole(all map[string]string) map[string]string {
	files := map[string]string{}
	for name, text := range all {
		if !strings.HasSuffix(name, "/") && !strings.HasPrefix(filepath.Base(name), ".agent-") {
			files[name] = text
		}
	}
	return files
}

func names(all map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(all)), " ")
}
