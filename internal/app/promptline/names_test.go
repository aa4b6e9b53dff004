package promptline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/app/fileindex"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// What the editor has comes first, while it is what is being typed.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "selector.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}()
	index := fileindex.New(root)
	index.Walk(t.Context())
	linked := []string{"selection", "diagnostics"}
	n := Names{Files: index.Finder(), Editor: func() []string { return linked }}
	for query, want := range map[string][]string{
		"":       {"selection", "diagnostics", "selector.go"},
		"sele":   {"selection", "selector.go"},
		"diag":   {"diagnostics"},
		"slgo":   {"selector.go"},
		"selec/": nil,
	} {
		if d := cmp.Diff(want, n.Find(query)); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
	linked = nil
	if d := cmp.Diff([]string{"selector.go"}, n.Find("se")); d != "" {
		t.Errorf("without an editor: %s", d)
	}
}
