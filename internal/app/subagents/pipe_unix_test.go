//go:build unix

package subagents

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// A pipe among a project's definitions is left out. Opening it would wait for its other
// end, at every start and before the project is trusted.
func TestPipe(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{".agent/agents/a.md": "---\ndescription: d\n---\nx\n"})
	if err := syscall.Mkfifo(filepath.Join(dir, ".agent/agents/pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, notes := OfProject(dir, t.TempDir())
	if len(list) != 1 || list[0].Name != "a" || len(notes) != 1 || !strings.Contains(notes[0], "pipe.md is left out") {
		t.Errorf("%+v, %q", list, notes)
	}
}
