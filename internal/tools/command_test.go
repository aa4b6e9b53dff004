package tools

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

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
