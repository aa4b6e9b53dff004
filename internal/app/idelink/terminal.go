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

// terminal runs a command in front of the user; ide.Terminal implements it.
type terminal interface {
	Run(ctx context.Context, cmd client.TerminalCommand) (client.TerminalRun, error)
}

// visible runs the commands that a turn waits for in the editor's terminal, if it has
// one. Those in the background run here.
type visible struct {
	tools.Commands
	in terminal
}

// fate is the place in which a command ran.
type fate int

const (
	there     fate = iota // in the editor's terminal
	nowhere               // the editor has no terminal
	unwanted              // the editor refused to run it
	cancelled             // the call was cancelled
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

// Run runs a command once: one that the editor may have run is not run again. The
// editor's terminal has no sandbox, so a command in one runs here.
func (v visible) Run(ctx context.Context, opts shell.Options) (shell.Result, error) {
	if opts.Here || opts.Sandbox != nil {
		return v.Commands.Run(ctx, opts)
	}
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
		Notes: []string{"The command ran in the editor's terminal, and the editor or the link to it failed: it is unknown whether the command has ended, and how."},
	}
}

// instead runs here a command that the editor refused.
func (v visible) instead(ctx context.Context, opts shell.Options) (shell.Result, error) {
	res, err := v.Commands.Run(ctx, opts)
	res.Notes = append(res.Notes, "It did not run in the editor's terminal: the editor refused it.")
	return res, err
}
