package panel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
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

// verdict returns the answer of an action; yes reports that all of the question was visible.
func (q *question) verdict(a keys.Action, yes bool) (confirm.Verdict, bool) {
	v := confirm.Verdict{By: me}
	option := q.option(a)
	switch {
	case a == keys.Reject:
		return v, true
	case option == "" || !yes:
		return v, false
	}
	v.Decision, v.Answer = confirm.Approve, option
	return v, true
}

// option returns the answer that an action takes; "" for any other action.
func (q *question) option(a keys.Action) string {
	if n := a.Number(); n > 0 && n <= len(q.Options) {
		return q.Options[n-1]
	}
	return ""
}

func (q *question) label(int) string { return "answer: " }

func (q *question) said(text string) confirm.Verdict {
	return confirm.Verdict{By: me, Decision: confirm.Approve, Answer: text}
}

func (q *question) brief() []string {
	out := q.answers()
	if len(q.panel.legend.more()) > 0 {
		out = slices.Insert(out, 2, q.panel.legend.hint("keys", keys.MoreKeys))
	}
	return out
}

// answers returns the keys that answer.
func (q *question) answers() []string {
	p := q.panel
	out := []string{p.legend.hint("answer in your own words", keys.Comment), p.legend.hint("no answer", keys.Reject), p.legend.esc()}
	switch n := len(q.Options); n {
	case 0:
		return out
	case 1:
		return append([]string{p.legend.hint("takes the answer", keys.Answer1)}, out...)
	default:
		return append([]string{p.legend.hint(fmt.Sprintf("to %d take an answer", n), keys.Answer1)}, out...)
	}
}
