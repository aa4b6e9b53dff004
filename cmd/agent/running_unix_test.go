//go:build unix

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestWhatRunsIsSeen: a command in the background is counted in the status line, listed with its
// last lines and ended there; an exit is asked about.
func TestWhatRunsIsSeen(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		callOf("execute_command", `{"background":true,"command":"echo serving on port 1; exec sleep 1000"}`),
		llmtest.Turn{Text: "It is started."},
		callOf("execute_command", `{"background":true,"command":"exec sleep 2000"}`),
		llmtest.Turn{Text: "Another one."},
	), nil)
	d.sit()
	for _, answer := range []string{"It is started", "Another one"} {
		d.say("start it")
		d.asked("sleep")
		d.Press("y")
		d.WaitFor(answer)
		d.idle()
	}
	d.WaitFor(`2 jobs`)
	d.say("/tasks")
	d.WaitFor(`(?s)job-1  echo serving.*job-2  exec sleep 2000.*serving on port 1`)
	d.Press("enter")
	d.WaitFor(`End job-1`)
	d.Press("enter")
	d.WaitFor(`Ended job-1`)
	d.WaitFor(`· 1 job ·`)
	d.say("/tasks job-2")
	d.WaitFor(`\(no output yet\)`)
	d.say("/quit")
	d.WaitFor(`1 job still running: exec sleep 2000`)
	d.Press("ctrl+d")
	d.WaitFor(`Ctrl\+D again ends 1 job and exits: exec sleep 2000`)
	d.Type("x")
	d.gone("Ctrl+D again")
	d.Press("backspace", "ctrl+c")
	d.WaitFor(`again to quit and end 1 job`)
	d.Press("ctrl+d")
	d.WaitFor(`Ctrl\+D again`)
	d.leave()
}

// TestCommandToBackground: a running command shows its time and limit, and a key moves it to the
// background, with its output so far and its changes. The model is told and goes on.
func TestCommandToBackground(t *testing.T) {
	t.Parallel()
	const line = "echo before; until [ -e go ]; do sleep 0.05; done; echo done >made"
	d := newDesk(t, llmtest.NewServer(t,
		callOf("execute_command", `{"command":"`+line+`","timeout":300}`),
		llmtest.Turn{Text: "Then I go on."}, llmtest.Turn{Text: "It ended."},
	), nil)
	d.sit()
	d.say("run it")
	d.asked("until")
	d.Press("y")
	d.WaitFor(`[0-9]s of 5m 00s · Ctrl\+B to background`)
	d.WaitFor(`(?m)^  before$`)
	d.Press("ctrl+b")
	d.WaitFor(`in the background \(job-1\)`)
	d.WaitFor(`Then I go on`)
	d.idle()
	d.WaitFor(`· 1 job ·`)
	if told := string(d.request(1)); !strings.Contains(told, "The user moved the command to the background, where it continues as job-1. Its output goes to ") {
		t.Errorf("the model is told %s", told)
	}
	d.write("go", "")
	d.gone("1 job")
	d.say("/undo")
	d.asked(`made`)
	d.Press("n")
	d.say("!echo one; until [ -e further ]; do sleep 0.05; done")
	d.WaitFor(`Ctrl\+B to background`)
	d.Press("ctrl+b")
	d.WaitFor(`in the background as job-2`)
	d.idle()
	d.write("further", "")
	d.gone("1 job")
	d.say("and now?")
	d.WaitFor(`It ended`)
	if told := string(d.request(2)); !strings.Contains(told, "moved to the background by the user as job-2") {
		t.Errorf("the model is told %s", told)
	}
	d.leave()
}

// TestSubAgentsAreSeen: each sub-agent that works has a line with its time, tokens and newest call,
// and /tasks shows its steps.
func TestSubAgentsAreSeen(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	d := delegates(t, delegating(t, gate))
	d.sit()
	d.say("delegate")
	d.request(parts)
	var missing []string
	for i := range parts {
		missing = append(missing, `◦ reviewer: part `+string(rune('0'+i))+` · [0-9]+s`)
	}
	d.WaitUntil("a line for each", func(m *vt.Terminal) bool {
		for _, p := range missing {
			if !regexp.MustCompile(p).MatchString(m.String()) {
				return false
			}
		}
		return true
	})
	close(gate)
	first := d.question("")
	d.Press("y")
	d.question(first)
	d.Press("p")
	d.say("/tasks")
	d.WaitFor(`[1-8]  reviewer: part [0-9].* tokens`)
	d.WaitFor(`● Edit f[0-9]\.txt|Edit f[0-9]\.txt …`)
	d.Press("esc", "ctrl+c", "ctrl+c")
	d.Wait()
}

// TestEndedJobIsSeen: a server that could not start is not merely gone from the status line.
func TestEndedJobIsSeen(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		callOf("execute_command", `{"background":true,"command":"echo the port is taken; until [ -e go ]; do sleep 0.05; done; exit 3"}`),
		llmtest.Turn{Text: "It is started."},
	), nil)
	d.sit()
	d.say("start it")
	d.asked("the port")
	d.Press("y")
	d.WaitFor("It is started")
	d.idle()
	d.WaitFor(`· 1 job ·`)
	d.write("go", "")
	d.gone("1 job")
	d.say("/tasks")
	d.WaitFor(`(?s)Nothing is running.*job-1 has ended \(exit 3\): echo the port.*\n +the port is taken`)
	d.leave()
}
