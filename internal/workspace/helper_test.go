package workspace_test

import (
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// tree is a scratch workspace whose changes can be undone.
type tree struct{ *scratch.Tree }

// open opens a new, empty workspace.
func open(t testing.TB) *tree {
	t.Helper()
	return &tree{scratch.NewTree(t)}
}

func reopen(t testing.TB, dir, home string, opt workspace.Options) *tree {
	t.Helper()
	return &tree{scratch.Reopen(t, dir, home, opt)}
}

// undo undoes the selected changes and returns the names of the files.
func (w *tree) undo(what undo.Range) []string {
	w.T.Helper()
	plan, err := undo.Find(w.T.Context(), w.Root, undo.Scope{Range: what})
	must(w.T, err)
	must(w.T, plan.Do(w.T.Context()))
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func symlink(t testing.TB, target, path string) {
	t.Helper()
	scratch.Symlink(t, target, path)
}

func isLink(t testing.TB, path string) bool {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return info.Mode()&fs.ModeSymlink != 0
}
