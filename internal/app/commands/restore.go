package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app"
	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/session/history"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/effects"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// action describes an undo, a redo or a rewind: to the person, and to the model.
type action struct {
	title, done string // "undo the last change", "undone"
	note        modelNote
	warning     string // for the person; may be empty
	parts       bool   // of files can be left out
}

// modelNote tells the model about files that changed without it: verb is for its list
// of deeds, text for the next prompt.
type modelNote struct{ verb, text string }

// summary lists the files that were restored. remark may be empty.
func (a action) summary(names []string, remark string) string {
	text := "nothing was " + a.done
	if len(names) > 0 {
		text = a.done + ": " + strings.Join(names, ", ")
	}
	if remark != "" {
		text += "; " + remark
	}
	return text
}

// maxModes is how many changes of modes a question names.
const maxModes = 10

// question asks the person about a plan. A single file is shown at once.
func (a action) question(plan undo.Plan) confirm.Request {
	edits := &confirm.Edits{Title: a.title, Changes: plan.Changes, Parts: a.parts}
	switch one := edits.One(); {
	case one && len(plan.Merged) > 0:
		edits.Title += ": merges the file as it was with the later changes"
	case one && plan.Changes[0].Delete:
		edits.Title += ": removes the file"
	case one:
		edits.Title += ": restores the file"
	case plan.Command != "":
		edits.Title = "undo what " + oneLine(plan.Command) + " changed"
	}
	return confirm.Request{Tool: "undo", Force: true, Notes: caution.Notes(a.remarks(plan)...), Subject: edits}
}

// remarks returns the notes for the person who is asked about a plan.
func (a action) remarks(plan undo.Plan) (notes []string) {
	for _, r := range plan.Refused {
		notes = append(notes, r.Name+" is unchanged: "+r.Err.Error())
	}
	for _, name := range plan.Others {
		notes = append(notes, name+": changes by others in it are lost, too")
	}
	notes = append(notes, plan.MergeNotes()...)
	modes := plan.Modes()
	notes = append(notes, modes[:min(len(modes), maxModes)]...)
	if more := len(modes) - maxModes; more > 0 {
		notes = append(notes, fmt.Sprintf("and the modes of %d more", more))
	}
	if a.warning != "" {
		notes = append(notes, a.warning)
	}
	return append(notes, plan.Kept...)
}

// aim limits s to the argument of a command: "turn" or the name of a file.
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

// restore asks for approval of plan, in every mode, and carries out the approved part.
// It returns the names of the restored files, and a remark about folders that remain.
func (c changes) restore(ctx context.Context, plan undo.Plan, a action) (names []string, remark string, err error) {
	v, err := c.App.Questions.AskPerson(ctx, a.question(plan))
	if err != nil {
		return nil, "", err
	}
	text := v.Edited()
	if v.Decision != confirm.Approve || !a.parts && text != nil && *text != plan.Changes[0].After {
		return nil, "", nil
	}
	if a.parts {
		if plan, err = plan.With(v.Texts); err != nil {
			return nil, "", fmt.Errorf("nothing was %s: %w", a.done, err)
		}
	}
	plan = plan.Without(v.Except)
	if now := c.refuseUnsaved(ctx, plan).Refused[len(plan.Refused):]; len(now) > 0 {
		return nil, "", fmt.Errorf("nothing was %s: %w", a.done, undo.Plan{Refused: now}.Err())
	}
	if err := plan.Do(ctx); err != nil {
		return nil, "", err
	}
	for _, change := range plan.Changes {
		c.App.Editor.View.Wrote(ctx, editor.Write{Path: change.Path, Before: change.Text, After: change.After, Removed: change.Removes(), To: change.To})
	}
	names, remark = plan.Restored()
	return names, remark, nil
}

