package attachments

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

// maxOutput is how many bytes of the user's commands go with a prompt; the oldest are
// left out.
const maxOutput = 64 << 10

// Lines runs the command lines that the user types behind a !, and keeps their results
// for the next prompt. Only one of its methods may run at a time.
type Lines struct {
	Jobs *shell.Jobs
	// Options returns the folder and the environment of the next command.
	Options func() shell.Options
	Emit    func(session.Event)
	// Ran is called for each line that ran, with a short result.
	Ran func(line, result string)
	// Watch is called before a line runs. It returns ended, which adds the changes since then to
	// the result, and moved, called when the line has moved to the background.
	Watch func(ctx context.Context, line string) (ended func(*tools.Result), moved func())

	results []string // since the last prompt
}

// Run runs a line to its end, or until ctx ends. It does not ask: the user typed the
// line. It returns an error if the line did not run to its end.
func (l *Lines) Run(ctx context.Context, line string) error {
	call := llm.ToolCall{ID: "typed", Name: session.Typed}
	title, _, _ := strings.Cut(line, "\n")
	l.Emit(session.CallStarted{Call: call, Title: title})
	opt := l.Options()
	opt.Line = line
	opt.Output = func(text string) { l.Emit(session.CallOutput{ID: call.ID, Text: text}) }
	began := time.Now()
	ended, moved := l.Watch(ctx, line)
	var job shell.Job
	opt.Moved = func(j shell.Job) { job = j; moved() }
	opt.Ended = func() { ended(&tools.Result{}) } // the journal has them
	out, err := l.Jobs.Run(ctx, opt)
	var res tools.Result
	switch {
	case err != nil:
		res = tools.Result{ForUser: err.Error(), Failed: true}
	case out.Moved:
		res.ForModel = fmt.Sprintf("moved to the background by the user as %s; its output goes to %s", job.ID, job.Log)
		res.ForUser = "in the background as " + job.ID
	case out.Cancelled:
		err = context.Cause(ctx)
		text, _ := tools.FormatCommand(out, 0)
		_, text, _ = strings.Cut(text, "\n")
		res = tools.Result{ForModel: "stopped by the user\n" + text, ForUser: "stopped", Failed: true}
	default:
		res.ForModel, res.ForUser = tools.FormatCommand(out, 0)
		res.Failed = out.ExitCode != 0
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "cd "); ok && !res.Failed && !strings.ContainsAny(dir, ";&|\n") {
			res.ForUser += "; the next line starts in the session's folder again"
		}
	}
	if !out.Moved {
		ended(&res)
	}
	res.Lines, res.Log = out.Lines, out.Spill
	l.Emit(session.CallEnded{Call: call, Title: title, Result: res, Took: time.Since(began)})
	if res.ForModel != "" {
		l.results = append(l.results, fence("$ "+line+"\n"+res.ForModel))
		l.Ran(line, res.ForUser)
	}
	return err
}

// Take returns the results of the commands since the last prompt, for the model, and
// forgets them. It is empty if no command ran.
func (l *Lines) Take() string {
	results := l.results
	l.results = nil
	size, from := 0, len(results)
	for from > 0 && (from == len(results) || size+len(results[from-1]) <= maxOutput) {
		from--
		size += len(results[from])
	}
	if results = results[from:]; len(results) == 0 {
		return ""
	}
	left := ""
	if from > 0 {
		left = fmt.Sprintf(" (%d before them are left out)", from)
	}
	return "The user ran these commands at the prompt, without you" + left + ":\n" + strings.Join(results, "\n") + "\n\n"
}

// fence encloses text in a code fence that nothing in it can close.
func fence(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "\n" + strings.TrimSuffix(text, "\n") + "\n" + mark
}
