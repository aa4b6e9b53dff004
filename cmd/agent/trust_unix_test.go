//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/dev/scratch"
)

// begin starts the program on a new terminal of a size, without waiting.
func (d *desk) begin(width, height int, args ...string) {
	d.t.Helper()
	d.Terminal = ptytest.New(d.t, vt.Options{Width: width, Height: height})
	cmd := exec.Command("agent", args...)
	cmd.Dir, cmd.Env = d.dir, d.env
	d.Start(cmd)
}

func TestAProjectIsAskedAboutOnce(t *testing.T) {
	d := newDesk(t, answers(t, "Looked."), nil)
	scratch.Mkdir(t, d.path(".agent/commands"))
	d.write(".agent/config.yaml", "encoding: big5\neditor: evil\n")
	d.write(".agent/commands/look.md", "Look at it.")

	// Esc leaves and saves nothing.
	d.begin(40, 24)
	d.WaitFor(`Esc leaves`)
	d.Press("esc")
	if code := d.Wait(); code != 1 {
		t.Errorf("exit status %d", code)
	}
	d.WaitFor(`you will be\s+asked again`)
	d.restored()
	if _, err := os.Stat(filepath.Join(d.home, "trust.json")); err == nil {
		t.Error("an answer was kept")
	}

	d.begin(100, 30)
	d.WaitFor(`(?s)Trust the files.*encoding: big5.*line 2: a project cannot set editor.*look\.md`)
	d.Press("2")
	d.WaitFor(`(?m)^❯`)
	d.say("/look")
	d.WaitFor(`Looked\.`)
	d.idle()
	d.leave()

	d.sit() // does not ask again
	d.leave()

	d.write(".agent/commands/look.md", "Look away.")
	d.begin(100, 30)
	d.WaitFor(`have changed since you trusted them`)
	d.Press("1")
	d.WaitFor(`(?m)^❯`)
	d.say("/look")
	d.WaitFor(`There is no /look`)
	d.leave()
	d.sit() // a no is saved too
	d.leave()
}
