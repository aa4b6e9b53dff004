package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// mostFindings is the number of a check's problems that a result lists, and of the lines of
// its output.
const mostFindings = 20

// checked tells the model that a check failed whose proposal was approved as it was.
func (r *review) checked(a approval) string {
	res, done := a.check.Result()
	if v := a.verdict; !done || len(v.Texts) > 0 || len(v.Except) > 0 || !res.Red() {
		return ""
	}
	return fmt.Sprintf("\nThe user saw that the check `%s` fails since this edit:\n%s", toolcall.OneLine(res.Title, toolcall.MaxTitle), r.findings(res))
}

// sentBack returns the result of a proposal that a check refused without a question.
func (r *review) sentBack(c *confirm.Check) *toolcall.Result {
	again := "Propose it again without these problems"
	if r.Tool == Review {
		again = "The changes are still pending; mend these problems by further edits"
	}
	res, _ := c.Result()
	out := refusal("Not shown to the user yet, and nothing was changed: the check `%s` fails with this edit. %s:\n%s", toolcall.OneLine(res.Title, toolcall.MaxTitle), again, r.findings(res))
	out.ForUser = toolcall.OneLine(res.Line(), toolcall.MaxTitle) + "; back to the model"
	out.Record = toolcall.Record{Result: "not proposed: its check failed"}
	return out
}

// findings lists the new problems of a check, or else the end of its output.
func (w Writer) findings(res confirm.CheckResult) string {
	var lines []string
	for _, p := range res.Problems {
		name := p.Path
		if _, rel, err := w.Root.Resolve(p.Path); err == nil {
			name = rel
		}
		lines = append(lines, fmt.Sprintf("%s:%d: %s", name, p.Line, toolcall.OneLine(p.Text, 300)))
	}
	if len(lines) > mostFindings {
		lines = append(lines[:mostFindings], fmt.Sprintf("%d more", len(lines)-mostFindings))
	}
	if len(lines) == 0 {
		all := slices.Collect(strings.Lines(strings.TrimSpace(res.Output)))
		for _, l := range all[max(0, len(all)-mostFindings):] {
			lines = append(lines, toolcall.OneLine(l, 300))
		}
	}
	return strings.Join(lines, "\n")
}
