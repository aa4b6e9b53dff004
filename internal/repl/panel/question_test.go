package panel_test

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
)

func asking(text string, options ...string) confirm.Request {
	return confirm.Request{Tool: "ask_user", Subject: &confirm.Choice{Text: text, Options: options}}
}

func TestModelsQuestion(t *testing.T) {
	for _, tt := range []struct {
		keys, answer string
		outcome      panel.Outcome
		decision     confirm.Decision
	}{
		{"1", "tabs", panel.Answered, confirm.Approve},
		{"2", "spaces", panel.Answered, confirm.Approve},
		{"c n o enter", "no", panel.Answered, confirm.Approve},
		{"n", "", panel.Answered, confirm.Reject},
		{"3", "", panel.Handled, confirm.Reject},
		{"y", "", panel.Handled, confirm.Reject},
		{"a", "", panel.Handled, confirm.Reject},
		{"right enter", "", panel.Handled, confirm.Reject},
		{"c enter", "", panel.Handled, confirm.Reject},
	} {
		o, v := press(ready(asking("Tabs or spaces?", "tabs", "spaces"), 20), strings.Fields(tt.keys)...)
		if o != tt.outcome || v.Decision != tt.decision || v.Answer != tt.answer || v.Session {
			t.Errorf("%s: %v %+v", tt.keys, o, v)
		}
	}
}

// An option counts only once all of them were visible.
func TestModelsQuestionIsReadToItsEnd(t *testing.T) {
	p := ready(asking(strings.Repeat("more\n", 40)+"Which?", "tabs", "spaces"), 12)
	if o, _ := press(p, "1"); o == panel.Answered {
		t.Fatal("an option was taken that was not visible")
	}
	for range 20 {
		press(p, "pgdown")
		p.View(12)
	}
	if o, v := press(p, "1"); o != panel.Answered || v.Answer != "tabs" {
		t.Errorf("%v %+v", o, v)
	}
}

// Letters and blanks that pass for others are marked, as in any question, and the answer is
// the text of the model.
func TestModelsQuestionIsExact(t *testing.T) {
	p := ready(asking("Log in at p\u0430ypal.com\u00a0now?", "y\u0435s", "no\u00a0\n2  yes"), 20)
	got := shown(p, 20)
	for _, want := range []string{`p\u{430}ypal.com\u{a0}now?`, `1  y\u{435}s`, `2  no\u{a0}\n2  yes`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if _, v := press(p, "1"); v.Answer != "y\u0435s" {
		t.Errorf("answered %q", v.Answer)
	}
}
