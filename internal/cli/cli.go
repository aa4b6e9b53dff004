// Package cli is the command line: it parses the arguments, asks for missing
// settings, joins a session with its face, and reports errors. It guarantees that
// arguments are parsed once, by one parser; that an error is one message on standard
// error, safe to show, with the next step if there is one; and that nothing is read,
// run or connected to before a command needs it.
package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// Run executes the command line and returns the exit status: 0 done, 1 failed,
// 2 wrong usage, 3 done but something was denied, 130 interrupted.
func Run(ctx context.Context, p Process) int {
	if len(p.Args) == 1 && p.Args[0] == watchdogArg {
		if err := shell.Watch(p.Stdin); err != nil {
			return headless.ExitFailed
		}
		return headless.ExitDone
	}
	args, ignored := withoutPluginFlags(p.Args)
	root, err := newRoot(p, func(cmd *cobra.Command, f *flags, args []string) error {
		f.ignored = ignored
		return start(cmd.Context(), p, f, overrides(cmd.Flags(), f), args)
	})
	if err != nil {
		fmt.Fprintf(p.Stderr, "agent: %v\n", err)
		return headless.ExitFailed
	}
	root.SetArgs(promptless(root, args))
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	if err = completeBash(root); err == nil {
		err = root.ExecuteContext(ctx)
	}
	var exit exitError
	var usage usageError
	switch {
	case err == nil:
		return headless.ExitDone
	case errors.As(err, &exit):
		return int(exit)
	case ctx.Err() != nil:
		return headless.ExitInterrupted
	}
	fmt.Fprintf(p.Stderr, "agent: %s\n", sanitize.Text(err.Error()))
	if errors.As(err, &usage) {
		return headless.ExitUsage
	}
	return headless.ExitFailed
}
