package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/subpath"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/journal"
)

// forgetCommand is agent undo forget.
type forgetCommand struct {
	path     string // as given
	older    string
	all, yes bool
}

func newUndoForget(p Process, f *flags) *cobra.Command {
	var c forgetCommand
	cmd := &cobra.Command{
		Use: "forget [path]", Short: "Delete what undo keeps of this folder", Args: atMost(1),
		Long: "Deletes changes of this folder from the undo journal, with the content of the files before\n" +
			"them, after showing how many: those of a file or of a folder, old ones, or all. The files\n" +
			"themselves stay. What is forgotten cannot be undone.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				c.path = args[0]
			}
			return c.run(cmd.Context(), p, f)
		},
	}
	cmd.Flags().BoolVar(&c.all, "all", false, "all changes of this folder")
	cmd.Flags().StringVar(&c.older, "older-than", "", "changes older than this `age`, such as 7d or 12h")
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask")
	return cmd
}

func (c *forgetCommand) run(ctx context.Context, p Process, f *flags) error {
	if c.path == "" && c.older == "" && !c.all || c.all && (c.path != "" || c.older != "") {
		return usagef("name what to forget: a path, --older-than 7d, both, or --all")
	}
	root, err := openUndo(ctx, p, f)
	if err != nil {
		return err
	}
	return errors.Join(c.in(ctx, p, root), root.Close())
}

// in forgets changes of root.
func (c *forgetCommand) in(ctx context.Context, p Process, root *workspace.Root) error {
	drop, err := c.choice(root, time.Now())
	if err != nil {
		return err
	}
	found, err := root.Forgettable(drop)
	if err != nil {
		return err
	}
	if found.Changes == 0 {
		return errors.Join(errors.New("nothing to forget in this folder"), busy(found))
	}
	for _, path := range found.Paths {
		if err := showLine(p, path); err != nil {
			return err
		}
	}
	if !c.yes {
		question := fmt.Sprintf("Forget %s? They cannot be undone then. [y/N] ", changesOf(found))
		if ok, err := confirmed(ctx, p, question); err != nil || !ok {
			return err
		}
	}
	done, err := root.Forget(ctx, drop)
	if done.Changes > 0 {
		fmt.Fprintf(p.Stderr, "forgotten: %s\n", changesOf(done))
	}
	return errors.Join(err, busy(done))
}

// busy returns an error if running sessions keep changes.
func busy(f journal.Forgotten) error {
	if f.Busy == 0 {
		return nil
	}
	return fmt.Errorf("a running session keeps %s; end it, then forget them", plural.Of(f.Busy, "change"))
}

func changesOf(f journal.Forgotten) string {
	return plural.Of(f.Changes, "change") + " of " + plural.Of(len(f.Paths), "file")
}

// choice returns the function that selects the changes to forget.
func (c *forgetCommand) choice(root *workspace.Root, now time.Time) (func(*journal.Entry) bool, error) {
	path, before := "", now
	if c.path != "" {
		var err error
		if path, _, err = root.Resolve(c.path); err != nil {
			return nil, err
		}
	}
	if c.older != "" {
		age, err := parseAge(c.older)
		if err != nil {
			return nil, err
		}
		before = now.Add(-age)
	}
	return func(e *journal.Entry) bool {
		in := path == "" || subpath.In(path, e.Path)
		return in && e.Time < before.UnixNano()
	}, nil
}

// parseAge parses a duration, which may be in days.
func parseAge(s string) (time.Duration, error) {
	age, err := time.ParseDuration(s)
	if digits, isDays := strings.CutSuffix(s, "d"); isDays {
		var days uint64
		days, err = strconv.ParseUint(digits, 10, 16)
		age = time.Duration(days) * 24 * time.Hour
	}
	if err != nil || age < 0 {
		return 0, usagef("--older-than %q: want an age such as 7d or 12h", s)
	}
	return age, nil
}
