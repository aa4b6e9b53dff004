package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/tools/notes"

	"github.com/bb2d0cf4/agent/internal/workspace"
)

// writer is the one way from a computed text to a file on disk; all writing
// tools take it.
type writer struct {
	Deps
	tool string
}

// errMissing is returned by a compute function that needs a file that exists.
var errMissing = errors.New("there is no such file")

// apply computes the new text of the file at path, has it reviewed, writes what
// was approved and tells the model what the file holds now.
func (w writer) apply(ctx context.Context, call Call, path string, compute func(workspace.File) (edit.Outcome, error)) (Result, error) {
	if res, err := w.settle(ctx, call, path); err != nil {
		return Result{}, err
	} else if res != nil {
		return *res, nil
	}
	var out edit.Outcome
	change, err := w.Root.Propose(path, func(f workspace.File) (string, error) {
		var err error
		out, err = compute(f)
		return out.Text, err
	})
	if errors.Is(err, errMissing) {
		return failed("%s does not exist.%s Use write_file to create it.", path, didYouMean(w.Root, path)), nil
	}
	if err != nil {
		return failed("%s: nothing was changed: %w", path, err), nil
	}
	if change.Exists && change.After == change.Text {
		return Result{
			ForModel: change.Name + " already holds exactly this: nothing was changed.", ForUser: "no change",
		}, nil
	}
	before := w.report(ctx, change.Path, 0, reportBefore)
	notes, force := notes.On(change, out.Stage, w.Home)
	lost := w.lost(change)
	if lost != "" {
		notes = append(notes, caution.Notes(lost)...)
	}
	v, err := w.Ask.Ask(ctx, confirm.Request{
		Tool: w.tool, Description: call.Description, Batch: call.Batch, Notes: notes, Force: force, Change: &change,
	})
	if err != nil {
		return Result{}, UnansweredError{err}
	}
	if v.Decision != confirm.Approve {
		return declined(w.tool, "edit", nothingChanged, v), nil
	}
	res, err := w.commit(ctx, call, change, v, out)
	if err == nil && len(res.Changes) > 0 {
		w.wrote(ctx, change, v)
		res.ForModel += w.news(ctx, change.Path, before)
	}
	if err == nil && lost != "" {
		res.ForModel += "\nBefore this edit: " + lost
	}
	return res, err
}

// commit writes the approved text, which may be the reviewer's own.
func (w writer) commit(ctx context.Context, call Call, change workspace.Change, v confirm.Verdict, out edit.Outcome) (Result, error) {
	final := change
	if v.Text != nil {
		final = workspace.NewContent(change, *v.Text)
	}
	if final.Exists && final.After == final.Text {
		return Result{
			ForModel: "The user changed the proposal back to what " + change.Name + " holds already: nothing was written." + verdictForModel(v),
			ForUser:  "no change",
			Record:   Record{Result: "nothing was written: the user changed the proposal back to what the file holds", Words: verdictForRecord(v, "")},
		}, nil
	}
	_, err := w.Root.Commit(ctx, final, workspace.Origin{Session: w.Session(), Turn: call.Turn, Call: call.ID, Tool: w.tool})
	switch {
	case errors.Is(err, workspace.ErrStale) && w.holds(final):
		res := written(change, final, v, out)
		res.ForUser += ", saved by the editor: not in /undo"
		return res, nil
	case errors.Is(err, workspace.ErrUnsettled):
		res := written(change, final, v, out)
		res.ForModel += "\nWarning: " + err.Error()
		res.ForUser += "; " + err.Error()
		return res, nil
	case errors.Is(err, workspace.ErrStale):
		return failed("%s changed while the edit was being reviewed: nothing was written. Read the file again and repeat the edit on what it holds now.", change.Name), nil
	case ctx.Err() != nil && err != nil:
		return Result{}, ctx.Err()
	case err != nil:
		return failed("%w", err), nil
	}
	return written(change, final, v, out), nil
}

// holds says that the file holds the approved text already: the editor in which
// it was approved has saved it.
func (w writer) holds(c workspace.Change) bool {
	f, err := w.Root.Read(c.Path)
	return err == nil && f.Exists && f.Text == c.After && (!c.Exists || f.Format.Encoding == c.Format.Encoding && f.Format.BOM == c.Format.BOM)
}

