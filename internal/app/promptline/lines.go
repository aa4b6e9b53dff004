// Package promptline is what the user adds to a prompt beside its text: images,
// remarks on what they did meanwhile, and the command lines that they ran. It
// guarantees that each reaches the model once, and is marked as the user's.
package promptline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/session"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// maxTold is how many bytes of such commands go with a prompt; the oldest are left
// out.
const maxTold = 64 << 10

// Lines runs the command lines that the user types behind a !, and keeps what came
// of them for the next prompt. Its methods are called by one goroutine at a time.
type Lines struct {
	Jobs *shell.Jobs
	// Options is how a command runs now: where, and with which environment.
	Options func() shell.Options
	Emit    func(session.Event)
	// Ran is told of each line that ran, and what came of it, in a few words.
	Ran func(line, result string)

	told []string
}

// Run runs a line to its end, or until ctx ends. Nobody is asked: the user typed it.
// An error says that it did not run to its end.
func (l *Lines) Run(ctx context.Context, line string) error {
	call := llm.ToolCall{ID: "typed", Name: session.Typed}
	title, _, _ := strings.Cut(line, "\n")
	l.Emit(session.CallStarted{Call: call, Title: title})
	opt := l.Options()
	opt.Line = line
	opt.Output = func(text string) { l.Emit(session.CallOutput{ID: call.ID, Text: text}) }
	began := time.Now()
	out, err := l.Jobs.Run(ctx, opt)
	var res tools.Result
	switch {
	case err != nil:
		res = tools.Result{ForUser: err.Error(), Failed: true}
	case out.Cancelled:
		err = context.Cause(ctx)
		text, _ := tools.FormatCommand(out, 0)
		_, text, _ = strings.Cut(text, "\n")
		res = tools.Result{ForModel: "stopped by the user\n" + text, ForUser: "stopped", Failed: true}
	default:
		res.ForModel, res.ForUser = tools.FormatCommand(out, 0)
		res.Failed = out.ExitCode != 0
	}
	res.Lines, res.Log = out.Lines, out.Spill
	l.Emit(session.CallEnded{Call: call, Title: title, Result: res, Took: time.Since(began)})
	if res.ForModel != "" {
		l.told = append(l.told, fence("$ "+line+"\n"+res.ForModel))
		l.Ran(line, res.ForUser)
	}
	return err
}

// Take returns what the commands since the last prompt came to, for the model; empty
// if there were none.
func (l *Lines) Take() string {
	told := l.told
	l.told = nil
	size, from := 0, len(told)
	for from > 0 && (from == len(told) || size+len(told[from-1]) <= maxTold) {
		from--
		size += len(told[from])
	}
	if told = told[from:]; len(told) == 0 {
		return ""
	}
	left := ""
	if from > 0 {
		left = fmt.Sprintf(" (%d before them are left out)", from)
	}
	return "The user ran these commands at the prompt, without you" + left + ":\n" + strings.Join(told, "\n") + "\n\n"
}

// fence puts text into a block that nothing in it can end.
func fence(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "\n" + strings.TrimSuffix(text, "\n") + "\n" + mark
}
