package ide

import (
	"context"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// maxOutput is the size of a check's output that the editor gets, in bytes.
const maxOutput = 64 << 10

// check shows the check of a proposal in the editor: first that it runs, then its result.
// An editor that shows none, or does not answer, changes nothing.
func (v *Reviewer) check(ctx context.Context, l *link, q *question) {
	check := q.req.Check
	if check == nil || q.text() != q.change.After {
		return
	}
	tell := func(c client.Check) error {
		c.Text = sanitize.Line(c.Text)
		ctx, cancel := l.within(ctx, callTimeout)
		defer cancel()
		return l.client.Diffs.SetCheck(ctx, q.id(), c)
	}
	if _, done := check.Result(); !done && tell(client.Check{State: client.CheckRunning, Text: check.Title + " …"}) != nil {
		return
	}
	select {
	case <-check.Done():
	case <-ctx.Done():
		return
	}
	res, _ := check.Result()
	_ = tell(shownCheck(res, q.change.Path)) // the terminal has it too
}

// shownCheck returns a result for the editor, with the new problems of the file at path.
func shownCheck(res confirm.CheckResult, path string) client.Check {
	c := client.Check{State: client.CheckPassed, Text: res.Line(), Output: sanitize.Exact(res.Output)}
	if len(c.Output) > maxOutput {
		c.Output = strings.ToValidUTF8(c.Output[:maxOutput], "") + "\n…"
	}
	switch {
	case res.Missing != "":
		c.State = client.CheckUnknown
	case res.Red():
		c.State = client.CheckFailed
	}
	for _, p := range res.In(path) {
		c.Problems = append(c.Problems, client.CheckProblem{Line: p.Line, Column: p.Column, Warning: p.Warning, Text: sanitize.Line(p.Text)})
	}
	return c
}

// refusal returns the refused proposal before q for the editor, or nil.
func (q *question) refusal() *client.Refused {
	last := q.req.Refused
	if last == nil {
		return nil
	}
	out := &client.Refused{Text: last.Text, Feedback: last.Feedback}
	for _, c := range last.Comments {
		out.Comments = append(out.Comments, client.RefusedComment{Line: c.Line, Text: c.Text})
	}
	return out
}
