package tools

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/edit"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// UnansweredError wraps an error of the Asker: nothing was done and the turn cannot go
// on.
type UnansweredError struct{ Err error }

func (u UnansweredError) Error() string { return u.Err.Error() }
func (u UnansweredError) Unwrap() error { return u.Err }

// changeNotes returns the notes for a reviewer of c, and whether a person has to look at
// it whatever the mode.
func (d Deps) changeNotes(c workspace.Change, stage edit.Stage) (notes []caution.Note, force bool) {
	if stage != edit.Exact {
		notes = append(notes, caution.Note{Kind: caution.Loose, Text: fmt.Sprintf("The text matched only after %s.", stage)})
		force = stage.Loose()
	}
	place, in := placeNotes(c.Name, c.Path, d.Home)
	notes, force = append(notes, place...), force || in
	if c.Moves() {
		place, in = placeNotes(c.ToName, c.To, d.Home)
		notes, force = append(notes, place...), force || in
		if why := d.moveReveals(c); why != "" {
			notes = append(notes, caution.Note{Kind: caution.Protected, Text: fmt.Sprintf("%s %s: as %s, it is read without a question.", c.Name, why, c.ToName)})
			force = true
		}
	}
	if c.Moves() && c.After == c.Text {
		return notes, force
	}
	for _, n := range caution.Of(diff.Lines(c.Text, c.After), c.Text, c.After, c.Exists) {
		notes = append(notes, n)
		force = force || n.Kind == caution.Hidden || n.Kind == caution.LookAlike
	}
	if c.Exists && c.Mode&0o111 != 0 {
		notes = append(notes, caution.Note{Kind: caution.Executable, Text: c.Name + " is executable."})
	}
	return notes, force
}

// moveReveals explains why a move makes a text readable without a question; "" if it does not.
func (d Deps) moveReveals(c workspace.Change) string {
	if d.withheld(c.ToName, c.To) {
		return ""
	}
	if keys := permission.MoveReveals(c.Name, c.Path, c.ToName, c.To, d.Home); keys != "" {
		return keys
	}
	if d.withheld(c.Name, c.Path) && permission.Keys(c.ToName, c.To, d.Home) == "" {
		return "is kept from the model by a rule"
	}
	return ""
}

// placeNotes returns the notes about the path of a change.
func placeNotes(name, abs, home string) (notes []caution.Note, force bool) {
	if why := permission.Protected(name, abs, home); why != "" {
		notes = append(notes, caution.Note{Kind: caution.Protected, Text: fmt.Sprintf("%s is protected: %s.", name, why)})
	}
	notes = append(notes, caution.InName(name)...)
	return notes, len(notes) > 0
}

// readNotes returns the notes for a reviewer of a read outside the workspace, and whether
// a person has to look at it whatever was answered before.
func (d Deps) readNotes(abs string, folder bool) (notes []caution.Note, force bool) {
	if folder {
		notes = caution.Notes("This is a folder: everything in it may be read from then on, except places that usually hold keys.")
	}
	if permission.Secret(abs) || permission.Credentials(abs) != "" || d.ofOurs(abs) {
		notes = append(notes, caution.Notes("Files here often hold keys or passwords, which would be sent to the model.")...)
		force = true
	}
	return notes, force
}

// nothingChanged is the effect of a declined edit.
const nothingChanged = "Nothing was changed."

// declined returns the result of a "no" to a tool; effect describes its consequence. If
// the user gave no reason, the turn stops: the model could only guess.
func declined(tool, what, effect string, v confirm.Verdict) Result {
	res := Result{Failed: true, Denied: &Denied{Tool: tool, Reason: v.Feedback, AllowWith: v.AllowWith}, Record: Record{Result: "declined by the user", Words: feedbackForRecord(v, "")}}
	switch {
	case v.Unasked:
		res.ForModel = "Not done: this " + what + " needs an answer from the user, and nobody could be asked. Continue without it, or tell the user what you need."
		if v.Feedback == "" {
			res.Denied.Reason = "nobody could be asked"
		}
		res.Record = Record{Result: "not done: " + res.Denied.Reason}
		res.ForUser = oneLine(res.Denied.Reason, maxTitle)
		return res
	case v.Rule:
		res.ForModel = "This " + what + " was refused by the " + v.By + ". " + effect + feedbackForModel(v)
		res.Record.Result = "refused by the " + v.By
	default:
		res.ForModel = "The user declined this " + what + ". " + effect + feedbackForModel(v)
		res.Stop = v.Feedback == "" && len(v.Comments) == 0
	}
	res.ForUser = "declined"
	switch {
	case v.Feedback == "":
		res.Denied.Reason = "declined"
	case v.Rule && !strings.Contains(v.Feedback, v.By): // its words are for the model
		res.Denied.Reason = "refused by the " + v.By
		res.ForUser = oneLine(res.Denied.Reason, maxTitle)
	default:
		res.ForUser = oneLine("declined: "+v.Feedback, maxTitle)
	}
	for _, c := range v.Comments {
		res.ForUser += fmt.Sprintf("\nline %d: %s", c.Line, oneLine(c.Text, maxTitle))
	}
	return res
}

// feedbackForModel formats the reviewer's feedback, each item on a new line, to follow a
// sentence.
func feedbackForModel(v confirm.Verdict) string {
	var b strings.Builder
	b.WriteString(reasonOf(v))
	for _, c := range v.Comments {
		quote := ""
		if c.Quote != "" {
			quote = fmt.Sprintf(", %q", c.Quote)
		}
		fmt.Fprintf(&b, "\nThe user's comment on line %d of the proposal%s: %s", c.Line, quote, c.Text)
	}
	return b.String()
}

// reasonOf formats the reviewer's words without the comments.
func reasonOf(v confirm.Verdict) string {
	switch {
	case v.Feedback == "":
		return ""
	case v.Rule:
		return "\n" + v.Feedback
	}
	return "\nThe user says: " + v.Feedback
}

// feedbackForRecord formats the reviewer's feedback alone, after the patch of the
// reviewer's own changes, if any.
func feedbackForRecord(v confirm.Verdict, patch string) string {
	words := feedbackForModel(v)
	if patch != "" {
		return "From the proposal to what was written:\n" + strings.TrimSuffix(patch, "\n") + words
	}
	return strings.TrimPrefix(words, "\n")
}

// withApproved adds to r, the result of an approval after which nothing was written, the patch
// of the reviewer's own changes, if any, and the words: they are nowhere else.
func (r Result) withApproved(patch, words string) Result {
	record := words
	if patch != "" {
		r.ForModel += "\nThe user had changed the proposal before approving it. If you propose the edit again, propose the user's version. From your proposal to it:\n" + strings.TrimSuffix(patch, "\n")
		record = "From the proposal to what was approved:\n" + strings.TrimSuffix(patch, "\n") + words
	}
	r.ForModel += words
	r.Record.Words = strings.TrimPrefix(record, "\n")
	return r
}

// maxPatch is the largest patch in a result, in bytes.
const maxPatch = 10_000

// clipPatch returns patch, or its first lines if it is too long.
func clipPatch(patch string) string {
	if len(patch) <= maxPatch {
		return patch
	}
	cut := strings.LastIndexByte(patch[:maxPatch], '\n') + 1
	return patch[:cut] + "[the rest is left out: read the file]\n"
}
