package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/repl/command"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// changes are the commands about what was changed.
type changes struct{ *Set }

func (c changes) list() []command.Command {
	return []command.Command{
		{Name: "diff", Args: "[turn|file]", Help: "what this session changed, or one turn, or in one file", Group: command.Changes, Run: c.diff},
		{Name: "undo", Args: "[turn|file]", Help: "take back the last change, the last turn's, or that of a file", Group: command.Changes, Idle: true, Run: c.undo},
		{Name: "redo", Help: "take back the last undo, or what the last rewind did to files", Group: command.Changes, Idle: true, Run: c.redo},
		{Name: "rewind", Help: "go back to a prompt: files, conversation, or both (Esc Esc)", Group: command.Changes, Idle: true, Run: rewinds{c}.rewind},
	}
}

// undo takes back the last change of this session or, with "turn", those of the
// last turn or, with a file, that file's last one.
func (c changes) undo(ctx context.Context, args string) (command.Reply, error) {
	s := undo.Scope{Session: c.App.Current().ID()}
	if err := c.aim(&s, args, undo.LastTurn); err != nil {
		return command.Reply{}, err
	}
	return c.back(ctx, s, wish{title: "undo the last turn", done: "undone", told: telling{"Undo", "the user took back the last changes of these files"}})
}

func (c changes) redo(ctx context.Context, args string) (command.Reply, error) {
	if args != "" {
		return command.Reply{}, errors.New("/redo takes back the last undo: it needs nothing more")
	}
	s := undo.Scope{Range: undo.LastUndo, Session: c.App.Current().ID()}
	return c.back(ctx, s, wish{title: "redo what was undone", done: "redone", told: telling{"Redo", "the user brought back changes of these files that had been taken back"}})
}

// aim narrows s to what follows a command.
func (c changes) aim(s *undo.Scope, args string, turn undo.Range) error {
	switch args {
	case "":
	case "turn":
		s.Range = turn
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
type wish struct {
	title, done string
	told        telling
	note        string // for the person; may be empty
}

// telling says what became of files without the model: for its list of what was done,
// and for the next prompt.
type telling struct{ verb, what string }

// back finds out what is to be restored, asks, and restores it.
func (c changes) back(ctx context.Context, s undo.Scope, w wish) (command.Reply, error) {
	plan, err := undo.Find(ctx, c.App.Root, s)
	if err != nil {
		return command.Reply{}, c.none(err, s)
	}
	if plan = c.saved(ctx, plan); len(plan.Changes) == 0 {
		return command.Reply{}, plan.Err()
	}
	done, err := c.restore(ctx, plan, w)
	c.tell(w.told, done)
	return command.Reply{Text: w.report(done)}, err
}

// restore asks about plan, in every mode, and carries out what was approved. It
// returns the names of the files.
func (c changes) restore(ctx context.Context, plan undo.Plan, w wish) ([]string, error) {
	v, err := c.App.Questions.AskPerson(ctx, question(plan, w))
	if err != nil {
		return nil, err
	}
	if v.Decision != confirm.Approve || v.Text != nil && *v.Text != plan.Changes[0].After {
		return nil, nil
	}
	plan = plan.Without(v.Except)
	if now := c.saved(ctx, plan).Refused[len(plan.Refused):]; len(now) > 0 {
		return nil, fmt.Errorf("nothing was %s: %w", w.done, undo.Plan{Refused: now}.Err())
	}
	if err := plan.Do(ctx); err != nil {
		return nil, err
	}
	c.wrote(ctx, plan)
	return Names(plan), nil
}

// wrote tells the editor of the files that were restored.
func (c changes) wrote(ctx context.Context, plan undo.Plan) {
	for _, change := range plan.Changes {
		c.App.Editor.View.Wrote(ctx, editor.Write{Path: change.Path, Before: change.Text, After: change.After})
	}
}

// looking is how long the editor is asked about the files of a plan.
const looking = 5 * time.Second

// saved is plan without the files of which the editor holds changes that are not on
// disk: they would be lost there, or undo the undo when they are saved.
func (c changes) saved(ctx context.Context, plan undo.Plan) undo.Plan {
	ctx, cancel := context.WithTimeout(ctx, looking)
	defer cancel()
	return plan.Refuse(func(change workspace.Change) error {
		if in, unsaved := c.App.Editor.View.Unsaved(ctx, change.Path); unsaved {
			return fmt.Errorf("it has unsaved changes in %s: save or revert it there first", in)
		}
		return nil
	})
}

// report says which files were restored.
func (w wish) report(names []string) string {
	if len(names) == 0 {
		return "nothing was " + w.done
	}
	return w.done + ": " + strings.Join(names, ", ")
}

// maxTold is how many files the model is told by name.
const maxTold = 50

// tell has the model know what became of files without it.
func (c changes) tell(w telling, names []string) {
	if len(names) == 0 {
		return
	}
	c.App.Loop.RecordDeed(history.Deed{What: w.verb + " " + strings.Join(names, ", "), Result: w.what})
	more := ""
	if n := len(names) - maxTold; n > 0 {
		names, more = names[:maxTold], fmt.Sprintf(" and %d more", n)
	}
	c.App.Remarks.Add(strings.ToUpper(w.what[:1]) + w.what[1:] + ": " + strings.Join(names, ", ") + more + ". Read them again before you edit them.")
}

// question puts a plan to the person. A single file is shown at once.
func question(plan undo.Plan, w wish) confirm.Request {
	req := confirm.Request{Tool: "undo", Force: true}
	for _, r := range plan.Refused {
		req.Notes = append(req.Notes, caution.Notes(r.Name+" stays as it is: "+r.Err.Error())...)
	}
	for _, name := range plan.Others {
		req.Notes = append(req.Notes, caution.Notes(name+": what others changed in it goes, too")...)
	}
	if w.note != "" {
		req.Notes = append(req.Notes, caution.Notes(w.note)...)
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
	case errors.Is(err, workspace.ErrStale):
		return fmt.Errorf("%w; /rewind can put such files back", UndoError(err))
	case !errors.Is(err, undo.ErrNothing):
		return UndoError(err)
	case s.Range == undo.LastUndo:
		return errors.New("there is nothing to redo: nothing was undone, or something was changed since")
	case s.File != "":
		return errors.New("there is nothing to undo in that file: this session has not changed it")
	}
	return errors.New("there is nothing to undo in this session; what others changed in this folder, agent undo takes back")
}

// Stopped says what to do about an undo that a process died of; empty if there was
// none.
func Stopped(root *workspace.Root) string {
	s := root.Stopped()
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("An undo was under way when the program ended: %d of its %d files are done. /redo takes that back; the same undo again does the rest.", s.Done, s.Of)
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
