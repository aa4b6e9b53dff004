package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// changes are the commands about what was changed.
type changes struct{ *Set }

func (c changes) list() []command.Command {
	return []command.Command{
		{Name: "diff", Help: "what this session changed", Group: command.Changes, Run: c.diff},
		{Name: "undo", Args: "[turn]", Help: "take back the last change, or the last turn's", Group: command.Changes, Idle: true, Run: c.undo},
	}
}

// undo takes back the last change or, with "turn", those of the last turn. Each
// file is shown first, and the answer is the verdict: in every mode.
func (c changes) undo(ctx context.Context, args string) (command.Reply, error) {
	if args != "" && args != "turn" {
		return command.Reply{}, errors.New("/undo takes back the last change, /undo turn those of the last turn")
	}
	plan, err := undo.Find(ctx, c.App.Root, undo.Scope{What: Scope(args == "turn")})
	if err == nil {
		err = plan.Err()
	}
	if err != nil {
		return command.Reply{}, UndoError(err)
	}
	for i, ch := range plan.Changes {
		v, err := c.App.Asked.Ask(ctx, confirm.Request{
			Tool: "undo", Change: &ch, Force: true, Batch: confirm.Batch{Index: i, Total: len(plan.Changes)},
		})
		if err != nil {
			return command.Reply{}, err
		}
		if v.Decision != confirm.Approve || v.Text != nil && *v.Text != ch.After {
			return command.Reply{Text: "nothing was undone"}, nil
		}
	}
	if err := plan.Do(ctx); err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: "undone: " + strings.Join(Names(plan), ", ")}, nil
}

func (c changes) diff(context.Context, string) (command.Reply, error) {
	text := c.Changes.Text()
	switch {
	case text == "":
		return command.Reply{Text: "this session has changed nothing yet"}, nil
	case strings.HasPrefix(text, "diff "):
		return command.Reply{Diff: text}, nil
	}
	return command.Reply{Text: text}, nil
}

// Scope is what an undo takes back.
func Scope(turn bool) undo.What {
	if turn {
		return undo.LastTurn
	}
	return undo.LastChange
}

// Names are the files of a plan.
func Names(plan undo.Plan) []string {
	var names []string
	for _, c := range plan.Changes {
		names = append(names, c.Name)
	}
	return names
}

// UndoError says what it means that there is no plan for an undo.
func UndoError(err error) error {
	switch {
	case errors.Is(err, undo.ErrNothing):
		return errors.New("there is nothing to undo in this folder")
	case errors.Is(err, workspace.ErrStale):
		return fmt.Errorf("nothing was undone, as what was changed since would be lost: %w", err)
	}
	return err
}
