package headless

import (
	"cmp"
	"io"
	"strings"

	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Conversation writes a conversation as sanitized plain text. It stops at the first error.
type Conversation struct {
	w      io.Writer
	err    error
	inText bool
	diffs  strings.Builder // of the changes so far
}

// NewConversation returns a printer that writes to w.
func NewConversation(w io.Writer) *Conversation { return &Conversation{w: w} }

// Diffs returns the changes so far as unified diffs.
func (o *Conversation) Diffs() string { return o.diffs.String() }

// Err returns the first error of a write.
func (o *Conversation) Err() error { return o.err }

// Event prints an event, if it is one for people.
func (o *Conversation) Event(ev session.Event) {
	switch ev := ev.(type) {
	case session.TextDelta:
		if !o.inText {
			o.print("\nmodel: ")
		}
		o.inText = true
		o.print(sanitize.Text(ev.Text))
	case session.AnswerEnded:
		if o.inText {
			o.print("\n")
		}
		o.inText = false
	case session.CallStarted:
		o.Line("\n> " + ev.Title)
	case session.CallEnded:
		for _, ch := range ev.Result.Changes {
			o.diffs.WriteString(ch.Diff)
		}
		o.Line("  " + cmp.Or(ev.Result.ForUser, "done"))
		if ev.Call.Name == "execute_command" {
			o.Line(indent(ev.Result.ForModel))
		}
	case session.Notice:
		o.Line("! " + ev.Text)
	}
}

// Line prints one line.
func (o *Conversation) Line(s string) { o.print(sanitize.Text(s) + "\n") }

func (o *Conversation) print(s string) {
	if o.err == nil {
		_, o.err = io.WriteString(o.w, s)
	}
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
