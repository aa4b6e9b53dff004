package panel

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// question is the body of a question of the model, with its options.
type question struct {
	confirm.Choice
	look  theme.Look
	lines []string
}

func newQuestion(c confirm.Choice, look theme.Look) *question {
	q := &question{Choice: c, look: look}
	q.Resize(look.Width)
	return q
}

// Header says whose question it is.
func (q *question) Header() []string {
	return hint(q.look, q.look.Styles.User, sanitize.Line(cmp.Or(q.From, "the model"))+" asks")
}

func (q *question) Len() int { return len(q.lines) }

func (q *question) Lines(offset, height int) []string {
	offset = max(0, min(offset, len(q.lines)))
	return q.lines[offset:min(len(q.lines), offset+max(0, height))]
}

// Resize wraps the text for a width in columns.
func (q *question) Resize(width int) {
	q.look.Width, q.lines = width, nil
	for line := range strings.Lines(strings.ReplaceAll(sanitize.Exact(q.Text), "\t", "    ")) {
		q.lines = append(q.lines, theme.Wrap(strings.TrimRight(line, "\n"), "", width)...)
	}
	for i, o := range q.Options {
		q.lines = append(q.lines, theme.Wrap(fmt.Sprintf("%d  %s", i+1, exactLine(o)), "", width)...)
	}
}

// exactLine is sanitize.Exact on one line.
func exactLine(s string) string { return sanitize.Line(sanitize.Exact(s)) }

// verdict returns the answer of a key; yes reports that all of the question was visible.
func (q *question) verdict(key string, yes bool) (confirm.Verdict, bool) {
	v := confirm.Verdict{By: me}
	option := q.option(key)
	switch {
	case key == "n":
		return v, true
	case option == "" || !yes:
		return v, false
	}
	v.Decision, v.Answer = confirm.Approve, option
	return v, true
}

// option returns the answer that a key takes; "" for any other key, and if q is nil.
func (q *question) option(key string) string {
	n, err := strconv.Atoi(key)
	if q == nil || err != nil || n < 1 || n > len(q.Options) {
		return ""
	}
	return q.Options[n-1]
}

// keys returns the keys that answer.
func (q *question) keys(esc string) []string {
	keys := []string{"c answer in your own words", "n no answer", esc}
	switch n := len(q.Options); n {
	case 0:
		return keys
	case 1:
		return append([]string{"1 takes the answer"}, keys...)
	default:
		return append([]string{fmt.Sprintf("1 to %d take an answer", n)}, keys...)
	}
}
