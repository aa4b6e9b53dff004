//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// TestDemoOnATerminal plays the demo as its user does: yes to the edit, yes to
// the tests, and then /undo.
func TestDemoOnATerminal(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	d := &desk{t: t, Terminal: ptytest.New(t, vt.Options{Width: 100, Height: 40})}
	cmd := exec.Command("agent", "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "AGENT_HOME="+filepath.Join(tmp, "mine"), "TERM=xterm-256color")
	d.Start(cmd)

	d.asked(`edit median.go \+5 −1`)
	median := onlyMatch(t, filepath.Join(tmp, "agent-demo-*", "median", "median.go"))
	before := scratch.Read(t, median)
	d.Press("y")
	d.asked(`\$ go test \./\.\.\.`)
	if after := scratch.Read(t, median); !strings.Contains(after, "return sorted[middle]\n") {
		t.Errorf("after yes the file holds\n%s", after)
	}
	d.Press("y")
	d.WaitFor(`The tests pass`)
	d.idle()
	if strings.Contains(d.Screen(), "trust") {
		t.Errorf("the demo does not trust its own project:\n%s", d.Screen())
	}
	d.say("/undo")
	d.asked(`edit median.go \+1 −5`)
	d.Press("y")
	d.WaitFor(`undone: median.go`)
	if got := scratch.Read(t, median); got != before {
		t.Errorf("after /undo the file holds\n%s", got)
	}
	d.leave()
	if strings.Contains(d.Screen(), "agent -c") {
		t.Errorf("the demo cannot be resumed:\n%s", d.Screen())
	}
	if _, err := os.Stat(filepath.Join(tmp, "mine")); !os.IsNotExist(err) {
		t.Errorf("the user's own home was touched: %v", err)
	}
}

func onlyMatch(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}
