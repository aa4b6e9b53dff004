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
		{Name: "diff", Args: "[turn|file]", Help: "what this session changed, or one turn, or in one file", Group: command.Changes, Run: c.diff},
		{Name: "undo", Args: "[turn|file]", Help: "take back the last change, the last turn's, or that of a file", Group: command.Changes, Idle: true, Run: c.undo},
		{Name: "redo", Help: "take back the last undo or rewind", Group: command.Changes, Idle: true, Run: c.redo},
		{Name: "rewind", Help: "go back to a prompt: files, conversation, or both (Esc Esc)", Group: command.Changes, Idle: true, Run: c.rewind},
	}
}

// undo takes back the last change of this session or, with "turn", those of the
// last turn or, with a file, that file's last one.
func (c changes) undo(ctx context.Context, args string) (command.Reply, error) {
	s := undo.Scope{Session: c.App.Current().ID()}
	if err := c.aim(&s, args, undo.LastTurn); err != nil {
		return command.Reply{}, err
	}
	return c.back(ctx, s, wish{title: "undo the last turn", done: "undone"})
}

func (c changes) redo(ctx context.Context, args string) (command.Reply, error) {
	if args != "" {
		return command.Reply{}, errors.New("/redo takes back the last undo: it needs nothing more")
	}
	s := undo.Scope{What: undo.LastUndo, Session: c.App.Current().ID()}
	return c.back(ctx, s, wish{title: "redo what was undone", done: "redone"})
}

// aim narrows s to what follows a command.
func (c changes) aim(s *undo.Scope, args string, turn undo.What) error {
	switch args {
	case "":
	case "turn":
		s.What = turn
	default:
		file, _, err := c.App.Root.Resolve(args)
		if err != nil {
			return err
		}
		s.File = file
	}
	return nil
}

// wish says what a plan is for, to the person.
type wish struct{ title, done string }

// back finds out what is to be restored, asks, and restores it.
func (c changes) back(ctx context.Context, s undo.Scope, w wish) (command.Reply, error) {
	plan, err := undo.Find(ctx, c.App.Root, s)
	if err != nil {
		return command.Reply{}, c.none(err, s)
	}
	text, _, err := c.restore(ctx, plan, w)
	return command.Reply{Text: text}, err
}

// restore asks about plan, in every mode, and carries out what was approved. done
// is false if that is nothing.
func (c changes) restore(ctx context.Context, plan undo.Plan, w wish) (text string, done bool, err error) {
	v, err := c.App.Asked.Ask(ctx, question(plan, w))
	if err != nil {
		return "", false, err
	}
	if v.Decision != confirm.Approve || v.Text != nil && *v.Text != plan.Changes[0].After {
		return "nothing was " + w.done, false, nil
	}
	plan = plan.Without(v.Except)
	if err := plan.Do(ctx); err != nil {
		return "", false, err
	}
	return w.done + ": " + strings.Join(Names(plan), ", "), true, nil
}

// question puts a plan to the person. A single file is shown at once.
func question(plan undo.Plan, w wish) confirm.Request {
	req := confirm.Request{Tool: "undo", Force: true}
	for _, r := range plan.Refused {
		req.Notes = append(req.Notes, r.Name+" stays as it is: "+r.Err.Error())
	}
	if len(plan.Changes) == 1 {
		req.Change = &plan.Changes[0]
	} else {
		req.Plan = &confirm.Plan{Title: w.title, Changes: plan.Changes}
	}
	return req
}

// none says what it means that there is no plan.
func (c changes) none(err error, s undo.Scope) error {
	switch {
	case !errors.Is(err, undo.ErrNothing):
		return UndoError(err)
	case s.What == undo.LastUndo:
		return errors.New("there is nothing to redo: nothing was undone, or something was changed since")
	case s.File != "":
		return errors.New("there is nothing to undo in that file: this session has not changed it")
	}
	return errors.New("there is nothing to undo in this session; what others changed in this folder, agent undo takes back")
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
