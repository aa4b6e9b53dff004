package toolcall

import (
	"fmt"
	"strings"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/confirm"
)

// UnansweredError wraps an error of the Asker: nothing was done and the turn cannot go
// on.
type UnansweredError struct{ Err error }

func (u UnansweredError) Error() string { return u.Err.Error() }
func (u UnansweredError) Unwrap() error { return u.Err }

// Limits of a title and an error message in characters. The cause of an error often comes
// last, after long paths.
const (
	MaxTitle   = 120
	MaxFailure = 400
)

// OneLine returns s on one line, cut to limit characters.
func OneLine(s string, limit int) string {
	return clip.Runes(clip.Line(s[:min(len(s), 8*limit)]), limit)
}

// Failed returns the result of a failed call. format is as in fmt.Errorf.
func Failed(format string, args ...any) Result {
	msg := fmt.Errorf(format, args...).Error()
	first, _, _ := strings.Cut(msg, "\n")
	return Result{ForModel: msg, ForUser: OneLine(first, MaxFailure), Failed: true}
}

// Declined returns the result of a "no" to a tool; effect describes its consequence, files are as in
// Feedback. If the user gave no reason, the turn stops: the model could only guess.
func Declined(tool, what, effect string, v confirm.Verdict, files ...string) Result {
	res := Result{Failed: true, Denied: &Denied{Tool: tool, Reason: v.Feedback, AllowWith: v.AllowWith}, Record: Record{Result: "declined by the user", Words: Words(v, files...)}}
	switch {
	case v.Unasked:
		res.ForModel = "Not done: this " + what + " needs an answer from the user, and nobody could be asked. Continue without it, or tell the user what you need."
		if v.Feedback == "" {
			res.Denied.Reason = "nobody could be asked"
		}
		res.Record = Record{Result: "not done: " + res.Denied.Reason}
		res.ForUser = OneLine(res.Denied.Reason, MaxTitle)
		return res
	case v.Rule:
		res.ForModel = "This " + what + " was refused by the " + v.By + ". " + effect + Feedback(v, files...)
		res.Record.Result = "refused by the " + v.By
	default:
		res.ForModel = "The user declined this " + what + ". " + effect + Feedback(v, files...)
		res.Stop = v.Feedback == "" && len(v.Comments) == 0
	}
	res.ForUser = "declined"
	switch {
	case v.Feedback == "":
		res.Denied.Reason = "declined"
	case v.Rule && !strings.Contains(v.Feedback, v.By): // its words are for the model
		res.Denied.Reason = "refused by the " + v.By
		res.ForUser = OneLine(res.Denied.Reason, MaxTitle)
	default:
		res.ForUser = OneLine("declined: "+v.Feedback, MaxTitle)
	}
	for _, c := range v.Comments {
		res.ForUser += fmt.Sprintf("\nline %d: %s", c.Line, OneLine(c.Text, MaxTitle))
	}
	return res
}

// Feedback formats the reviewer's words, each on a new line, to follow a sentence. files are the
// names of the proposed files if they were a list.
func Feedback(v confirm.Verdict, files ...string) string {
	var b strings.Builder
	switch {
	case v.Feedback == "":
	case v.Rule:
		b.WriteString("\n" + v.Feedback)
	default:
		b.WriteString("\nThe user says: " + v.Feedback)
	}
	for _, c := range v.Comments {
		of := ""
		if c.Quote != "" {
			of = fmt.Sprintf(", %q", c.Quote)
		}
		if c.File >= 0 && c.File < len(files) {
			of = " for " + files[c.File]
		}
		fmt.Fprintf(&b, "\nThe user's comment on line %d of the proposal%s: %s", c.Line, of, c.Text)
	}
	return b.String()
}

// Words is Feedback for the record.
func Words(v confirm.Verdict, files ...string) string {
	return strings.TrimPrefix(Feedback(v, files...), "\n")
}
