// Package cli is the command line: it parses the arguments, puts the program
// together and says in words what went wrong. It guarantees that arguments are
// parsed once, by one parser; that an error is one message on standard error,
// safe to show, with what to do next where there is something; and that nothing
// is read, run or connected to before a command needs it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// Process is what the command line runs in.
type Process struct {
	Args                  []string // without the program's name
	Stdin, Stdout, Stderr *os.File
	Version               string
	// Self is the file of this program and Name what it was called as, so that it can
	// start itself once more, as its watchdog; empty: it cannot.
	Self, Name string
}

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

// exitError ends the program with a status; everything has been said already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a mistake of the caller: in the arguments, the environment or
// the configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// status turns an exit status into what a command returns.
func status(code int) error {
	if code == headless.ExitDone {
		return nil
	}
	return exitError(code)
}

// show prints text: made safe on a terminal, as it is into a file or a pipe.
func show(p Process, text string) error {
	if isTerminal(p.Stdout) {
		text = sanitize.Text(text)
	}
	_, err := p.Stdout.WriteString(text)
	return err
}

// showLine prints one line of a list, on whatever it is: a name in it that holds a
// line break draws no line of its own.
func showLine(p Process, line string) error {
	_, err := fmt.Fprintln(p.Stdout, sanitize.Line(line))
	return err
}

// remark tells the user something beside the output. It may hold what a server
// or a file says.
func remark(p Process, line string) {
	fmt.Fprintf(p.Stderr, "agent: %s\n", sanitize.Line(line))
}
