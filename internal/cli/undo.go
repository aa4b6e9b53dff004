package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/cli/app"
	"github.com/bb2d0cf4/agent/internal/cli/commands"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

func newUndo(p Process, f *flags) *cobra.Command {
	var turn, yes bool
	cmd := &cobra.Command{
		Use: "undo", Short: "Take back the last change in this folder", Args: noArgs,
		Long: "Takes back the last change in this folder, after showing it. It refuses if a file was\n" +
			"changed since. It needs no session and no git, and works after a crash.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runUndo(cmd.Context(), p, f, commands.Scope(turn), yes)
		},
	}
	cmd.Flags().BoolVar(&turn, "turn", false, "all changes of the last turn that changed something")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func runUndo(ctx context.Context, p Process, f *flags, what undo.What, yes bool) error {
	dir, err := workDir(f.dir)
	if err != nil {
		return err
	}
	cfg, err := loadConfig(nil)
	if err != nil {
		return err
	}
	root, err := app.OpenRoot(cfg, dir, nil)
	if err != nil {
		return err
	}
	err = undoIn(ctx, p, root, undo.Scope{What: what}, yes)
	return errors.Join(err, root.Close())
}

func undoIn(ctx context.Context, p Process, root *workspace.Root, scope undo.Scope, yes bool) error {
	plan, err := undo.Find(ctx, root, scope)
	if err == nil {
		err = plan.Err()
	}
	if err != nil {
		return commands.UndoError(err)
	}
	if err := show(p, planDiff(plan)); err != nil {
		return err
	}
	if !yes {
		if ok, err := confirmed(ctx, p, "Take this back? [y/N] "); err != nil || !ok {
			return err
		}
	}
	if err := plan.Do(ctx); err != nil {
		return err
	}
	fmt.Fprintf(p.Stderr, "undone: %s\n", sanitize.Line(strings.Join(commands.Names(plan), ", ")))
	return nil
}

// confirmed asks a question on the terminal; without one it is wrong usage.
func confirmed(ctx context.Context, p Process, question string) (bool, error) {
	if !isTerminal(p.Stdin) {
		return false, usagef("there is no terminal to ask on: look at the change above, then use --yes")
	}
	fmt.Fprint(p.Stderr, question)
	line := make(chan string, 1)
	go func() { // ends with the program if the question stays without an answer
		s, _ := bufio.NewReader(p.Stdin).ReadString('\n')
		line <- s
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case s := <-line:
		if answer := strings.ToLower(strings.TrimSpace(s)); answer == "y" || answer == "yes" {
			return true, nil
		}
		fmt.Fprintln(p.Stderr, "nothing was changed")
		return false, exitError(headless.ExitDenied)
	}
}

// planDiff is what an undo would change, as a unified diff.
func planDiff(plan undo.Plan) string {
	var b strings.Builder
	for _, c := range plan.Changes {
		before, after := c.Name, c.Name
		if !c.Exists {
			before = ""
		}
		if c.Delete {
			after = ""
		}
		b.WriteString(diff.Unified(before, after, c.Text, c.After))
	}
	return b.String()
}
