//go:build unix

package effects_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// world is a workspace in which commands run.
type world struct {
	*scratch.Tree
	tracker *effects.Tracker
	rng     *rand.Rand
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	dir, home := scratch.Dir(t, nil), t.TempDir()
	w := &world{rng: rand.New(rand.NewPCG(seed, 0))}
	w.Tree = scratch.Reopen(t, dir, home, workspace.Options{Committed: nil})
	w.tracker = effects.New(w.Root, effects.Options{Home: home})
	t.Cleanup(func() {
		if err := w.tracker.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// sh runs a script in the workspace, unwatched.
func (w *world) sh(script string) {
	w.T.Helper()
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = w.Dir()
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.T.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// run runs a script as a command whose effects are recorded.
func (w *world) run(script string) effects.Report {
	w.T.Helper()
	run, err := w.tracker.Start(w.T.Context(), effects.Command{Line: script, Origin: workspace.Origin{Session: "s", Turn: "t", Tool: "execute_command"}})
	if err != nil {
		w.T.Fatal(err)
	}
	w.sh(script)
	return run.End(w.T.Context())
}

// state describes every path: mode and content, or target.
func (w *world) state() map[string]string {
	w.T.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == ".git" || name == "ignored") {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			if content, err = os.Readlink(path); err != nil {
				return err
			}
		}
		all[path[len(w.Dir()):]] = fmt.Sprintf("%s %q", info.Mode(), content)
		return nil
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return all
}

// undo takes back the last command.
func (w *world) undo(what undo.Range) undo.Plan {
	w.T.Helper()
	plan, err := undo.Find(w.T.Context(), w.Root, undo.Scope{Range: what})
	if err == nil {
		err = plan.Do(w.T.Context())
	}
	if err != nil && !errors.Is(err, undo.ErrNothing) {
		w.T.Fatal(err)
	}
	return plan
}

var files = []string{"a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt", "e f.bin", "ü.txt", "bin/tool"}

// command returns a random command line. None fails.
func (w *world) command() string {
	f := func() string { return files[w.rng.IntN(len(files))] }
	q := func(name string) string { return "'" + name + "'" }
	n := strconv.Itoa(w.rng.IntN(1000))
	a, b := q(f()), q(f())
	commands := []string{
		"mkdir -p $(dirname " + a + ") 2>/dev/null; [ -d " + a + " ] || echo " + n + " > " + a + "; true",
		"[ -f " + a + " ] && echo " + n + " >> " + a + "; true",
		"[ -f " + a + " ] && truncate -s 1 " + a + "; true",
		"[ -f " + a + " ] && : > " + a + "; true",
		"rm -rf " + a,
		"rm -rf sub",
		"rm -rf ./*",
		"[ -e " + a + " ] && mkdir -p $(dirname " + b + ") && mv -f -T " + a + " " + b + " 2>/dev/null; true",
		"[ -d sub ] && mv -T sub moved" + n + "; true",
		"[ -e " + a + " ] && chmod 7" + strconv.Itoa(w.rng.IntN(8)) + "4 " + a + "; true",
		"[ -d sub ] && chmod 750 sub; true",
		"[ -d link ] || rm -f link; mkdir -p link; ln -sfn ../" + a + " link/to" + n,
		"ln -sfn nowhere dangling; ln -sfnT sub tofolder",
		"rm -rf sub; echo file > sub",
		"rm -rf 'a.txt'; mkdir -p 'a.txt/inner'; echo x > a.txt/inner/y",
		"rm -rf 'a.txt'; ln -s b.txt a.txt",
		"mv -T sub real 2>/dev/null && ln -s real sub; true",
		"mkdir -p empty/one empty/two; rmdir empty/one",
		"head -c 70000 /dev/urandom > random" + n + "; printf 'a\\0b' > nul",
		"[ -f " + a + " ] && touch " + a + " && cp -p " + a + " copy && rm copy; true",
		"git add -A && git commit -qm " + n + " && git checkout -q HEAD~1 2>/dev/null; git checkout -q -f master",
		"git checkout -q -f other; true",
		"git stash -q -u 2>/dev/null; true",
		"find . -path ./.git -prune -o -name '*.txt' -type f -exec sed -i 's/1/one/' {} +",
		"[ -f " + a + " ] && ln -fT " + a + " hard" + n + "; true",
		"mkdir -p out && for i in {1..40}; do echo $i > out/f$i; done",
	}
	return commands[w.rng.IntN(len(commands))]
}

// fill makes a project with a repository of two branches.
func (w *world) fill() {
	w.sh(`git init -q -b master . && mkdir -p sub/deep bin && echo 1 > a.txt && echo 2 > sub/c.txt && printf 'x\0y' > 'e f.bin' &&
		echo '#!/bin/sh' > bin/tool && chmod 755 bin/tool && ln -s a.txt link0 && mkdir keep && echo 'ignored/' > .gitignore && mkdir ignored && echo z > ignored/z &&
		git add -A && git commit -qm 1 && git checkout -q -b other && echo other > a.txt && git rm -q sub/c.txt && git commit -qam 2 && git checkout -q master`)
}

// TestUndoRestoresEverything: after the undo of a command, every path is as before it,
// and after the redo as the command left it.
func TestUndoRestoresEverything(t *testing.T) {
	seed := stress.Seed(t)
	rounds, changes := 50, 0
	if os.Getenv("AGENT_TEST_FULL") != "" {
		rounds = 1000
	}
	w := newWorld(t, seed)
	w.fill()
	for i := range rounds {
		before := w.state()
		line := w.command()
		report := w.run(line)
		after := w.state()
		if cmp.Equal(before, after) {
			if len(report.Files) > 0 {
				t.Fatalf("seed %d, %d %s: it changed nothing, and the report is %s", seed, i, line, report)
			}
			continue
		}
		changes++
		w.undo(undo.LastChange)
		if d := cmp.Diff(before, w.state()); d != "" {
			t.Fatalf("seed %d, %d %s: undone, (-before +now)\n%s", seed, i, line, d)
		}
		if w.rng.IntN(3) == 0 {
			continue
		}
		w.undo(undo.LastUndo)
		if d := cmp.Diff(after, w.state()); d != "" {
			t.Fatalf("seed %d, %d %s: redone, (-after +now)\n%s", seed, i, line, d)
		}
	}
	t.Logf("seed %d: %d of %d commands changed something", seed, changes, rounds)
}

// TestBuildIsUndone: a build with many outputs is one change.
func TestBuildIsUndone(t *testing.T) {
	w := newWorld(t, 1)
	w.fill()
	before := w.state()
	n := 500
	if os.Getenv("AGENT_TEST_FULL") != "" {
		n = 5000
	}
	report := w.run(fmt.Sprintf("mkdir -p out/{1..10}; for i in {1..%d}; do echo $i > out/$((i %% 10 + 1))/$i.o; done", n))
	if len(report.Files) != n {
		t.Fatalf("%d files", len(report.Files))
	}
	if s := report.String(); !strings.HasSuffix(s, fmt.Sprintf("and %d more", n-20)) {
		t.Error(s)
	}
	w.undo(undo.LastChange)
	if d := cmp.Diff(before, w.state()); d != "" {
		t.Fatal(d)
	}
}
