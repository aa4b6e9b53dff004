//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// searched checks at the end of a test that the key is in no file of the home, the project
// and the temporary folder, except those that the test names in d.keyed.
func (d *desk) searched() {
	d.t.Helper()
	for _, path := range leaks(d.t, filepath.Dir(d.home), d.dir, d.tmp) {
		if !slices.Contains(d.keyed, filepath.Base(path)) {
			d.t.Errorf("the key is in %s", path)
		}
	}
	if d.trace == "" {
		return
	}
	text, err := os.ReadFile(d.trace)
	if err != nil {
		d.t.Error(err)
		return
	}
	for _, line := range carriers(string(text)) {
		d.t.Errorf("the key is in the arguments or the environment of a child: %s", line)
	}
}

// spied returns cmd, under strace if AGENT_TEST_CANARY is set, which records each program
// that is started, with its arguments and environment, and is not in the way of signals.
func (d *desk) spied(cmd *exec.Cmd) *exec.Cmd {
	if os.Getenv("AGENT_TEST_CANARY") == "" || d.trace != "" || filepath.Base(cmd.Path) != "agent" {
		return cmd
	}
	d.trace = filepath.Join(d.t.TempDir(), "execs")
	args := []string{"-DD", "-f", "-qq", "-v", "-s", "65536", "-e", "trace=execve,execveat", "-e", "signal=none", "-o", d.trace, "--", cmd.Path}
	return exec.Command("strace", append(args, cmd.Args[1:]...)...)
}

var execution = regexp.MustCompile(`^\d+ +execve`)

// carriers returns the lines of a trace that start a program with the key, except the
// first, which starts ours.
func carriers(trace string) (found []string) {
	own := true
	for line := range strings.Lines(trace) {
		if !execution.MatchString(line) {
			continue
		}
		if !own && strings.Contains(line, canary) {
			found = append(found, line[:min(len(line), 300)])
		}
		own = false
	}
	return found
}

// The search finds a key in a file of each folder.
func TestCanaryIsFound(t *testing.T) {
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.keyed = []string{"planted"}
	for _, dir := range []string{d.home, filepath.Dir(d.home), d.dir, d.tmp} {
		scratch.Mkdir(t, dir)
		path := filepath.Join(dir, "planted")
		scratch.Write(t, path, "the key is "+canary+".")
		if got := leaks(t, filepath.Dir(d.home), d.dir, d.tmp); !slices.Equal(got, []string{path}) {
			t.Errorf("found %q, want %s", got, path)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
