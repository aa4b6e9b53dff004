package panel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// undoing is a plan of n files: it restores the first and deletes the second.
func undoing(n int) confirm.Request {
	req := confirm.Request{Tool: "undo", Force: true, Subject: &confirm.Edits{Title: "undo the last turn"}}
	for i := range n {
		c := workspace.Change{
			File:  workspace.File{Name: fmt.Sprintf("internal/server/file%d.go", i+1), Exists: true, Text: "one\ntwo\nthree\nfour\nfive\n"},
			After: "1\ntwo\nthree\nfour\n5\n6\n",
		}
		switch i {
		case 0:
			c.Exists, c.Text, c.After = false, "", "back\n"
		case 1:
			c.Delete, c.After = true, ""
		}
		confirm.As[*confirm.Edits](req).Changes = append(confirm.As[*confirm.Edits](req).Changes, c)
	}
	return req
}

func shown(p *panel.Panel, height int) string { return strings.Join(p.View(height), "\n") }

func TestPlanIsOneQuestion(t *testing.T) {
	yes := confirm.Verdict{Decision: confirm.Approve, By: "terminal"}
	except := func(out ...int) confirm.Verdict {
		v := yes
		v.Except = out
		return v
	}
	for keys, want := range map[string]struct {
		outcome panel.Outcome
		verdict confirm.Verdict
	}{
		"y":                             {panel.Answered, yes},
		"n":                             {panel.Answered, confirm.Verdict{By: "terminal"}},
		"space n":                       {panel.Answered, confirm.Verdict{By: "terminal"}},
		"space y":                       {panel.Answered, except(0)},
		"down space y":                  {panel.Answered, except(1)},
		"] ] space y":                   {panel.Answered, except(2)},
		"end space home space y":        {panel.Answered, except(0, 2)},
		"pgdown space pgup space y":     {panel.Answered, except(0, 2)},
		"j space k space space y":       {panel.Answered, except(1)},
		"enter space ] space esc y":     {panel.Answered, except(0, 1)},
		"right tab space left y":        {panel.Answered, except(1)},
		"enter ] [ space backspace y":   {panel.Answered, except(0)},
		"enter q y":                     {panel.Answered, yes},
		"enter y":                       {panel.Answered, yes},
		"enter n":                       {panel.Answered, confirm.Verdict{By: "terminal"}},
		"space down space down space y": {panel.Handled, confirm.Verdict{}},
		"a":                             {panel.Handled, confirm.Verdict{}},
		"c":                             {panel.Handled, confirm.Verdict{}},
		"e":                             {panel.Handled, confirm.Verdict{}},
		"esc":                           {panel.Cancel, confirm.Verdict{}},
		"enter esc esc":                 {panel.Cancel, confirm.Verdict{}},
		"v enter esc esc":               {panel.Handled, confirm.Verdict{}},
	} {
		t.Run(keys, func(t *testing.T) {
			p := ready(undoing(3), 20)
			var o panel.Outcome
			var v confirm.Verdict
			for k := range strings.FieldsSeq(keys) {
				o, v = press(p, k)
				p.View(20)
			}
			if o != want.outcome {
				t.Errorf("outcome %v, want %v", o, want.outcome)
			}
			if o == panel.Answered {
				if d := cmp.Diff(want.verdict, v); d != "" {
					t.Error(d)
				}
			}
			if noted(p) {
				t.Error("a comment is typed")
			}
		})
	}
}

