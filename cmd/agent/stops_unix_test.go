//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// Ctrl+Z restores the terminal for the shell, and fg takes it again.
func TestStopAndContinue(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.open()
	d.run("bash", "-c", `set -m; stty -a >before; agent; stty -a >stopped; echo "the shell"; read -r _; fg >/dev/null; stty -a >after`)
	d.WaitFor(`(?m)^❯`)
	d.Type("a draft")
	d.WaitFor(`a draft`)
	d.Press("ctrl+z")
	d.WaitFor(`the shell`)
	d.restored()
	d.Type("\r")
	d.WaitFor(`(?m)^❯ a draft`)
	d.Press("ctrl+u", "ctrl+d")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	d.restored()
	for _, when := range []string{"stopped", "after"} {
		if got, want := d.read(when), d.read("before"); got != want {
			t.Errorf("%s:\n%s\nbefore:\n%s", when, got, want)
		}
	}
}

// A stopped program gets no notice of a new size: it reads the size when it continues.
func TestResizedWhileStopped(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.open()
	d.run("bash", "-c", `set -m; agent; echo "the shell"; read -r _; fg >/dev/null`)
	d.WaitFor(`(?m)^❯`)
	d.Type("a draft of so many words that on a narrow terminal the row breaks lastly")
	d.WaitFor(`lastly`)
	d.Press("ctrl+z")
	d.WaitFor(`the shell`)
	d.Resize(50, 20)
	d.Type("\r")
	d.WaitFor(`(?m)^  .*lastly`) // on a row of its own
	d.Press("ctrl+c", "ctrl+c")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	d.restored()
}

// The program is stopped during an answer for longer than idle_timeout. When it
// continues, it reads the rest.
func TestStoppedTimeIsNotIdle(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, llmtest.Turn{Text: "one two three four five six", Chunk: 4, Pace: 300 * time.Millisecond}), nil)
	d.keep("config.yaml", "idle_timeout: 1s\n")
	d.sit()
	d.say("count")
	d.WaitFor(`(?m)^one`)
	d.SignalGroup(syscall.SIGSTOP)
	d.Stopped()
	<-time.After(3 * time.Second) // the server goes on, and ends
	d.SignalGroup(syscall.SIGCONT)
	d.WaitFor(`(?s)one two three four five six.*context 1`) // the end of the turn
	if strings.Contains(d.Screen(), "idle_timeout") {
		t.Error("the answer was given up")
	}
	d.leave()
}

// If nothing could continue it, Ctrl+Z does not stop the program.
func TestNoShellToStopFor(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t), nil)
	d.sit()
	d.Press("ctrl+z")
	d.Type("still here")
	d.WaitFor(`still here`)
	d.Press("ctrl+u")
	d.leave()
}
