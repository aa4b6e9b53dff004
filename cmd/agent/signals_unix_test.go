//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

const interruptedScript = `
turns:
  - when: {prompt_contains: work}
    calls: [{tool: execute_command, args: {command: "echo $$ > pid.new && mv pid.new pid && exec sleep 300"}}]
  - when: {prompt_contains: go on}
    expect: [{any_contains: work}]
    text: I go on.
`

// A signal ends the turn, its command and the program, with status 130, and the session
// can be continued.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			scratch.Write(t, filepath.Join(dir, "script.yaml"), interruptedScript)
			cmd := agentIn(t, dir, "-p", "work", "--permission-mode", "bypass")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid := pidIn(t, filepath.Join(dir, "pid"))
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("ended with %v, want exit status 130", err)
			}
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the command (process %d) is still there: %v", pid, err)
			}
			out, err := agentIn(t, dir, "-c", "-p", "go on").CombinedOutput()
			if err != nil || string(out) != "I go on.\n" {
				t.Errorf("continued: %v, %q", err, out)
			}
		})
	}
}

// pidIn waits for the file and returns the process id in it.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for {
		if data, err := os.ReadFile(file); err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s was not written", file)
		}
	}
}
