package repl

import (
	"context"
	"errors"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/repl/input"
)

// composedMsg is the text from the editor, or from the clipboard.
type composedMsg struct {
	put     func(*input.Editor)
	problem string
}

// Put puts it at the prompt, or returns the problem.
func (r composedMsg) Put(ed *input.Editor) (problem string) {
	if r.put != nil {
		r.put(ed)
	}
	return r.problem
}

// openEditor opens a text in the user's editor; result returns the saved text and cleans up.
type openEditor func(name, text string) (cmd *exec.Cmd, result func() (string, error), err error)

// compose opens the prompt in the user's editor. inTerminal runs a command in the terminal.
func compose(ed *input.Editor, open openEditor, inTerminal func(*exec.Cmd) tea.ExecCommand) tea.Cmd {
	cmd, result, err := open("prompt.md", ed.Source())
	if err != nil {
		return func() tea.Msg { return composedMsg{problem: err.Error()} }
	}
	return tea.Exec(inTerminal(cmd), func(err error) tea.Msg {
		defer crash.Guard()
		text, err2 := result()
		if err := errors.Join(err, err2); err != nil {
			return composedMsg{problem: "The editor failed, so the prompt is unchanged: " + err.Error()}
		}
		return composedMsg{put: func(ed *input.Editor) { ed.Replace(strings.TrimRight(text, "\n")) }}
	})
}

// pasteImage inserts at the cursor the placeholder that paste returns. begin runs a function
// in the background.
func pasteImage(begin func(func(context.Context)) context.CancelFunc, paste func(context.Context) (string, error)) tea.Cmd {
	out := make(chan tea.Msg, 1)
	begin(func(ctx context.Context) {
		mark, err := paste(ctx)
		if err != nil {
			out <- composedMsg{problem: "No image was attached: " + err.Error() + "."}
			return
		}
		out <- composedMsg{put: func(ed *input.Editor) { ed.Paste(mark) }}
	})
	return func() tea.Msg { return <-out }
}
