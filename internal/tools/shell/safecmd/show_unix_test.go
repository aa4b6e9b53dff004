//go:build unix

package safecmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/programs"
)

// TestShowOfAFile: the hash of a file is no commit, so git show does not print its content without a
// question.
func TestShowOfAFile(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("KEY=hidden\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), append(programs.Env, "GIT_CONFIG_GLOBAL=/dev/null")...)
		out, _ := cmd.CombinedOutput() // git show fails for a file
		return string(out)
	}
	run("git", "init", "-q")
	run("git", "add", ".env")
	run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first")
	blob := strings.TrimSpace(run("git", "rev-parse", "HEAD:.env"))
	if got := run("git", "show", "--stat", blob); !strings.Contains(got, "hidden") {
		t.Fatalf("git show of the file: %q", got)
	}
	p := Place{Dir: dir, Roots: []string{dir}, Path: os.Getenv("PATH")}
	for line, want := range map[string]string{"git show --stat " + blob: "", "git show --stat HEAD": ".env", "git show -s --format=%s": "first"} {
		script := p.Judge(line).Script()
		if got := run("sh", "-c", script); script == "" || strings.Contains(got, "hidden") || !strings.Contains(got, want) {
			t.Errorf("%s: %q prints %q", line, script, got)
		}
	}
}
