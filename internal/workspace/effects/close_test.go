package effects_test

import (
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
)

// The end of a session leaves no copy of a file, on any system.
func TestCloseLeavesNoCopies(t *testing.T) {
	home := scratch.Dir(t, nil)
	root := scratch.Workspace(t, scratch.Dir(t, map[string]string{"f": "before"}), workspace.Options{Home: home})
	tracker := effects.New(root, effects.Options{Home: home})
	run, err := tracker.Start(t.Context(), effects.Command{Line: "a command"})
	if err != nil {
		t.Fatal(err)
	}
	scratch.Write(t, filepath.Join(root.Dir(), "f"), "the text after it")
	if report := run.End(t.Context()); report.Err != nil || len(report.Files) != 1 {
		t.Errorf("%+v", report)
	}
	if err := tracker.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(home, "undo", "kept-*")); len(left) > 0 || err != nil {
		t.Error(left, err)
	}
}
