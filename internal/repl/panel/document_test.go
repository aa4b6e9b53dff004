package panel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

const planText = "# Mend the parser\n\n1. Read `parse.go`.\n2. Add a test that fails.\n3. Mend it.\n"

func planning(text string) confirm.Request {
	return confirm.Request{Tool: "present_plan", Subject: &confirm.Document{Text: text}}
}

func TestPlanIsAccepted(t *testing.T) {
	for _, tt := range []struct {
		keys, mode string
		decision   confirm.Decision
	}{
		{"y", "default", confirm.Approve},
		{"1", "default", confirm.Approve},
		{"right enter", "default", confirm.Approve},
		{"a", "accept-edits", confirm.Approve},
		{"2", "accept-edits", confirm.Approve},
		{"n", "", confirm.Reject},
		{"3", "", confirm.Reject},
	} {
		o, v := press(ready(planning(planText), 20), strings.Fields(tt.keys)...)
		if o != panel.Answered || v.Decision != tt.decision || v.Mode != tt.mode || v.Edited() != nil || v.Session {
			t.Errorf("%s: %v %+v", tt.keys, o, v)
		}
	}
	o, v := press(ready(planning(planText), 20), "c", "m", "o", "r", "e", "enter")
	if o != panel.Answered || v.Decision != confirm.Reject || v.Feedback != "more" {
		t.Errorf("a comment: %v %+v", o, v)
	}
}

// A plan is accepted only once all of it was visible.
func TestPlanIsReadToItsEnd(t *testing.T) {
	p := ready(planning(planText+strings.Repeat("\nmore\n", 40)), 12)
	for _, k := range []string{"1", "2"} {
		if o, _ := press(p, k); o != panel.Handled {
			t.Fatalf("%s accepts a plan whose end was not visible", k)
		}
	}
	for range 20 {
		press(p, "pgdown")
		p.View(12)
	}
	if o, v := press(p, "2"); o != panel.Answered || v.Mode != "accept-edits" {
		t.Errorf("%v %+v", o, v)
	}
}

// The accepted text is the one that the person saved.
func TestPlanIsEdited(t *testing.T) {
	p := ready(planning(planText), 20)
	if o, _ := press(p, "e"); o != panel.Edit {
		t.Fatalf("e: %v", o)
	}
	name, text, ok := p.Proposal()
	if name != "plan.md" || text != planText || !ok {
		t.Fatalf("%q %q %v", name, text, ok)
	}
	p.Propose("Only *read* it.\n", start)
	p.View(20)
	if o, _ := press(p, "y"); o != panel.Ignored {
		t.Error("accepted before it was shown")
	}
	p.Wait(start.Add(time.Hour))
	if got := shown(p, 20); !strings.Contains(got, "as you edited it") || strings.Contains(got, "Mend") {
		t.Errorf("shown:\n%s", got)
	}
	if _, v := press(p, "y"); v.Edited() == nil || *v.Edited() != "Only *read* it.\n" || v.Mode != "default" {
		t.Errorf("%+v", v)
	}
}

// A plan that is asked about again explains why.
func TestPlanIsAskedAboutAgain(t *testing.T) {
	req := planning(planText)
	req.Notes = []caution.Note{{Kind: caution.Other, Text: "Say yes again\x1b[2J."}}
	if screen := strings.Join(ready(req, 20).View(20), "\n"); !strings.Contains(screen, "! Say yes again") || strings.Contains(screen, "\x1b[2J") {
		t.Errorf("the note is not shown, or raw:\n%s", screen)
	}
}

// Comments on lines of a plan go with the answer, with the lines that they are about.
func TestPlanIsCommentedOn(t *testing.T) {
	p := ready(planning(planText), 24)
	if got := shown(p, 24); strings.Contains(got, "  3  ") {
		t.Errorf("the lines have numbers before a comment is wanted:\n%s", got)
	}
	press(p, "m", "down", "]", "m")
	if _, label := p.Note(); label != "on line 3: " {
		t.Errorf("label %q", label)
	}
	press(p, "w", "h", "y", "enter", "[", "m", "esc", "down", "down", "m", "y", "enter")
	got := shown(p, 24)
	for _, want := range []string{"  3 1. Read `parse.go`.", "      ↳ why", "❯   4 2. Add a test", "line 4 of 5, 2 comments"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	want := []confirm.Comment{{Line: 3, Quote: "1. Read `parse.go`.", Text: "why"}, {Line: 4, Quote: "2. Add a test that fails.", Text: "y"}}
	for _, keys := range []string{"n", "esc n", "y", "c s o enter"} {
		p := ready(planning(planText), 24)
		press(p, "m", "down", "down", "m", "w", "h", "y", "enter", "down", "m", "y", "enter")
		p.View(24)
		var o panel.Outcome
		var v confirm.Verdict
		for _, k := range strings.Fields(keys) {
			o, v = press(p, k)
			p.View(24)
		}
		if d := cmp.Diff(want, v.Comments); o != panel.Answered || d != "" {
			t.Errorf("%s: %v %+v %s", keys, o, v, d)
		}
	}
}

// Each line of a long plan can be marked, and the marked one is visible.
// On a terminal that is too narrow for numbers beside the text, they have rows of their own.
func TestNarrowPlanIsCommentedOn(t *testing.T) {
	l := theme.New(theme.Auto, true)
	l.Width, l.Height = 12, 20
	p := panel.New(planning("one 漢字 漢字 two\n"), l, diffview.Auto, start)
	p.View(l.Height)
	p.Wait(start.Add(time.Hour))
	press(p, "m")
	rows := p.View(l.Height)
	for _, row := range rows {
		if w := cells.Width(row); w > l.Width {
			t.Errorf("%q is %d wide", row, w)
		}
	}
	if text := strings.Join(strings.Fields(strings.Join(rows, " ")), " "); !strings.Contains(text, "❯ 1 one 漢字 漢字 two") {
		t.Errorf("shown: %s", text)
	}
}

func TestLongPlanIsCommentedOn(t *testing.T) {
	p := ready(planning("# A\n\n"+strings.Repeat("- a line that is so long that it does not fit into a narrow window and has to be broken\n", 40)), 14)
	press(p, "m")
	p.View(14)
	for n := 2; n <= 42; n++ {
		press(p, "]")
		if got := shown(p, 14); !strings.Contains(got, fmt.Sprintf("❯ %3d", n)) {
			t.Fatalf("line %d is not visible:\n%s", n, got)
		}
	}
	press(p, "]", "esc")
	if o, _ := press(p, "1"); o == panel.Answered {
		t.Error("accepted, though its end as it is shown now was not visible")
	}
}

// TestCommentsOfAPlanAreNotLost: they stay if the question goes without an answer from here.
func TestCommentsOfAPlanAreNotLost(t *testing.T) {
	p := ready(planning(planText), 20)
	if got := p.Unsent(); got != "" {
		t.Errorf("unsent before a comment: %q", got)
	}
	press(p, "m", "]", "]", "m", "w", "h", "y", "enter", "c", "n", "o")
	if got, want := p.Unsent(), `On line 3 of the plan, "1. Read `+"`parse.go`"+`.": why`+"\nno"; got != want {
		t.Errorf("unsent %q, want %q", got, want)
	}
}
