package cli

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/journal"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// edited returns a workspace in which file was changed from before to after; an empty
// before means that it was created.
func edited(t *testing.T, file, before, after string) *workspace.Root {
	t.Helper()
	dir := t.TempDir()
	if before != "" {
		scratch.Write(t, filepath.Join(dir, file), before)
	}
	root, err := app.OpenRoot(config.Config{Home: t.TempDir(), Encoding: "iso-8859-1"}, dir, func(note string) { t.Error(note) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	change, err := root.Propose(file, func(workspace.File) (string, error) { return after, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.Commit(t.Context(), workspace.AllOrNone, workspace.Origin{Turn: "t"}, change); err != nil {
		t.Fatal(err)
	}
	return root
}

// files returns a process whose standard streams are files.
func files(t *testing.T) (p Process, stdout func() string) {
	t.Helper()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	p = Process{Stdin: open("in"), Stdout: open("out"), Stderr: open("err")}
	return p, func() string {
		return scratch.Read(t, p.Stdout.Name())
	}
}

func TestUndo(t *testing.T) {
	root := edited(t, "a.txt", "one\ntwo\n", "one\n2\n")
	p, stdout := files(t)
	if err := (&undoCommand{yes: true}).in(t.Context(), p, root); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root.Dir(), "a.txt"))
	if err != nil || string(data) != "one\ntwo\n" {
		t.Errorf("%q, %v", data, err)
	}
	if out := stdout(); !strings.Contains(out, "-2\n+two\n") {
		t.Errorf("diff %q", out)
	}
	if err := (&undoCommand{yes: true}).in(t.Context(), p, root); err == nil || !strings.Contains(err.Error(), "nothing to undo") {
		t.Errorf("second undo: %v", err)
	}
}

func TestUndoOfAFileWithoutChanges(t *testing.T) {
	root := edited(t, "a.txt", "one\n", "1\n")
	p, _ := files(t)
	if err := (&undoCommand{yes: true, file: "b.txt"}).in(t.Context(), p, root); err == nil || !strings.Contains(err.Error(), "nothing to undo in b.txt") {
		t.Error(err)
	}
}

func TestUndoOfANewFile(t *testing.T) {
	root := edited(t, "new.txt", "", "hello\n")
	p, stdout := files(t)
	if err := (&undoCommand{yes: true, scope: undo.Scope{Range: undo.LastTurn}}).in(t.Context(), p, root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root.Dir(), "new.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if !strings.Contains(stdout(), "-hello\n") {
		t.Errorf("diff %q", stdout())
	}
}

func TestUndoNeedsAnAnswer(t *testing.T) {
	root := edited(t, "a.txt", "one\n", "1\n")
	p, stdout := files(t)
	err := (&undoCommand{}).in(t.Context(), p, root)
	var usage usageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "--yes") || stdout() == "" {
		t.Errorf("%v; shown: %q", err, stdout())
	}
	data, err := os.ReadFile(filepath.Join(root.Dir(), "a.txt"))
	if d := cmp.Diff("1\n", string(data)); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestUndoTellsOfOneThatWasKilled: agent undo may be the first command after a kill, and
// reports it then.
func TestUndoTellsOfOneThatWasKilled(t *testing.T) {
	dir := scratch.Dir(t, nil)
	home := t.TempDir()
	t.Setenv("AGENT_HOME", home)
	j := journal.Open(home, dir, journal.Recover{})
	for i, name := range []string{"a.txt", "b.txt"} {
		e := journal.Entry{Path: filepath.Join(dir, name), Name: name, Origin: journal.Origin{Turn: "t", Tool: "undo", Of: 2, Undoes: []string{name}}}
		e.Before = &workspace.Hash{byte(i)}
		if err := errors.Join(j.Begin(&e), j.End(&e, i == 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(home, "undo", "*", "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	if err := os.Rename(logs[0], strings.TrimSuffix(logs[0], "log")+"live"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		p, _ := files(t)
		_ = (&undoCommand{yes: true}).run(t.Context(), p, &flags{dir: dir}) // the changes to undo are elsewhere
		said, err := os.ReadFile(p.Stderr.Name())
		if err != nil || strings.Contains(string(said), "1 of 2 files are restored") != want {
			t.Errorf("start %d: %q, %v", i, said, err)
		}
	}
}

// TestAKilledStepThatStaysIsReported: its old content is not in the journal.
func TestAKilledStepThatStaysIsReported(t *testing.T) {
	old, written := workspace.Hash(sha256.Sum256([]byte("old\n"))), workspace.Hash(sha256.Sum256([]byte("written\n")))
	dir := scratch.Dir(t, map[string]string{"a.txt": "written\n", ".agent-B.tmp": "written\n"})
	home := t.TempDir()
	t.Setenv("AGENT_HOME", home)
	j := journal.Open(home, dir, journal.Recover{})
	for _, e := range []journal.Entry{
		{Name: "a.txt", Before: &old, After: &written, Made: journal.Made{Temp: ".agent-A.tmp"}},
		{Name: "b.txt", After: &written, Made: journal.Made{Temp: ".agent-B.tmp"}},
	} {
		e.Path, e.Origin = filepath.Join(dir, e.Name), journal.Origin{Tool: "review", Run: "r", Together: 2}
		if err := j.Begin(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	p, _ := files(t)
	_ = (&undoCommand{yes: true}).run(t.Context(), p, &flags{dir: dir}) // a.txt cannot be undone
	said, err := os.ReadFile(p.Stderr.Name())
	if err != nil || !strings.Contains(string(said), "was stopped while it changed 2 files. These changes could not be reverted: a.txt. /diff") {
		t.Errorf("%q, %v", said, err)
	}
}

// TestAKilledStepIsReported: the first start after a kill between two files of a review, or
// between the two places of a move, takes the first one back, and reports it once.
func TestAKilledStepIsReported(t *testing.T) {
	written := workspace.Hash(sha256.Sum256([]byte("written\n")))
	made := func(name, temp string) journal.Entry {
		return journal.Entry{Name: name, After: &written, Made: journal.Made{Temp: temp}}
	}
	for step, tt := range map[string]struct {
		files   map[string]string
		entries []journal.Entry
		left    []string
	}{
		"review": {map[string]string{"a.txt": "written\n", ".agent-B.tmp": "written\n"}, []journal.Entry{made("a.txt", ".agent-A.tmp"), made("b.txt", ".agent-B.tmp")}, nil},
		"move":   {map[string]string{"a.txt": "written\n", "b.txt": "written\n"}, []journal.Entry{made("a.txt", ".agent-A.tmp"), {Name: "b.txt", Before: &written}}, []string{"b.txt"}},
	} {
		t.Run(step, func(t *testing.T) {
			dir := scratch.Dir(t, tt.files)
			home := t.TempDir()
			t.Setenv("AGENT_HOME", home)
			j := journal.Open(home, dir, journal.Recover{})
			for _, e := range tt.entries {
				e.Path, e.Origin = filepath.Join(dir, e.Name), journal.Origin{Tool: step, Run: "r", Together: 2}
				if err := j.Begin(&e); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			for i, want := range []bool{true, false} {
				p, _ := files(t)
				_ = (&undoCommand{yes: true}).run(t.Context(), p, &flags{dir: dir}) // no change is left to undo
				said, err := os.ReadFile(p.Stderr.Name())
				if err != nil || strings.Contains(string(said), "was stopped while it changed 2 files. Its changes are reverted: a.txt.") != want {
					t.Errorf("start %d: %q, %v", i, said, err)
				}
				list, err := os.ReadDir(dir)
				var left []string
				for _, e := range list {
					left = append(left, e.Name())
				}
				if err != nil || !slices.Equal(left, tt.left) {
					t.Errorf("left over: %v, %v", left, err)
				}
			}
		})
	}
}

func TestUndoRefusesWhatWasChangedSince(t *testing.T) {
	root := edited(t, "a.txt", "one\n", "1\n")
	scratch.Write(t, filepath.Join(root.Dir(), "a.txt"), "mine\n")
	p, _ := files(t)
	if err := (&undoCommand{yes: true}).in(t.Context(), p, root); err == nil || !strings.Contains(err.Error(), "would be lost") {
		t.Error(err)
	}
}