func TestPlanListsItsFiles(t *testing.T) {
	p := ready(undoing(3), 20)
	for _, want := range []string{"undo the last turn: 3 files +4 −7", "create internal/server/file1.go  +1 −0", "delete internal/server/file2.go  +0 −5", "edit   internal/server/file3.go  +3 −2 · 2 places"} {
		if got := shown(p, 20); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	press(p, "space")
	if got := shown(p, 20); !strings.Contains(got, "2 files +3 −7, 1 left unchanged") || !strings.Contains(got, "❯ ○ create") {
		t.Errorf("with one left out:\n%s", got)
	}
	press(p, "down", "down", "enter")
	if got := shown(p, 20); !strings.Contains(got, "file 3 of 3") || !strings.Contains(got, "edit internal/server/file3.go") || !strings.Contains(got, "- one") {
		t.Errorf("the third file:\n%s", got)
	}
	press(p, "space")
	if got := shown(p, 20); !strings.Contains(got, "file 3 of 3: left unchanged") {
		t.Errorf("left out:\n%s", got)
	}
}

// All files have been visible before they are approved, and the cursor is visible.
func TestPlanIsApprovedOnlyOnceItWasSeen(t *testing.T) {
	p := ready(undoing(50), 12)
	if o, _ := press(p, "y"); o != panel.Handled || !strings.Contains(shown(p, 12), "scroll to the end") {
		t.Fatalf("approved with files below the screen: %v", o)
	}
	for i := range 50 {
		if got := shown(p, 12); !strings.Contains(got, "❯ ● ") || !strings.Contains(got, fmt.Sprintf("file%d.go", i+1)) {
			t.Fatalf("the cursor is at file %d:\n%s", i+1, got)
		}
		press(p, "down")
	}
	if o, _ := press(p, "y"); o != panel.Answered {
		t.Error("not approved after all were shown")
	}
	p = ready(undoing(50), 12)
	press(p, "enter")
	p.View(12)
	slowly(p, "G", "esc")
	p.View(12)
	if o, _ := press(p, "y"); o != panel.Handled {
		t.Error("what was seen of a file counts for the list")
	}
}

func TestLongPathsKeepTheirName(t *testing.T) {
	req := undoing(3)
	confirm.As[*confirm.Edits](req).Changes[2].Name = "a/very/long/path/that/does/not/fit/the/terminal/at/all/name.go"
	l := look()
	l.Width = 50
	p := panel.New(req, l, diffview.Auto, start)
	p.View(20)
	if got := shown(p, 20); !strings.Contains(got, "/name.go  +3 −2") || !strings.Contains(got, "…/") {
		t.Errorf("shown:\n%s", got)
	}
}

func TestQueueOfCalls(t *testing.T) {
	req := edit()
	req.Batch = confirm.Batch{ID: "1", Index: 1, Total: 4, Calls: []string{"Read a.go", "Edit a.txt", "Edit b\x1b.txt", "Run go test"}, Done: []string{"12 lines\x07"}}
	p := ready(req, 20)
	if got, want := p.View(20)[0], `call 2 of 4 · then Edit b\u{1b}.txt, Run go test`; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	press(p, "l")
	want := []string{`  1 of 4  Read a.go · 12 lines\u{7}`, "❯ 2 of 4  Edit a.txt", `  3 of 4  Edit b\u{1b}.txt`, "  4 of 4  Run go test"}
	if d := cmp.Diff(want, p.View(20)[:4]); d != "" {
		t.Error(d)
	}
	press(p, "l")
	if got := p.View(20)[0]; !strings.HasPrefix(got, "call 2 of 4") {
		t.Errorf("folded again: %q", got)
	}
	least := 20
	for strings.Contains(shown(p, least-1), "y yes") {
		least--
	}
	if strings.Contains(shown(p, least), "call 2") {
		t.Error("the queue takes the room that the diff needs")
	}
	last := req
	last.Batch.Index = 3
	if got := ready(last, 20).View(20)[0]; got != "call 4 of 4" {
		t.Errorf("of the last call: %q", got)
	}
	req.Batch = confirm.Batch{Total: 40, Index: 30}
	for i := range 40 {
		req.Batch.Calls = append(req.Batch.Calls, fmt.Sprintf("Read %d.go", i+1))
	}
	p = ready(req, 40)
	press(p, "l")
	if got := shown(p, 40); strings.Count(got, " of 40 ") != 12 || !strings.Contains(got, "❯ 31 of 40  Read 31.go") {
		t.Errorf("of 40:\n%s", got)
	}
}

// Keys for what covered a panel, or was drawn over it, do not answer it.
func TestShownAgain(t *testing.T) {
	p := ready(edit(), 20)
	p.Shown(start.Add(time.Hour))
	if o, _ := press(p, "y"); o != panel.Ignored {
		t.Errorf("answered at once: %v", o)
	}
	if got := p.Wait(start.Add(time.Hour)); got != 400*time.Millisecond {
		t.Errorf("waits %v", got)
	}
}
