// Package compose fills the prompt from elsewhere: from the user's own editor and from
// the clipboard. It guarantees that the prompt is as it was until there is something
// to put there, and that what goes wrong is said.
package compose

import (
	"context"
	"errors"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/input"
)

// Result is what came of it, as a message.
type Result struct {
	put     func(*input.Editor)
	problem string
}

// Put puts it at the prompt, or returns why there is nothing to put.
func (r Result) Put(ed *input.Editor) (problem string) {
	if r.put != nil {
		r.put(ed)
	}
	return r.problem
}

// Open opens a text in the user's own editor; result returns what was saved, and
// cleans up.
type Open func(name, text string) (cmd *exec.Cmd, result func() (string, error), err error)

// Edit opens the prompt in the user's own editor, to which lend gives the terminal.
func Edit(ed *input.Editor, open Open, lend func(*exec.Cmd) tea.ExecCommand) tea.Cmd {
	cmd, result, err := open("prompt.md", ed.Source())
	if err != nil {
		return func() tea.Msg { return Result{problem: err.Error()} }
	}
	return tea.Exec(lend(cmd), func(err error) tea.Msg {
		defer crash.Guard()
		text, err2 := result()
		if err := errors.Join(err, err2); err != nil {
			return Result{problem: "The editor ended with an error, so the prompt is as it was: " + err.Error()}
		}
		return Result{put: func(ed *input.Editor) { ed.Replace(strings.TrimRight(text, "\n")) }}
	})
}

// Paste puts the placeholder that paste returns at the cursor. begin starts what runs
// beside the prompt.
func Paste(begin func(func(context.Context)) context.CancelFunc, paste func(context.Context) (string, error)) tea.Cmd {
	out := make(chan tea.Msg, 1)
	begin(func(ctx context.Context) {
		mark, err := paste(ctx)
		if err != nil {
			out <- Result{problem: "No image was attached: " + err.Error() + "."}
			return
		}
		out <- Result{put: func(ed *input.Editor) { ed.Paste(mark) }}
	})
	return func() tea.Msg { return <-out }
}
