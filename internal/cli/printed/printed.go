// Package printed shows a conversation where there is no screen: as plain text, and
// as the changes that came of it. It guarantees that what it prints is safe to show.
package printed

import (
	"io"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/session"
)

// Printer writes a conversation as plain text, made safe to show. It stops at the
// first error.
type Printer struct {
	Diffs  Changes // of the conversation so far
	w      io.Writer
	err    error
	inText bool
}

// NewPrinter returns a Printer that writes to w.
func NewPrinter(w io.Writer) *Printer { return &Printer{w: w} }

// Err is the first error of a write.
func (o *Printer) Err() error { return o.err }

// Event prints what a reader of the conversation wants to see.
func (o *Printer) Event(ev session.Event) {
	o.Diffs.Take(ev)
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
		o.Line("  " + orElse(ev.Result.ForUser, "done"))
		if ev.Call.Name == "execute_command" {
			o.Line(indent(ev.Result.ForModel))
		}
	case session.Notice:
		o.Line("! " + ev.Text)
	}
}

// Line prints one line.
func (o *Printer) Line(s string) { o.print(sanitize.Text(s) + "\n") }

func (o *Printer) print(s string) {
	if o.err == nil {
		_, o.err = io.WriteString(o.w, s)
	}
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// Changes collects the diffs of what a session has changed. It is safe for
// concurrent use: the loop adds while the screen reads.
type Changes struct {
	mu    sync.Mutex
	diffs []string
}

// Take adds what a call has changed.
func (c *Changes) Take(ev session.Event) {
	ended, ok := ev.(session.CallEnded)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range ended.Result.Changes {
		c.diffs = append(c.diffs, ch.Diff)
	}
}

// Text returns the diffs in order.
func (c *Changes) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.diffs, "")
}

// Reset forgets them: a new session has begun.
func (c *Changes) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.diffs = nil
}
