package attachments

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/app/fileindex"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// The names of the editor come first while they match.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	scratch.Write(t, filepath.Join(dir, "selector.go"), "")
	root := scratch.Workspace(t, dir, workspace.Options{})
	index := fileindex.New(root)
	index.Walk(t.Context())
	linked := []string{"selection", "diagnostics"}
	n := Names{Files: index.Finder(), Editor: func() []string { return linked }, Resources: func(string) []string { return nil }}
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
