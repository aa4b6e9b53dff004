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

// proposeAgain asks the model for a better proposal.
const proposeAgain = "Propose it again without these problems"

// check returns the check of changes that are asked about together; nil without one.
func (d Deps) check(changes ...workspace.Change) *confirm.Check {
	if d.Check == nil {
		return nil
	}
	return d.Check(changes...)
}

// checked tells the model that a check failed whose proposal was approved as it was.
func (d Deps) checked(c *confirm.Check, v confirm.Verdict) string {
	res, done := c.Result()
	if !done || len(v.Texts) > 0 || len(v.Except) > 0 || !res.Red() {
		return ""
	}
	return fmt.Sprintf("\nThe user saw that the check `%s` fails since this edit:\n%s", oneLine(res.Title, maxTitle), d.findings(res))
}

// sentBack returns the result of a proposal that a check refused without a question. again
// asks the model for a better one.
func (d Deps) sentBack(c *confirm.Check, again string) Result {
	res, _ := c.Result()
	out := failed("Not shown to the user yet, and nothing was changed: the check `%s` fails with this edit. %s:\n%s", oneLine(res.Title, maxTitle), again, d.findings(res))
	out.ForUser = oneLine(res.Line(), maxTitle) + "; back to the model"
	out.Record = Record{Result: "not proposed: its check failed"}
	return out
}

// findings lists the new problems of a check, or else the end of its output.
func (d Deps) findings(res confirm.CheckResult) string {
	var lines []string
	for _, p := range res.Problems {
		name := p.Path
		if _, rel, err := d.Root.Resolve(p.Path); err == nil {
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
