package ide_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// offered is a proposal with a rule, which may be made unless it has "**" in it.
func (r *rig) offered() confirm.Request {
	req := r.proposal("old\n", "new\n")
	req.Offer = &confirm.Offer{Rule: "edit(a.txt)", Check: func(rule string) error {
		if strings.Contains(rule, "**") {
			return errors.New("it covers every file")
		}
		return nil
	}}
	return req
}

// offerOf returns the offer that the editor got with a diff.
func offerOf(t *testing.T, d *idetest.Diff) (rule, problem string) {
	t.Helper()
	var args struct {
		Offer struct{ Rule, Problem string }
	}
	if err := json.Unmarshal(d.Args, &args); err != nil {
		t.Fatal(err)
	}
	return args.Offer.Rule, args.Offer.Problem
}

// TestAlwaysInTheEditor: an acceptance may make the offered rule, or another that may be
// made, or allow all edits of the session.
func TestAlwaysInTheEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	for name, tt := range map[string]struct {
		always  map[string]any
		want    *confirm.Always
		session bool
	}{
		"this edit": {nil, nil, false},
		"session":   {map[string]any{"rule": "edit(*.txt)"}, &confirm.Always{Rule: "edit(*.txt)"}, false},
		"project":   {map[string]any{"rule": "edit(a.txt)", "project": true}, &confirm.Always{Rule: "edit(a.txt)", Term: confirm.Term{Project: true}}, false},
		"times":     {map[string]any{"rule": "edit(a.txt)", "uses": 10}, &confirm.Always{Rule: "edit(a.txt)", Term: confirm.Term{Uses: 10}}, false},
		"too often": {map[string]any{"rule": "edit(a.txt)", "uses": 1 << 40, "hours": -1}, &confirm.Always{Rule: "edit(a.txt)", Term: confirm.Term{Uses: 99}}, false},
		"time":      {map[string]any{"rule": "edit(a.txt)", "hours": 1}, &confirm.Always{Rule: "edit(a.txt)", Term: confirm.Term{Time: time.Hour}}, false},
		"all edits": {map[string]any{"session": true}, nil, true},
	} {
		req := r.offered()
		got := r.ask(t.Context(), req)
		d := e.NextDiff()
		if rule, problem := offerOf(t, d); rule != "edit(a.txt)" || problem != "" {
			t.Errorf("%s: offered %q, %q", name, rule, problem)
		}
		details := map[string]any{}
		if tt.always != nil {
			details["always"] = tt.always
		}
		d.AcceptWith(details)
		o, text := r.answered(got, req)
		if diff := cmp.Diff(tt.want, o.Always); diff != "" || o.Session != tt.session || text != "new\n" || o.err != nil {
			t.Errorf("%s: %+v, %q: %s", name, o, text, diff)
		}
	}
}

// acceptWithWrongRule asks, and types and accepts in e with a rule that may not be made.
func (r *rig) acceptWithWrongRule(t *testing.T, e *idetest.Editor, req confirm.Request) <-chan outcome {
	got := r.ask(t.Context(), req)
	d := e.NextDiff()
	d.Edit("newer\n")
	d.AcceptWith(map[string]any{"always": map[string]any{"rule": "edit(**)"}})
	return got
}

// TestAWrongRuleIsAskedAboutAgain: nothing is approved with a rule that may not be made; the
// editor gets the reason and the person's text.
func TestAWrongRuleIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.offered()
	got := r.acceptWithWrongRule(t, e, req)
	d := e.NextDiff()
	if _, problem := offerOf(t, d); !strings.Contains(problem, "The rule edit(**) was not made: it covers every file") {
		t.Errorf("told %q", problem)
	}
	if d.Text != "newer\n" {
		t.Errorf("shown again with %q", d.Text)
	}
	d.AcceptWith(map[string]any{"always": map[string]any{"rule": "edit(*.txt)"}})
	if o, text := r.answered(got, req); o.Always == nil || o.Always.Rule != "edit(*.txt)" || text != "newer\n" {
		t.Errorf("%+v with %q", o, text)
	}
}

// TestYesAfterAWrongRule takes the text that the terminal shows, as its note says, whatever is
// typed in the editor meanwhile.
func TestYesAfterAWrongRule(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.editor(idetest.Ours())
	req := r.offered()
	got := r.acceptWithWrongRule(t, e, req)
	e.NextDiff().Edit("newer still\n")
	r.untilNote("edited in Visual Studio Code +1 −1: accept it there; y takes the text shown here")
	<-r.terminal.shown
	r.terminal.answers <- yes
	if o, text := r.answered(got, req); text != "new\n" || o.err != nil {
		t.Errorf("%q is written: %+v", text, o)
	}
	e.WaitOpenDiffs(0)
}

// TestNoRuleIsOfferedInTheEditor: neither if none may be made, nor if the edit must be
// asked about, and one that is sent all the same has no effect.
func TestNoRuleIsOfferedInTheEditor(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*confirm.Request){
		"none":   func(req *confirm.Request) { req.Offer = nil },
		"forced": func(req *confirm.Request) { req.Force = true },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			e := r.editor(idetest.Ours())
			for _, always := range []map[string]any{{"rule": "edit(a.txt)"}, {"session": true}, {"rule": "edit(**)"}} {
				req := r.offered()
				change(&req)
				got := r.ask(t.Context(), req)
				d := e.NextDiff()
				if strings.Contains(string(d.Args), "offer") {
					t.Errorf("asked with %s", d.Args)
				}
				d.AcceptWith(map[string]any{"always": always})
				if o, _ := r.answered(got, req); o.Decision != confirm.Approve || o.Always != nil || o.Session {
					t.Errorf("%+v", o)
				}
			}
		})
	}
}
