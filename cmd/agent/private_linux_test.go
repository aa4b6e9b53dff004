package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

const spyScript = `
turns:
  - when: {prompt_contains: spy}
    calls: [{tool: execute_command, args: {command: "cat /proc/$PPID/comm /proc/$PPID/environ /proc/$PPID/maps >seen 2>&1; ls /proc/$PPID/fd >>seen 2>&1; cat /proc/$$/environ >own; true"}}]
  - text: Nothing to see.
`

// A command is a child of the program, whose environment holds the key. Root may read
// everything, so the program runs as another user here.
func TestCommandsCannotReadOurEnvironment(t *testing.T) {
	t.Parallel()
	dir := scratch.Public(t)
	if err := os.WriteFile(filepath.Join(dir, "script.yaml"), []byte(spyScript), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := agentIn(t, dir, "-p", "spy", "--permission-mode", "bypass")
	cmd.Path = copyOf(t, cmd.Path, dir)
	cmd.Env = append(cmd.Env, "OPENAI_API_KEY="+canary)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "Nothing to see.\n" {
		t.Fatalf("%v: %s", err, out)
	}
	seen, own := scratch.Read(t, filepath.Join(dir, "seen")), scratch.Read(t, filepath.Join(dir, "own"))
	if !strings.HasPrefix(seen, "agent\n") || !strings.Contains(own, "AGENT_HOME=") {
		t.Fatalf("the command did not look where it should: %q, %q", seen, own)
	}
	if strings.Contains(seen+own, canary) {
		t.Error("the command has read the key")
	}
	if n := strings.Count(seen, "Permission denied"); n != 3 {
		t.Errorf("%d of 3 looks were refused", n)
	}
}

// copyOf copies the program from its private folder into dir.
func copyOf(t *testing.T, program, dir string) string {
	t.Helper()
	if !filepath.IsAbs(program) {
		found, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		program = found
	}
	if strings.HasPrefix(scratch.Read(t, program), "#!") {
		t.Fatalf("%s is a script", program)
	}
	return scratch.Copy(t, program, filepath.Join(dir, "agent"))
}
