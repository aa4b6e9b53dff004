package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// mostFindings is the number of a check's problems that a result lists, and of the lines of
// its output.
const mostFindings = 20

// check returns the check of a change; nil without one.
func (w writer) check(c workspace.Change) *confirm.Check {
	if w.Check == nil || c.Moves() || c.Raw != nil {
		return nil
	}
	return w.Check(c)
}

// checked tells the model that a check failed whose proposal was approved as it was.
func (w writer) checked(c *confirm.Check, v confirm.Verdict) string {
	res, done := c.Result()
	if !done || v.Text != nil || !res.Red() {
		return ""
	}
	return fmt.Sprintf("\nThe user saw that the check `%s` fails since this edit:\n%s", oneLine(res.Title, maxTitle), w.findings(res))
}

// sentBack returns the result of a proposal that a check refused without a question.
func (w writer) sentBack(c *confirm.Check) Result {
	res, _ := c.Result()
	out := failed("Not shown to the user yet, and nothing was changed: the check `%s` fails with this edit. Propose it again without these problems:\n%s", oneLine(res.Title, maxTitle), w.findings(res))
	out.ForUser = oneLine(res.Line(), maxTitle) + "; back to the model"
	out.Record = Record{Result: "not proposed: its check failed"}
	return out
}

// findings lists the new problems of a check, or else the end of its output.
func (w writer) findings(res confirm.CheckResult) string {
	var lines []string
	for _, p := range res.Problems {
		name := p.Path
		if _, rel, err := w.Root.Resolve(p.Path); err == nil {
			name = rel
		}
		lines = append(lines, fmt.Sprintf("%s:%d: %s", name, p.Line, oneLine(p.Text, 300)))
	}
	if len(lines) > mostFindings {
		lines = append(lines[:mostFindings], fmt.Sprintf("%d more", len(lines)-mostFindings))
	}
	if len(lines) == 0 {
		all := slices.Collect(strings.Lines(strings.TrimSpace(res.Output)))
		for _, l := range all[max(0, len(all)-mostFindings):] {
			lines = append(lines, oneLine(l, 300))
		}
	}
	return strings.Join(lines, "\n")
}
