package panel_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
)

// offering is a command with a rule; rules with "bad" in them may not be made.
func offering(line, rule string) confirm.Request {
	req := command(line)
	req.Offer = &confirm.Offer{Rule: rule, Check: func(rule string) error {
		if strings.Contains(rule, "bad") {
			return errors.New("it is bad")
		}
		return nil
	}}
	return req
}

func TestKeysMakeARule(t *testing.T) {
	always := func(rule string, term confirm.Term) confirm.Verdict {
		return confirm.Verdict{Decision: confirm.Approve, By: "terminal", Always: &confirm.Always{Rule: rule, Term: term}}
	}
	for name, tc := range map[string]struct {
		keys    string
		outcome panel.Outcome
		verdict confirm.Verdict
	}{
		"opened":          {"A", panel.Handled, confirm.Verdict{}},
		"session":         {"A enter", panel.Answered, always("run(x *)", confirm.Term{})},
		"project":         {"A tab enter", panel.Answered, always("run(x *)", confirm.Term{Project: true})},
		"uses":            {"A tab tab up enter", panel.Answered, always("run(x *)", confirm.Term{Uses: 11})},
		"time":            {"A shift+tab up enter", panel.Answered, always("run(x *)", confirm.Term{Time: 2 * time.Hour})},
		"round":           {"A tab tab tab tab enter", panel.Answered, always("run(x *)", confirm.Term{})},
		"edited":          {"A backspace backspace backspace ) enter", panel.Answered, always("run(x)", confirm.Term{})},
		"answers as text": {"A y n a enter", panel.Answered, always("run(x *)yna", confirm.Term{})},
		"refused":         {"A b a d enter", panel.Handled, confirm.Verdict{}},
		"mended":          {"A b a d enter backspace enter", panel.Answered, always("run(x *)ba", confirm.Term{})},
		"back":            {"A b a d esc", panel.Handled, confirm.Verdict{}},
		"back, and yes":   {"A esc y", panel.Answered, confirm.Verdict{Decision: confirm.Approve, By: "terminal"}},
		"opened again":    {"A b a d esc A enter", panel.Answered, always("run(x *)", confirm.Term{})},
	} {
		o, v := press(ready(offering("x a", "run(x *)"), 20), strings.Fields(tc.keys)...)
		if d := cmp.Diff(tc.verdict, v); o != tc.outcome || d != "" {
			t.Errorf("%s: %v, %s", name, o, d)
		}
	}
	if o, v := press(ready(command("x"), 20), "A", "enter"); o == panel.Answered {
		t.Errorf("no rule is offered: %+v", v)
	}
	long := ready(offering(strings.Repeat("x\n", 60), "run(x)"), 12)
	if o, v := press(long, "A", "enter"); o == panel.Answered {
		t.Errorf("the end of the command was not visible: %+v", v)
	}
}

// TestRuleAboutEdits: it approves the change on the screen, once all of it has been visible
// and if no hunk is left out.
func TestRuleAboutEdits(t *testing.T) {
	offered := func(req confirm.Request) confirm.Request {
		req.Offer = offering("", "edit(docs/**)").Offer
		return req
	}
	mine := "mine\n"
	p := ready(offered(edit()), 20)
	p.Propose(mine, start)
	p.View(20)
	p.Wait(start.Add(2 * time.Hour))
	if o, v := press(p, "A", "enter"); o != panel.Answered || v.Edited() == nil || *v.Edited() != mine || v.Always == nil {
		t.Errorf("%v %+v", o, v)
	}
	long := edit()
	long.File().After = strings.Repeat("line\n", 60)
	p = ready(offered(long), 12)
	if o, v := press(p, "A", "enter"); o == panel.Answered {
		t.Errorf("the end was not visible: %+v", v)
	}
	if view := strings.Join(p.View(12), "\n"); !strings.Contains(view, "You have not seen lines") {
		t.Error(view)
	}
	p = ready(offered(program()), 40)
	if o, v := press(p, "]", "space", "A", "enter"); o == panel.Answered && v.Always != nil {
		t.Errorf("a hunk is left out: %+v", v)
	}
}

// A panel that is not armed again yet takes text for the rule, but no answer.
func TestRuleWaitsToBeArmed(t *testing.T) {
	p := ready(offering("x a", "run(x *)"), 20)
	press(p, "A")
	p.Shown(start.Add(2 * time.Hour))
	if o, _ := press(p, "enter"); o != panel.Handled {
		t.Error(o)
	}
}
