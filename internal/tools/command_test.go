package tools

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// The shell of Windows reads a line by rules of its own, so that a person is asked about
// each command: no rule and no grant approves a forced question.
func TestCommandsOfWindowsAreForced(t *testing.T) {
	for system, want := range map[string]bool{"windows": true, "linux": false} {
		b := newBench(t, nil)
		b.deps.system = system
		b.ask.verdict = confirm.Verdict{}
		for _, line := range []string{`type "a\" & del ro.txt & rem "`, "go test ./...", "echo hi > out.txt"} {
			c := commander{Deps: b.deps}
			place := c.place(b.dir)
			judged := place.Judge(line)
			req := c.request(Call{}, shell.Options{Dir: b.dir}, executeCommandArgs{Command: line}, judged, commandNotes(judged, place))
			if noted := len(req.Notes) > 0 && strings.Contains(req.Notes[len(req.Notes)-1].Text, "cmd.exe"); req.Force != want || noted != want {
				t.Errorf("on %s, %s: forced %v, noted %v", system, line, req.Force, noted)
			}
		}
	}
}

func TestFormatCommand(t *testing.T) {
	for _, tt := range []struct {
		name        string
		out         shell.Result
		model, user string
	}{
		{"silent", shell.Result{}, "exit code: 0\n(no output)", "exit 0"},
		{"slow", shell.Result{ExitCode: 3, Output: "\x1b[31mno\x1b[0m\n", Took: 1500 * time.Millisecond}, "exit code: 3\nno\n", "exit 3, 1.5 s"},
		{
			"over time",
			shell.Result{ExitCode: 143, TimedOut: true, Output: "x"},
			"exit code: 143 (ended after the timeout of 1m0s; use background for long-running commands)\nx", "ended after 1m0s",
		},
		{
			"long, with notes",
			shell.Result{Spill: "/s", Omitted: 7, Notes: []string{"a note"}, Output: "x"},
			"exit code: 0\n7 bytes are left out below; read_file can read all of it: /s\na note\nx", "exit 0",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model, user := FormatCommand(tt.out, time.Minute)
			if d := cmp.Diff([]string{tt.model, tt.user}, []string{model, user}); d != "" {
				t.Error(d)
			}
		})
	}
}