// written tells what became of an approved change.
func written(change, final workspace.Change, v confirm.Verdict, out edit.Outcome) Result {
	fc := fileChange(final)
	verb := "Wrote"
	if !final.Exists {
		verb = "Created"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d added, %d removed (lines)", verb, final.Name, fc.Added, fc.Removed)
	if out.Places > 1 {
		fmt.Fprintf(&b, ", %d places", out.Places)
	}
	b.WriteString(".")
	if out.Stage != edit.Exact {
		fmt.Fprintf(&b, " It matched only after %s.", out.Stage)
	}
	user := fmt.Sprintf("+%d −%d", fc.Added, fc.Removed)
	rec := Record{Words: verdictForRecord(v, "")}
	if final.After != change.After {
		patch := diff.Unified(final.Name, final.Name, change.After, final.After)
		rec.Result = user + ", changed by the user before it was written"
		rec.Words = verdictForRecord(v, patch)
		user += ", changed by you"
		b.WriteString("\nThe user changed the proposal before approving it. The file holds the user's version, which is final. From your proposal to it:\n")
		b.WriteString(boundedPatch(patch))
	}
	b.WriteString(verdictForModel(v))
	return Result{ForModel: b.String(), ForUser: user, Changes: []FileChange{fc}, Record: rec}
}

func fileChange(c workspace.Change) FileChange {
	before := c.Name
	if !c.Exists {
		before = ""
	}
	added, removed := diff.Count(c.Text, c.After)
	return FileChange{Path: c.Name, Added: added, Removed: removed, Diff: diff.Unified(before, c.Name, c.Text, c.After)}
}

// nothingChanged is what it means that an edit was declined.
const nothingChanged = "Nothing was changed."

// declined is the result of a "no" to what a tool wanted; effect is what that
// means. Without a word from the user the turn stops: the model could only guess.
func declined(tool, what, effect string, v confirm.Verdict) Result {
	res := Result{Failed: true, Denied: &Denied{tool, v.Feedback}, Record: Record{Result: "declined by the user", Words: verdictForRecord(v, "")}}
	switch {
	case v.NoWay:
		res.ForModel = "Not done: this " + what + " needs an answer from the user, and nobody could be asked. Go on without it, or say what is needed."
		if v.Feedback == "" {
			res.Denied.Reason = "nobody could be asked"
		}
		res.Record = Record{Result: "not done: " + res.Denied.Reason}
		res.ForUser = oneLine(res.Denied.Reason, maxTitle)
		return res
	case v.Rule:
		res.ForModel = "This " + what + " was refused by the " + v.By + ". " + effect + verdictForModel(v)
		res.Record.Result = "refused by the " + v.By
	default:
		res.ForModel = "The user declined this " + what + ". " + effect + verdictForModel(v)
		res.Stop = v.Feedback == "" && len(v.Comments) == 0
	}
	res.ForUser = "declined"
	if v.Feedback != "" {
		res.ForUser = oneLine("declined: "+v.Feedback, maxTitle)
	} else {
		res.Denied.Reason = "declined"
	}
	return res
}

// existing makes a compute function refuse a file that is not there.
func existing(compute func(workspace.File) (edit.Outcome, error)) func(workspace.File) (edit.Outcome, error) {
	return func(f workspace.File) (edit.Outcome, error) {
		if !f.Exists {
			return edit.Outcome{}, errMissing
		}
		return compute(f)
	}
}

// didYouMean names files in the folder of a missing one that are called
// alike, as a sentence.
func didYouMean(root *workspace.Root, path string) string {
	fsys, name, err := root.FS(filepath.Dir(path))
	if err != nil {
		return ""
	}
	list, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return ""
	}
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = d.Name()
	}
	near := nearest.Alike(filepath.Base(path), names, 3)
	if len(near) == 0 {
		return ""
	}
	for i, n := range near {
		near[i] = under(name, n)
	}
	return " Did you mean " + strings.Join(near, ", ") + "?"
}

// under returns the name of something in the folder with the given name.
func under(folder, name string) string {
	switch {
	case folder == "." || folder == "":
		return name
	case strings.HasSuffix(folder, "/"):
		return folder + name
	}
	return folder + "/" + name
}
