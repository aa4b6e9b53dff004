package idelink

import (
	"context"
	"errors"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// terminal runs a command where the user sees it. ide.Terminal is one.
type terminal interface {
	Run(ctx context.Context, cmd client.TerminalCommand) (client.TerminalRun, error)
}

// visible runs the commands that a turn waits for in the editor's terminal, if
// there is an editor that has one; those in the background run as before.
type visible struct {
	tools.Commands
	in terminal
}

// fate says where a command has run.
type fate int

const (
	there     fate = iota // in the editor's terminal
	nowhere               // there is no such terminal
	unwanted              // the editor did not want to run it
	cancelled             // the call was given up
	unknown               // the link broke meanwhile, or the editor failed
)

func fateOf(ctx context.Context, ran client.TerminalRun, err error) fate {
	var refused *client.ToolError
	switch {
	case ctx.Err() != nil:
		return cancelled
	case errors.Is(err, editor.ErrNone), errors.Is(err, client.ErrUnsupported):
		return nowhere
	case errors.As(err, &refused) && refused.Code == client.CodeInternal:
		return unknown
	case errors.As(err, &refused), err == nil && !ran.Captured:
		return unwanted
	case err != nil:
		return unknown
	}
	return there
}

// Run runs a command once: what an editor may have run is not run again.
func (v visible) Run(ctx context.Context, opts shell.Options) (shell.Result, error) {
	began := time.Now()
	cmd := client.TerminalCommand{Line: opts.Line, Dir: opts.Dir, Timeout: opts.Timeout}
	end := func() {}
	if opts.Output != nil {
		cmd.Printed, end = shell.Relay(opts.Output)
	}
	ran, err := v.in.Run(ctx, cmd)
	end() // before anything else is printed
	switch fateOf(ctx, ran, err) {
	case nowhere:
		return v.Commands.Run(ctx, opts)
	case unwanted:
		return v.instead(ctx, opts)
	case cancelled:
		return shell.Result{ExitCode: -1, Cancelled: true, Took: time.Since(began)}, nil
	case unknown:
		return lost(time.Since(began)), nil
	case there:
	}
	code := -1
	if ran.Code != nil {
		code = *ran.Code
	}
	res := shell.Elsewhere(opts, ran.Output, code, time.Since(began))
	res.TimedOut = ran.TimedOut
	return res, nil
}

func lost(took time.Duration) shell.Result {
	return shell.Result{
		ExitCode: -1, Took: took,
		Notes: []string{"The editor, in whose terminal the command ran, or the link to it failed: whether it has ended, and how, is not known."},
	}
}

// instead runs here what the editor did not want to run.
func (v visible) instead(ctx context.Context, opts shell.Options) (shell.Result, error) {
	res, err := v.Commands.Run(ctx, opts)
	res.Notes = append(res.Notes, "It did not run in the editor's terminal: the editor refused it.")
	return res, err
}
