package idelink

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// screen is a terminal with a fixed answer; it counts the commands.
type screen struct {
	run  client.TerminalRun
	err  error
	line string
	dir  string
	wait time.Duration
}

func (s *screen) Run(_ context.Context, cmd client.TerminalCommand) (client.TerminalRun, error) {
	s.line, s.dir, s.wait = cmd.Line, cmd.Dir, cmd.Timeout
	if cmd.Printed != nil {
		cmd.Printed(s.run.Output)
	}
	return s.run, s.err
}

func TestCommandsInTheEditorsTerminal(t *testing.T) {
	three := 3
	for _, tt := range []struct {
		name     string
		screen   screen
		code     int
		output   string
		note     string
		timedOut bool
	}{
		{name: "runs there", screen: screen{run: client.TerminalRun{Code: &three, Output: "there\n", Captured: true}}, code: 3, output: "there\n"},
		{name: "is ended there", screen: screen{run: client.TerminalRun{Output: "begun\n", Captured: true, TimedOut: true}}, code: -1, output: "begun\n", timedOut: true},
		{name: "no editor", screen: screen{err: editor.ErrNone}, output: "here\n"},
		{name: "an editor without a terminal", screen: screen{err: client.ErrUnsupported}, output: "here\n"},
		{name: "an editor that refuses", screen: screen{err: &client.ToolError{Message: "not trusted"}}, output: "here\n", note: "the editor refused it"},
		{name: "an editor that had no terminal", screen: screen{}, output: "here\n", note: "the editor refused it"},
		{name: "a link that is lost is no reason to run it twice", screen: screen{err: errors.New("gone")}, code: -1, note: "it is unknown"},
		{name: "nor is an editor that fails", screen: screen{err: &client.ToolError{Code: client.CodeInternal}}, code: -1, note: "it is unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			jobs := shell.NewJobs()
			t.Cleanup(func() {
				if err := jobs.Close(); err != nil {
					t.Error(err)
				}
			})
			opts := shell.Options{Line: "echo here", Dir: t.TempDir(), Timeout: time.Minute}
			got, err := visible{jobs, &tt.screen}.Run(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			if got.ExitCode != tt.code || strings.ReplaceAll(got.Output, "\r\n", "\n") != tt.output || got.TimedOut != tt.timedOut {
				t.Errorf("got %+v", got)
			}
			if notes := strings.Join(got.Notes, " "); !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
				t.Errorf("notes: %q", notes)
			}
			if tt.screen.line != opts.Line || tt.screen.dir != opts.Dir || tt.screen.wait != opts.Timeout {
				t.Errorf("the editor was asked to run %+v", tt.screen)
			}
		})
	}
}

func TestCancelledCommandInTheEditorsTerminal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := visible{nil, &screen{err: context.Canceled}}.Run(ctx, shell.Options{Line: "true"})
	if err != nil || !got.Cancelled {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestOutputAsItComes: the user sees the output before the command has ended, as if it
// ran here.
func TestOutputAsItComes(t *testing.T) {
	zero, seen := 0, ""
	s := &screen{run: client.TerminalRun{Code: &zero, Output: "there\n", Captured: true}}
	got, err := visible{nil, s}.Run(t.Context(), shell.Options{Line: "echo", Output: func(chunk string) { seen += chunk }})
	if err != nil || seen != "there\n" || got.Output != "there\n" {
		t.Errorf("seen %q, %+v, %v", seen, got, err)
	}
}
