package panel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// question is the body of a question of the model, with its options.
type question struct {
	usual
	confirm.Choice
	look theme.Look
	rows
}

func newQuestion(p *Panel, c confirm.Choice) *question {
	q := &question{usual: usual{panel: p}, Choice: c, look: p.look}
	q.Resize(p.look.Width)
	return q
}

// Header says whose question it is.
func (q *question) Header() []string {
	return hint(q.look, q.look.Styles.User, sanitize.Line(cmp.Or(q.From, "the model"))+" asks")
}

// Resize wraps the text for a width in columns.
func (q *question) Resize(width int) {
	q.look.Width, q.rows = width, nil
	for line := range strings.Lines(strings.ReplaceAll(sanitize.Exact(q.Text), "\t", "    ")) {
		q.rows = append(q.rows, theme.Wrap(strings.TrimRight(line, "\n"), "", width)...)
	}
	for i, o := range q.Options {
		q.rows = append(q.rows, theme.Wrap(fmt.Sprintf("%d  %s", i+1, exactLine(o)), "", width)...)
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

// option returns the answer that a key takes; "" for any other key.
func (q *question) option(key string) string {
	n, err := strconv.Atoi(key)
	if err != nil || n < 1 || n > len(q.Options) {
		return ""
	}
	return q.Options[n-1]
}

func (q *question) label(int) string { return "answer: " }

func (q *question) said(text string) confirm.Verdict {
	return confirm.Verdict{By: me, Decision: confirm.Approve, Answer: text}
}

func (q *question) brief() []string {
	keys := q.answers()
	if len(q.panel.more()) > 0 {
		keys = slices.Insert(keys, 2, "? keys")
	}
	return keys
}

// answers returns the keys that answer.
func (q *question) answers() []string {
	keys := []string{"c answer in your own words", "n no answer", q.panel.esc()}
	switch n := len(q.Options); n {
	case 0:
		return keys
	case 1:
		return append([]string{"1 takes the answer"}, keys...)
	default:
		return append([]string{fmt.Sprintf("1 to %d take an answer", n)}, keys...)
	}
}