// refuseUnsaved moves the files with unsaved changes in the editor from plan's changes to
// its refused ones: the changes would be lost, or undo the undo when they are saved. Files
// about which a linked editor does not answer are refused, too; it is asked no further. It is
// not asked about links: the unsaved text would be that of another file, which stays.
func (c changes) refuseUnsaved(ctx context.Context, plan undo.Plan) undo.Plan {
	var silent editor.SilentError
	return plan.Refuse(func(change workspace.Change) error {
		if now, _, err := c.App.Root.Look(change.Path); err == nil && now.Mode&fs.ModeSymlink != 0 {
			return nil
		}
		if c.App.Root.Unsaved(change.Path) {
			return errors.New("it has unsaved changes in your editor: save or revert it there first")
		}
		if silent != "" {
			return silent
		}
		err := c.App.Editor.View.CheckSaved(ctx, change.Path)
		_ = errors.As(err, &silent)
		return err
	})
}

// maxNamed is how many files a note for the model names.
const maxNamed = 50

// notifyModel tells the model that files changed without it.
func (c changes) notifyModel(note modelNote, names []string) {
	if len(names) == 0 {
		return
	}
	c.App.Loop.RecordDeed(history.Deed{What: note.verb + " " + strings.Join(names, ", "), Result: note.text})
	more := ""
	if n := len(names) - maxNamed; n > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	c.App.Remarks.Add(strings.ToUpper(note.text[:1]) + note.text[1:] + ": " + strings.Join(names, ", ") + more + ". Read them again before you edit them.")
}

// Stopped reports an undo, or a write of several files, during which a process died, or "".
func Stopped(root *workspace.Root) string {
	back, s := root.TakenBack(), root.Stopped()
	switch {
	case back.Of > 0 && len(back.Names) == 0:
		return fmt.Sprintf("The program was stopped while it changed %d files. These changes could not be reverted: %s. /diff shows them.", back.Of, strings.Join(back.Left, ", "))
	case back.Of > 0 && len(back.Left) > 0:
		return fmt.Sprintf("The program was stopped while it changed %d files. Its changes are reverted (%s), except files that have changed since: %s. /diff shows them.", back.Of, strings.Join(back.Names, ", "), strings.Join(back.Left, ", "))
	case back.Of > 0:
		return fmt.Sprintf("The program was stopped while it changed %d files. Its changes are reverted: %s.", back.Of, strings.Join(back.Names, ", "))
	case s.Of == 0:
		return ""
	}
	return fmt.Sprintf("The program ended during an undo: %d of %d files are restored. /redo reverses them; repeat the same undo to finish it.", s.Done, s.Of)
}

// OpenRoot opens the folder dir with its undo journal, after recording there the changes by
// commands whose session was killed. The journal is closed in between, so that these changes
// are not in use and can be forgotten. remark gets lines for a person.
func OpenRoot(ctx context.Context, cfg config.Config, dir string, remark func(line string)) (*workspace.Root, error) {
	root, err := app.OpenRoot(cfg, dir, remark)
	if err != nil {
		return nil, err
	}
	if note := Stopped(root); note != "" {
		remark(note)
	}
	lines, err := effects.New(root, effects.Options{Home: cfg.Home, Include: cfg.UndoIgnored}).Recover(ctx)
	if err = errors.Join(err, root.Close()); err != nil {
		return nil, err
	}
	for _, line := range lines {
		remark(line)
	}
	return app.OpenRoot(cfg, dir, remark)
}

// Names returns the names of the files that a plan changes.
func Names(plan undo.Plan) []string {
	var names []string
	for _, c := range plan.Changes {
		names = append(names, c.Name)
	}
	return names
}

// UndoError turns an error of undo.Find into a message.
func UndoError(err error) error {
	switch {
	case errors.Is(err, undo.ErrNothing):
		return errors.New("there is nothing to undo in this folder")
	case errors.Is(err, workspace.ErrStale):
		return fmt.Errorf("nothing was undone, because later changes would be lost: %w", err)
	}
	return err
}
