package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/app/commands"
	"github.com/bb2d0cf4/agent/internal/app/setup"
	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/headless"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

func newUndo(p Process, f *flags) *cobra.Command {
	u := undoCommand{done: "undone"}
	cmd := &cobra.Command{
		Use: "undo [file]", Short: "Undo the last change in this folder", Args: atMost(1),
		Long: "Undoes the last change in this folder, or in a file, after showing it. A file that\n" +
			"was changed since keeps that change: the merged result asks, or the file is skipped.\n" +
			"It needs no session and no git, and works after a crash.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				u.file = args[0]
			}
			if u.turn {
				u.scope.Range = undo.LastTurn
			}
			return u.run(cmd.Context(), p, f)
		},
	}
	cmd.AddCommand(newUndoForget(p, f))
	cmd.Flags().BoolVar(&u.turn, "turn", false, "all changes of the last turn that changed files")
	return u.flags(cmd)
}

func newRedo(p Process, f *flags) *cobra.Command {
	u := undoCommand{done: "redone", scope: undo.Scope{Range: undo.LastUndo}}
	return u.flags(&cobra.Command{
		Use: "redo", Short: "Redo: reverse the last undo or rewind in this folder", Args: noArgs,
		Long: "Reverses the last undo or rewind in this folder, after showing it, if nothing was\n" +
			"changed after it. Run it again for the one before that.",
		RunE: func(cmd *cobra.Command, _ []string) error { return u.run(cmd.Context(), p, f) },
	})
}

// undoCommand is agent undo or agent redo.
type undoCommand struct {
	scope undo.Scope
	done  string // the message on success: "undone"

	file            string // as given
	turn, yes, rest bool
	merge           bool // with yes
}

func (u *undoCommand) flags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVarP(&u.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&u.rest, "rest", false, "skip files that were changed since")
	cmd.Flags().BoolVar(&u.merge, "merge", false, "with --yes: also files that were changed since, merged with that change")
	return cmd
}

func (u *undoCommand) run(ctx context.Context, p Process, f *flags) error {
	root, err := openUndo(ctx, p, f)
	if err != nil {
		return err
	}
	return errors.Join(u.in(ctx, p, root), root.Close())
}

// openUndo opens the folder with its undo journal.
func openUndo(ctx context.Context, p Process, f *flags) (*workspace.Root, error) {
	dir, err := setup.Folder(f.dir)
	if err != nil {
		return nil, err
	}
	cfg, err := loadConfig(nil)
	if err != nil {
		return nil, err
	}
	return commands.OpenRoot(ctx, cfg, dir, func(line string) { remark(p, line) })
}

// in undoes the changes in scope.
func (u *undoCommand) in(ctx context.Context, p Process, root *workspace.Root) error {
	if u.file != "" {
		file, _, err := root.Resolve(u.file)
		if err != nil {
			return err
		}
		u.scope.File = file
	}
	u.scope.Merge = u.merge || !u.yes
	plan, err := undo.Find(ctx, root, u.scope)
	if err != nil {
		return u.explain(err)
	}
	if err := plan.Err(); err != nil && !u.rest {
		return fmt.Errorf("%w; --rest skips such files", commands.UndoError(err))
	}
	if err := u.show(p, plan); err != nil {
		return err
	}
	if !u.yes {
		if ok, err := confirmed(ctx, p, "Undo this? [y/N] "); err != nil || !ok {
			return err
		}
	}
	if err := plan.Do(ctx); err != nil {
		return err
	}
	names, remark := plan.Restored()
	if len(names) > 0 {
		fmt.Fprintf(p.Stderr, "%s: %s\n", u.done, sanitize.Line(strings.Join(names, ", ")))
	}
	if remark != "" {
		fmt.Fprintln(p.Stderr, sanitize.Line(remark))
	}
	return nil
}

// show prints a plan.
func (u *undoCommand) show(p Process, plan undo.Plan) error {
	for _, note := range plan.MergeNotes() {
		remark(p, note)
	}
	for _, r := range plan.Refused {
		remark(p, "skipped "+r.Name+": "+r.Err.Error())
	}
	if err := show(p, plan.Diff()); err != nil {
		return err
	}
	for _, mode := range plan.Modes() {
		remark(p, mode)
	}
	return nil
}

// explain turns an error of undo.Find into a message.
func (u *undoCommand) explain(err error) error {
	if errors.Is(err, undo.ErrNothing) && u.scope.Range == undo.LastUndo {
		return errors.New("nothing to redo in this folder: nothing was undone, or files were changed since")
	}
	if errors.Is(err, undo.ErrNothing) && u.file != "" {
		return fmt.Errorf("nothing to undo in %s: no changes of it are recorded", u.file)
	}
	return commands.UndoError(err)
}

// confirmed asks a yes-or-no question on the terminal; without one it is wrong usage.
func confirmed(ctx context.Context, p Process, question string) (bool, error) {
	if !isTerminal(p.Stdin) {
		return false, usagef("nothing was changed: no terminal to ask. If the change above is right, run it again with --yes")
	}
	fmt.Fprint(p.Stderr, question)
	line := make(chan string, 1)
	go func() { // ends with the program if nobody answers
		defer crash.Guard()
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
