package plain

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// TestARule: the rule and its term are asked for one after the other; a wrong one is
// explained, and n goes back to the question.
func TestARule(t *testing.T) {
	req := running("x a")
	req.Offer = &confirm.Offer{Rule: "run(x *)", Check: func(rule string) error {
		if !strings.HasPrefix(rule, "run(x") {
			return errors.New("it does not cover this command")
		}
		return nil
	}}
	always := func(rule string, term confirm.Term) confirm.Verdict {
		return confirm.Verdict{Decision: confirm.Approve, Always: &confirm.Always{Rule: rule, Term: term}}
	}
	for name, tt := range map[string]struct {
		opt   Options
		lines string
		want  confirm.Verdict
	}{
		"here":       {Options{}, "here", always("run(x *)", confirm.Term{Project: true})},
		"offered":    {Options{}, "rule||", always("run(x *)", confirm.Term{})},
		"changed":    {Options{}, "rule|run(x a)|project", always("run(x a)", confirm.Term{Project: true})},
		"uses":       {Options{}, "rule||10 times", always("run(x *)", confirm.Term{Uses: 10})},
		"hours":      {Options{}, "rule||2 hours", always("run(x *)", confirm.Term{Time: 2 * time.Hour})},
		"wrong":      {Options{}, "rule|run(y)|run(x a)|some days|0 times|1 time", always("run(x a)", confirm.Term{Uses: 1})},
		"back":       {Options{}, "rule|n|y", confirm.Verdict{Decision: confirm.Approve}},
		"back later": {Options{}, "rule||no|n", confirm.Verdict{}},
		"by number":  {Options{Labels: true}, "4||", always("run(x *)", confirm.Term{})},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var v confirm.Verdict
				var err error
				d := sit(t, tt.opt, asking(req, &v, &err))
				d.enter("go\n")
				for line := range strings.SplitSeq(tt.lines, "|") {
					d.read()
					d.enter(line + "\n")
				}
				tt.want.By = confirm.Terminal
				if diff := cmp.Diff(tt.want, v); diff != "" || err != nil {
					t.Errorf("%v %s\n%s", err, diff, d.printed())
				}
				if name == "wrong" && !strings.Contains(d.printed(), "it does not cover this command") {
					t.Error(d.printed())
				}
				d.leave(d.printed()+"\n", "go")
			})
		})
	}
}
