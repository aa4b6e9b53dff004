package undo_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// tree is a workspace in a folder of its own.
type tree struct {
	*workspace.Root
	t    testing.TB
	home string
}

// open opens a new, empty workspace.
func open(t testing.TB) *tree {
	t.Helper()
	return reopen(t, t.TempDir(), t.TempDir())
}

func reopen(t testing.TB, dir, home string) *tree {
	t.Helper()
	root, err := workspace.Open(dir, workspace.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	w := &tree{root, t, home}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// path returns the path of the file with a name.
func (w *tree) path(name string) string { return filepath.Join(w.Dir(), filepath.FromSlash(name)) }

// write writes like another program, without asking.
func (w *tree) write(name, content string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	must(w.t, os.WriteFile(w.path(name), []byte(content), 0o644))
}

// content returns the content of a file, "<none>" if it is missing.
func (w *tree) content(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "<none>"
	}
	must(w.t, err)
	return string(data)
}

// propose proposes a new text for a file.
func (w *tree) propose(name, text string) workspace.Change {
	w.t.Helper()
	c, err := w.Propose(name, func(workspace.File) (string, error) { return text, nil })
	must(w.t, err)
	return c
}

// edit proposes and commits a new text.
func (w *tree) edit(name, text string, by workspace.Origin) workspace.File {
	w.t.Helper()
	f, err := w.Commit(w.t.Context(), w.propose(name, text), by)
	must(w.t, err)
	return f
}

// undo undoes the selected changes and returns the names of the files.
func (w *tree) undo(what undo.Range) []string {
	w.t.Helper()
	plan, err := undo.Find(w.t.Context(), w.Root, undo.Scope{Range: what})
	must(w.t, err)
	must(w.t, plan.Do(w.t.Context()))
	return names(plan)
}

func turn(n int) workspace.Origin {
	return workspace.Origin{Session: "s", Turn: fmt.Sprint("turn ", n), Tool: "edit_file"}
}

func names(p undo.Plan) []string {
	var out []string
	for _, c := range p.Changes {
		out = append(out, c.Name)
	}
	return out
}

// files lists the workspace; folders end in a slash.
func (w *tree) files() []string {
	w.t.Helper()
	var out []string
	must(w.t, filepath.WalkDir(w.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == w.Dir() {
			return err
		}
		rel, err := filepath.Rel(w.Dir(), path)
		if d.IsDir() {
			rel += "/"
		}
		out = append(out, filepath.ToSlash(rel))
		return err
	}))
	slices.Sort(out)
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// state returns the content and mode of each file.
func (w *tree) state() map[string]string {
	out := map[string]string{}
	for _, name := range w.files() {
		info, err := os.Lstat(w.path(name))
		must(w.t, err)
		out[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			out[name] += " " + w.content(name)
		}
	}
	return out
}

// seed returns AGENT_TEST_SEED if set, else a random number.
func seed(t *testing.T) int {
	t.Helper()
	s := os.Getenv("AGENT_TEST_SEED")
	if s == "" {
		return rand.IntN(1 << 30)
	}
	n, err := strconv.Atoi(s)
	must(t, err)
	return n
}
