//go:build unix

package systemprompt

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

func TestInstructionsThatCannotBeRead(t *testing.T) {
	dir := scratch.Dir(t, map[string]string{".git/HEAD": "", "a/x": "", "a/b/AGENTS.md": "bin\x00ary", "a/b/c/AGENTS.md": strings.Repeat("x", 11<<20)})
	secret := filepath.Join(scratch.Dir(t, map[string]string{"key": "SECRET"}), "key")
	if err := os.Symlink(secret, filepath.Join(dir, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "a/AGENTS.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := build(filepath.Join(dir, "a/b/c"))
	if got := b.System(t.Context()); strings.Contains(got, "SECRET") || strings.Contains(got, "instructions, the") {
		t.Errorf("the prompt is\n%s", got)
	}
	list := b.Instructions()
	if len(list) != 4 {
		t.Fatalf("instructions %+v", list)
	}
	for i, want := range []string{"link out of the project", "regular", "not a text", "too large"} {
		if !strings.Contains(list[i].Problem, want) {
			t.Errorf("%s: problem %q, want %q", list[i].Name, list[i].Problem, want)
		}
	}
}
