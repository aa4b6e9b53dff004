//go:build unix

package modelcontext

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestOwnInstructionsAsALink: programs that manage the files of a home directory keep them in a
// folder of their own.
func TestOwnInstructionsAsALink(t *testing.T) {
	kept := scratch.Dir(t, map[string]string{"agent/AGENTS.md": "Be terse.\n", "agent/bin": "bin\x00ary"})
	for name, c := range map[string]struct{ to, problem string }{
		"absolute": {filepath.Join(kept, "agent/AGENTS.md"), ""},
		"binary":   {filepath.Join(kept, "agent/bin"), "not a text"},
		"missing":  {filepath.Join(kept, "agent/none"), "link to a missing file"},
	} {
		home := t.TempDir()
		if err := os.Symlink(c.to, filepath.Join(home, "AGENTS.md")); err != nil {
			t.Fatal(err)
		}
		b := New(Options{Dir: t.TempDir(), Home: home})
		got, list := b.System(t.Context()), b.Instructions()
		if len(list) != 1 || !strings.Contains(list[0].Problem, c.problem) || strings.Contains(got, "Be terse.") != (c.problem == "") {
			t.Errorf("%s: %+v, in the prompt: %v", name, list, strings.Contains(got, "Be terse."))
		}
	}
}

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
