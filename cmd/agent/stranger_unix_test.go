//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestStrangerProcess is the other user's editor.
func TestStrangerProcess(t *testing.T) { idetest.ServeAsStranger(t) }

// leftover writes the lock file of a crashed editor, with a stranger on its port who
// knows its content.
func (d *desk) leftover(pid int) *idetest.Stranger {
	d.t.Helper()
	e := d.starts(idetest.Ours())
	if pid != 0 {
		e.PID = pid
	}
	e.WriteLock(filepath.Join(d.home, "ide"), d.folder())
	e.Stop()
	return idetest.StartStranger(d.t, e.Dialect, e.Port(), e.Token())
}

// TestStrangerOnAnEditorsPort: another user took the port of an editor that is gone. He
// gets nothing, neither from a session nor from -p --ide, and his answer does not
// count.
func TestStrangerOnAnEditorsPort(t *testing.T) {
	t.Parallel()
	for name, pid := range map[string]int{"dead process": 1 << 30, "number in use again": 0} {
		t.Run(name, func(t *testing.T) {
			d := politeDesk(t, llmtest.Turn{Text: "All done."})
			s := d.leftover(pid)
			cmd := d.program("-p", "be polite", "--ide")
			out, _ := cmd.CombinedOutput() // any status but 0 is an error
			if got := cmd.ProcessState.ExitCode(); got != 3 || !strings.Contains(string(out), "another user's program listens on port") {
				t.Errorf("status %d: %s", got, out)
			}
			if d.read("main.go") != program {
				t.Errorf("main.go: %q", d.read("main.go"))
			}
			if got := s.Got(); len(got) != 0 {
				t.Errorf("the stranger got %q", got)
			}
		})
	}
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	s := d.leftover(0)
	d.sit()
	d.say("/ide")
	d.WaitFor(`user's program listens on port`)
	d.say("be polite")
	d.asked(`good day`)
	if d.read("main.go") != program {
		t.Error("written without an answer")
	}
	d.Press("y")
	d.idle()
	if !strings.Contains(d.read("main.go"), "good day") {
		t.Errorf("main.go: %q", d.read("main.go"))
	}
	d.leave()
	if got := s.Got(); len(got) != 0 {
		t.Errorf("the stranger got %q", got)
	}
}

// TestOtherVersionsOfTheExtension: an extension of another version is not linked and
// gets nothing, and one message names the command to run, whichever side is newer.
func TestOtherVersionsOfTheExtension(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(map[string]any){
		"its extension speaks version 0 of the protocol, this agent version 1: run agent ide install, then reload its window": func(lock map[string]any) { delete(lock, "v") },
		"its extension speaks version 2 of the protocol, this agent version 1: run agent ide install, then reload its window": func(lock map[string]any) { lock["v"] = 2 },
	} {
		d := newDesk(t, llmtest.NewServer(t), nil)
		e := d.starts(idetest.Ours())
		lock := e.Lock(d.folder())
		change(lock)
		data, err := json.Marshal(lock)
		if err == nil {
			err = os.MkdirAll(filepath.Join(d.home, "ide"), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(d.home, "ide", strconv.Itoa(e.Port())+".lock"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd := d.program("ide", "status")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v\n%s", err, out)
		}
		d.sit()
		d.say("/ide")
		// Before the first attempt has ended, only the list has the reason.
		d.WaitFor(`(?s)(Visual Studio Code has this folder open, but: |Connecting ….*Visual Studio Code.*· )its\s+extension`)
		d.leave()
		if a, refused := e.Handshakes(); a+refused != 0 {
			t.Errorf("%d handshakes", a+refused)
		}
	}
}
