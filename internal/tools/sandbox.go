package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/sandbox"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// Sandbox describes how commands are confined. The zero value confines them to nothing.
type Sandbox struct {
	Policy *sandbox.Policy // nil without a sandbox
	// Missing explains why this system cannot confine commands although the user wants
	// that.
	Missing string
	// Gap names something that the sandbox does not protect here.
	Gap      string
	Required bool // no command may run without a sandbox
}

// sandbox returns how the next command is confined.
func (d Deps) sandbox(ctx context.Context) Sandbox {
	if d.Sandbox == nil {
		return Sandbox{}
	}
	return d.Sandbox(ctx)
}

// refused returns the result of a command that may not run, nil if it may.
func (s Sandbox) refused() *Result {
	if s.Policy != nil || !s.Required {
		return nil
	}
	res := toolcall.Failed("execute_command was not run: the user requires a sandbox (sandbox: required), and there is none here: %s. Tell the user.", s.Missing)
	return &res
}

// notes returns the notes for the person who decides about a command.
func (s Sandbox) notes() []caution.Note {
	switch {
	case s.Missing != "":
		return caution.Notes(fmt.Sprintf("No sandbox: the command may write wherever you may (%s).", s.Missing))
	case s.Gap != "":
		return caution.Notes(s.Gap)
	}
	return nil
}

// symptoms are the messages of programs that a sandbox stopped, in lower case: of the
// system, and the names that Node prints.
var symptoms = []string{
	"permission denied", "operation not permitted", "cross-device link", "function not implemented", "eacces", "eperm", "exdev", "enosys",
}

// symptom returns the last line of the output that looks like the work of the sandbox, ""
// if none does.
func symptom(out shell.Result) string {
	if out.ExitCode == 0 || out.TimedOut || out.Cancelled {
		return ""
	}
	found := ""
	for line := range strings.Lines(sanitize.Plain(out.Output)) {
		for _, s := range symptoms {
			if strings.Contains(strings.ToLower(line), s) {
				found = line
			}
		}
	}
	return toolcall.OneLine(found, toolcall.MaxTitle)
}

// again asks whether a command that failed in the sandbox may run once more without one.
// Only a person can allow that: it is the one way out of the sandbox. note tells the
// model about the answer; empty if there was nothing to ask.
func (c commander) again(ctx context.Context, req confirm.Request, box Sandbox, out shell.Result) (v confirm.Verdict, note string, err error) {
	why := symptom(out)
	switch {
	case box.Policy == nil || why == "":
		return confirm.Verdict{}, "", nil
	case box.Required:
		return confirm.Verdict{}, confinedNote, nil
	}
	outside := *confirm.As[*confirm.Command](req)
	outside.Unconfined = true
	req.ID, req.Subject, req.Force = "", &outside, true
	req.Notes = caution.Notes(
		"It failed in the sandbox, perhaps because of it: "+why,
		"Run again without the sandbox, it may write wherever you may. Its changes so far remain.")
	v, err = c.Ask.Ask(ctx, req)
	switch {
	case err != nil:
		return v, "", UnansweredError{Err: err}
	case v.Decision == confirm.Approve:
		return v, "The command failed in the sandbox; the user let it run again without. ", nil
	case v.Unasked:
		return v, confinedNote + " Nobody could be asked to run it without.", nil
	}
	return v, confinedNote + " The user did not let it run again without." + toolcall.Feedback(v), nil
}

// confinedNote tells the model about the sandbox when a command failed in it.
const confinedNote = "The command ran in a sandbox, which may be why it failed: " + confinedLimits

const confinedLimits = "it can write only in the workspace, the temporary folder and some caches, and use no Unix sockets."
