package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// changes are the commands about changed files.
type changes struct{ *Set }

func (c changes) list() []command.Command {
	return []command.Command{
		{Name: "diff", Args: "[turn|file]", Help: "show the changes of this session, of a turn or in a file", Group: command.Changes, Run: c.diff},
		{Name: "undo", Args: "[turn|pick|file]", Help: "undo the last change, the last turn's, a file's, or parts of any", Group: command.Changes, Idle: true, Run: c.undo},
		{Name: "redo", Help: "reverse the last undo, or the last rewind of files", Group: command.Changes, Idle: true, Run: c.redo},
		{Name: "here", Help: "run the last command that ran in a copy in the folder", Group: command.Changes, Idle: true, Run: c.here},
		{Name: "rewind", Help: "go back to a prompt: files, conversation, or both (Esc Esc)", Group: command.Changes, Idle: true, Run: rewinds{c}.rewind},
	}
}

// here runs the last command of a trial in the folder, if the person says yes to it.
func (c changes) here(ctx context.Context, _ string) (command.Reply, error) {
	line, dir, ok := c.App.Tried()
	if !ok {
		return command.Reply{Text: "No command has run in a copy of the folder in this session."}, nil
	}
	v, err := c.App.Questions.AskPerson(ctx, confirm.Request{
		Tool: "here", Force: true, Subject: &confirm.Command{Line: line, Dir: dir},
		Notes: caution.Notes("It ran in a copy of the folder. It would run in the folder now."),
	})
	if err != nil || v.Decision != confirm.Approve {
		return command.Reply{}, err
	}
	return command.Reply{}, c.App.Here(ctx, line, dir)
}

// undo takes back the last change of this session: of the last turn for "turn", of a
// file for its name.
func (c changes) undo(ctx context.Context, args string) (command.Reply, error) {
	s := undo.Scope{Session: c.App.Current().ID(), Merge: true}
	if args == "pick" {
		return c.pickEntry(ctx, s)
	}
	if err := c.aim(&s, args, undo.LastTurn); err != nil {
		return command.Reply{}, err
	}
	title := "undo the last change"
	if s.Range == undo.LastTurn {
		title = "undo the last turn"
	}
	return c.takeBack(ctx, s, undoing(title))
}

// undoing returns the action of an undo.
func undoing(title string) action {
	return action{title: title, done: "undone", note: modelNote{"Undo", "the user undid the last changes of these files"}}
}

// maxEntries is how many changes are listed.
const maxEntries = 40

// pickEntry lets the person choose a change in s, and then the parts of it to take back.
func (c changes) pickEntry(ctx context.Context, s undo.Scope) (command.Reply, error) {
	log, err := undo.Read(ctx, c.App.Root)
	if err != nil {
		return command.Reply{}, err
	}
	pick := &command.Pick{Title: "Undo which change?"}
	for _, e := range log.List(s, maxEntries) {
		title, preview := oneLine(strings.Join(e.Names, ", ")), strings.Join(short(e.Names), "\n")
		if e.Command != "" {
			title = oneLine(e.Command)
		}
		pick.Items = append(pick.Items, command.Choice{
			ID: e.ID, Title: title, Cells: []string{plural.Of(len(e.Names), "file"), ago(time.Since(e.At), e.At)}, Preview: func() string { return preview },
		})
	}
	if len(pick.Items) == 0 {
		return command.Reply{}, c.explain(undo.ErrNothing, s)
	}
	pick.Choose = func(ctx context.Context, id string) (command.Reply, error) {
		s.Entry, s.Hunks = id, true
		a := undoing("undo this change")
		a.parts = true
		return c.takeBack(ctx, s, a)
	}
	return command.Reply{Pick: pick}, nil
}

func (c changes) redo(ctx context.Context, _ string) (command.Reply, error) {
	s := undo.Scope{Range: undo.LastUndo, Session: c.App.Current().ID(), Merge: true}
	return c.takeBack(ctx, s, action{title: "redo what was undone", done: "redone", note: modelNote{"Redo", "the user redid undone changes of these files"}})
}

// takeBack takes back the changes in s that the person approves.
func (c changes) takeBack(ctx context.Context, s undo.Scope, a action) (command.Reply, error) {
	plan, err := undo.Find(ctx, c.App.Root, s)
	if err != nil {
		return command.Reply{}, c.explain(err, s)
	}
	if plan = c.refuseUnsaved(ctx, plan); len(plan.Changes) == 0 {
		return command.Reply{}, plan.Err()
	}
	names, remark, err := c.restore(ctx, plan, a)
	c.notifyModel(a.note, names)
	return command.Reply{Text: a.summary(names, remark)}, err
}

// explain turns an error of undo.Find for s into a message.
func (c changes) explain(err error, s undo.Scope) error {
	switch {
	case errors.Is(err, workspace.ErrStale):
		return fmt.Errorf("%w; /undo pick undoes the parts that were not changed since, /rewind restores such files", UndoError(err))
	case !errors.Is(err, undo.ErrNothing):
		return UndoError(err)
	case s.Range == undo.LastUndo:
		return errors.New("there is nothing to redo: nothing was undone, or something was changed since")
	case s.File != "":
		return errors.New("there is nothing to undo in that file: this session has not changed it")
	}
	return errors.New("nothing to undo in this session; run agent undo for changes made by other sessions here")
}
