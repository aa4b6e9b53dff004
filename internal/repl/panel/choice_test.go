package panel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
)

func dangerous() confirm.Request {
	req := command("rm -rf build")
	req.Force = true
	return req
}

func TestNumbersAndEnter(t *testing.T) {
	no := confirm.Verdict{By: "terminal"}
	yes := confirm.Verdict{By: "terminal", Decision: confirm.Approve}
	session := confirm.Verdict{By: "terminal", Decision: confirm.Approve, Session: true}
	for _, tc := range []struct {
		name string
		req  confirm.Request
		keys string
		want confirm.Verdict
		open bool // the question is not answered
	}{
		{name: "1", req: edit(), keys: "1", want: yes},
		{name: "2", req: edit(), keys: "2", want: session},
		{name: "3", req: edit(), keys: "3", want: no},
		{name: "3 of a dangerous command", req: dangerous(), keys: "3", want: no},
		{name: "2 of a dangerous command", req: dangerous(), keys: "2", open: true},
		{name: "4", req: edit(), keys: "4", open: true},
		{name: "files", req: undoing(2), keys: "1", want: yes},
		{name: "no files", req: undoing(2), keys: "3", want: no},
		{name: "Enter alone", req: edit(), keys: "enter", open: true},
		{name: "the habit of a shell", req: edit(), keys: "up enter", open: true},
		{name: "down", req: edit(), keys: "down enter", open: true},
		{name: "right", req: edit(), keys: "right enter", want: yes},
		{name: "the second", req: edit(), keys: "right right enter", want: session},
		{name: "past the end", req: edit(), keys: "right right right right enter", want: no},
		{name: "back", req: edit(), keys: "right right left enter", want: yes},
		{name: "from the end", req: edit(), keys: "left enter", want: no},
		{name: "of a dangerous command", req: dangerous(), keys: "right enter", want: no},
		{name: "yes to a dangerous command", req: dangerous(), keys: "right left enter", want: yes},
		{name: "another key between", req: edit(), keys: "right v enter", open: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := ready(tc.req, 20)
			o, v := press(p, strings.Fields(tc.keys)...)
			if (o == panel.Answered) == tc.open || !tc.open && (v.Decision != tc.want.Decision || v.Session != tc.want.Session) {
				t.Errorf("%v %+v", o, v)
			}
		})
	}
}

// The highlight is on the screen, and lapses if the question was covered or something was
// typed elsewhere.
func TestHighlightLapses(t *testing.T) {
	later := start.Add(2 * time.Hour)
	for name, lapse := range map[string]func(*panel.Panel){
		"covered":         func(p *panel.Panel) { p.Shown(later) },
		"typed elsewhere": func(p *panel.Panel) { p.Disturbed(later) },
		"a draft":         func(p *panel.Panel) { p.Typed(later) },
	} {
		p := ready(edit(), 20)
		press(p, "right")
		if got := shown(p, 20); !strings.Contains(got, "❯ 1 y yes") {
			t.Fatalf("not highlighted:\n%s", got)
		}
		lapse(p)
		p.Wait(later.Add(time.Hour))
		if got := shown(p, 20); strings.Contains(got, "❯") {
			t.Errorf("%s: highlighted:\n%s", name, got)
		}
		if o, _ := press(p, "enter"); o == panel.Answered {
			t.Errorf("%s: Enter answers", name)
		}
	}
}

// A highlighted yes to a diff whose end was not visible warns like y.
func TestHighlightedYesWarns(t *testing.T) {
	p := ready(writing(strings.Repeat("line\n", 400)), 20)
	if o, _ := press(p, "right", "enter"); o != panel.Handled || !strings.Contains(shown(p, 20), "You have not seen") {
		t.Fatalf("%v:\n%s", o, shown(p, 20))
	}
	p.Wait(start.Add(2 * time.Hour))
	if o, v := press(p, "enter"); o != panel.Answered || v.Decision != confirm.Approve {
		t.Errorf("the second Enter: %v %+v", o, v)
	}
}

// A key that does nothing names those that answer, in a line that the next key removes.
func TestWrongKey(t *testing.T) {
	const names = "That key does nothing here. · 1 yes · 2 always · 3 no"
	p := ready(edit(), 20)
	rows := len(p.View(20))
	slowly(p, "z")
	if got := p.View(20); !strings.Contains(strings.Join(got, "\n"), names) || len(got) != rows+1 {
		t.Errorf("shown:\n%s", strings.Join(got, "\n"))
	}
	slowly(p, "x")
	if got := shown(p, 20); strings.Contains(got, names) {
		t.Errorf("still shown:\n%s", got)
	}
	press(p, "enter")
	if got := shown(p, 20); !strings.Contains(got, "Press → to choose an answer, then Enter") {
		t.Errorf("shown:\n%s", got)
	}
	p = ready(dangerous(), 20)
	slowly(p, "2")
	if got := shown(p, 20); !strings.Contains(got, "That key does nothing here. · 1 yes · 3 no") {
		t.Errorf("shown:\n%s", got)
	}
}

// A text that begins with a wrong key does not answer with the others.
func TestWrongKeyMayBeginAPrompt(t *testing.T) {
	p := panel.New(edit(), look(), diffview.Auto, start)
	p.View(20)
	now := start.Add(time.Hour)
	for _, r := range "it is 1 or 2, yes" {
		p.Wait(now)
		if o, _ := press(p, string(r)); o == panel.Answered {
			t.Fatalf("%c answers", r)
		} else if o == panel.Ignored {
			p.Disturbed(now)
		}
		now = now.Add(300 * time.Millisecond)
	}
}
