package tools

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

func TestPresentPlan(t *testing.T) {
	const plan = "# Mend the parser\n\n1. Read it.\n"
	b := newBench(t, nil)
	b.want(b.call("present_plan", m{"plan": plan}), true, "the permission mode is not plan")
	b.deps.Planning = func() bool { return true }
	b.set = NewSet(b.deps)
	b.want(b.call("present_plan", m{"plan": " \n"}), true, "the plan is empty")
	b.want(b.call("present_plan", m{"plan": strings.Repeat("x", maxPlanText+1)}), true, "65537 bytes, the limit is 65536")
	if len(b.ask.asked) != 0 {
		t.Fatalf("asked %d times", len(b.ask.asked))
	}

	edited := "1. Only read it.\n"
	for name, tt := range map[string]struct {
		verdict confirm.Verdict
		failed  bool
		told    string
		stop    bool
	}{
		"as it is": {confirm.Verdict{Decision: confirm.Approve, Mode: "default"}, false, "accepted this plan unchanged. Carry it out now.", false},
		"edited":   {confirm.Verdict{Decision: confirm.Approve, Mode: "accept-edits", Texts: confirm.Text(edited)}, false, "that it leaves out:\n\n" + edited, false},
		"comment":  {confirm.Verdict{Feedback: "and the tests?"}, true, "revise the plan and present it again.\nThe user says: and the tests?", false},
		"go on":    {confirm.Verdict{}, true, "Plan mode continues", true},
		"nobody":   {confirm.Verdict{Unasked: true}, false, "the plan is the answer", false},
	} {
		b.ask.verdict, b.ask.asked = tt.verdict, nil
		res := b.call("present_plan", m{"plan": plan})
		b.want(res, tt.failed, tt.told)
		if res.Stop != tt.stop || (res.Answer == plan) != tt.verdict.Unasked {
			t.Errorf("%s: %+v", name, res)
		}
		if accepted := tt.verdict.Decision == confirm.Approve; (res.Plan != "") != accepted || accepted && tt.verdict.Edited() == nil && res.Plan != plan {
			t.Errorf("%s: the accepted plan: %q", name, res.Plan)
		}
		if asked := b.ask.asked; len(asked) != 1 || confirm.As[*confirm.Document](asked[0]) == nil || confirm.As[*confirm.Document](asked[0]).Text != plan {
			t.Errorf("%s: asked %+v", name, asked)
		}
		if tt.verdict.Edited() != nil && (!strings.HasSuffix(res.Record.Words, edited) || strings.Contains(res.ForModel, "Mend")) {
			t.Errorf("%s: the edited text does not count alone: %+v", name, res)
		}
	}
	if got, _ := b.set.Title("present_plan", []byte(`{"plan":"\n## Mend it\nx"}`)); got != "Plan: Mend it" {
		t.Errorf("title %q", got)
	}
}
