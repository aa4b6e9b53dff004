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

// three is an edit in three places.
func three() confirm.Request {
	var b strings.Builder
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	after := strings.NewReplacer("line 3\n", "3\n", "line 15\n", "15\n15b\n", "line 30\n", "").Replace(b.String())
	return confirm.Request{Tool: "edit_file", Subject: confirm.Edit(workspace.Change{
		File: workspace.File{Name: "a.txt", Exists: true, Text: b.String()}, After: after,
	})}
}

// taken returns the text with changes at the given places only.
func taken(places ...int) *string {
	text := three().File().Text
	for _, p := range places {
		text = [...]func(string) string{
			func(s string) string { return strings.Replace(s, "line 3\n", "3\n", 1) },
			func(s string) string { return strings.Replace(s, "line 15\n", "15\n15b\n", 1) },
			func(s string) string { return strings.Replace(s, "line 30\n", "", 1) },
		}[p](text)
	}
	return &text
}

func TestHunkKeys(t *testing.T) {
	left := map[int]confirm.Comment{
		0: {Line: 3, Text: "left out: the hunk @@ -2,3 +2,3 @@"},
		1: {Line: 15, Text: "left out: the hunk @@ -14,3 +14,4 @@"},
		2: {Line: 30, Text: "left out: the hunk @@ -29,2 +30 @@"},
	}
	took := func(places ...int) confirm.Verdict {
		v := confirm.Verdict{
			Decision: confirm.Approve, By: "terminal", Texts: confirm.Text(*taken(places...)),
			Feedback: fmt.Sprintf("I accepted %d of the 3 hunks of this change and left out the rest.", len(places)),
		}
		for i := range 3 {
			if !strings.Contains(fmt.Sprint(places), fmt.Sprint(i)) {
				v.Comments = append(v.Comments, left[i])
			}
		}
		return v
	}
	yes, no := confirm.Verdict{Decision: confirm.Approve, By: "terminal"}, confirm.Verdict{By: "terminal"}
	said := confirm.Comment{Line: 15, Text: "hm"}
	with := func(v confirm.Verdict, all ...confirm.Comment) confirm.Verdict {
		v.Comments = append(all, v.Comments...)
		return v
	}
	for keys, want := range map[string]struct {
		outcome panel.Outcome
		verdict confirm.Verdict
	}{
		"] space y":                 {panel.Answered, took(1, 2)},
		"space space y":             {panel.Answered, took(1, 2)}, // the first space marks
		"] ] space y":               {panel.Answered, took(0, 2)},
		"] ] ] ] space y":           {panel.Answered, took(0, 1)},
		"] ] [ space ] space y":     {panel.Answered, took(2)},
		"[ [ space y":               {panel.Answered, took(1, 2)},
		"] space space y":           {panel.Answered, yes},
		"] y":                       {panel.Answered, yes},
		"] space n":                 {panel.Answered, no},
		"] space a":                 {panel.Handled, confirm.Verdict{}},
		"] space ] space ] space y": {panel.Handled, confirm.Verdict{}},
		"] space esc y":             {panel.Answered, took(1, 2)},
		"] esc":                     {panel.Handled, confirm.Verdict{}},
		"] esc esc":                 {panel.Cancel, confirm.Verdict{}},
		"] ] m h m enter y":         {panel.Answered, with(yes, said)},
		"] ] m h m enter a":         {panel.Answered, with(confirm.Verdict{Decision: confirm.Approve, By: "terminal", Session: true}, said)},
		"] ] m h m enter n":         {panel.Answered, with(no, said)},
		"] ] m h m enter space y":   {panel.Answered, with(took(0, 2), said)},
		"] ] m h m esc y":           {panel.Answered, yes},
		"] ] m h m esc m enter y":   {panel.Answered, with(yes, said)}, // it was kept
		"] ] m h m esc [ m enter y": {panel.Answered, yes},
		"] ] m enter y":             {panel.Answered, yes},
		"c w esc y":                 {panel.Answered, yes},
		"c w esc c h enter":         {panel.Answered, confirm.Verdict{By: "terminal", Feedback: "wh"}},
		"] ] m h m enter c w enter": {panel.Answered, with(confirm.Verdict{By: "terminal", Feedback: "w"}, said)},
		"m h m enter y":             {panel.Answered, with(yes, confirm.Comment{Line: 3, Text: "hm"})},
		"x ] ] space y":             {panel.Answered, took(0, 2)},
		"] space x y":               {panel.Answered, took(1, 2)},
	} {
		t.Run(keys, func(t *testing.T) {
			p := ready(three(), 60) // all of it is visible
			p.View(20)
			var o panel.Outcome
			var v confirm.Verdict
			for k := range strings.FieldsSeq(keys) {
				o, v = press(p, k)
				p.View(20)
			}
			if o != want.outcome {
				t.Fatalf("outcome %v, want %v", o, want.outcome)
			}
			if o == panel.Answered {
				if d := cmp.Diff(want.verdict, v); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// The marked hunk is visible, wherever it is in the diff.
func TestMarkedHunkIsShown(t *testing.T) {
	for _, first := range []string{"", "x", "end", "x end"} {
		p := ready(three(), 12)
		for k := range strings.FieldsSeq(first) {
			press(p, k)
			p.View(12)
		}
		for range 4 {
			press(p, "]")
			if got := shown(p, 12); !strings.Contains(got, "▌") {
				t.Fatalf("after %q:\n%s", first, got)
			}
		}
	}
}

func TestHunksAreNotOffered(t *testing.T) {
	remove, undo := three(), three()
	remove.File().Delete, remove.File().After = true, ""
	undo.Tool = "undo"
	for name, req := range map[string]confirm.Request{"a removal": remove, "an undo": undo, "a command": command("ls\nls"), "a file": {Subject: &confirm.Read{Path: "/x"}}} {
		p := ready(req, 20)
		press(p, "?")
		if got := shown(p, 20); strings.Contains(got, "hunk") {
			t.Errorf("%s:\n%s", name, got)
		}
		for _, k := range []string{"]", "[", "space", "m"} {
			if o, _ := slowly(p, k); o != panel.Handled || noted(p) {
				t.Errorf("%s: %s came to %v", name, k, o)
			}
		}
		if _, v := press(p, "y"); v.Edited() != nil || v.Comments != nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
	p := ready(edit(), 20) // one hunk
	press(p, "?", "]")
	if got := shown(p, 20); strings.Contains(got, "out") || !strings.Contains(got, "m comment on it") {
		t.Errorf("offered for one hunk:\n%s", got)
	}
	if o, v := press(p, "y"); o != panel.Answered || v.Edited() != nil {
		t.Errorf("all of a change was left out: %v %+v", o, v)
	}
}

// The marked hunk stays in view when the unchanged lines are shown or folded: Space and m act
// on it.
func TestMarkedHunkStaysInView(t *testing.T) {
	several := patch("a\n", "b\n")
	confirm.As[*confirm.Edits](several).Changes[0] = *three().File()
	for name, tt := range map[string]struct {
		req  confirm.Request
		keys []string
	}{
		"of a change": {three(), []string{"]", "]", "]"}},
		"of a file":   {several, []string{"enter", "]", "]", "]"}},
	} {
		p := ready(tt.req, 14)
		for _, k := range append(tt.keys, "x", "x") {
			press(p, k)
			got := shown(p, 14)
			if k == "x" && !strings.Contains(got, "▌") {
				t.Errorf("%s: after x:\n%s", name, got)
			}
		}
	}
}

// The external editor gets the text that would be written; its result has all hunks again.
func TestEditOfAPart(t *testing.T) {
	p := ready(three(), 20)
	press(p, "]", "space")
	_, text, ok := p.Proposal()
	if !ok || text != *taken(1, 2) {
		t.Fatalf("proposal %q", text)
	}
	p.Propose(text, start)
	if got := shown(p, 20); strings.Contains(got, "left out") {
		t.Errorf("of the edited text something is left out:\n%s", got)
	}
}

func TestRemarkAndPart(t *testing.T) {
	p := ready(three(), 20)
	p.Remark = "edited in VS Code +2 −1: y takes that text"
	press(p, "]", "space")
	if got := shown(p, 20); !strings.Contains(strings.ReplaceAll(got, "\n", " "), "y applies the version shown here") {
		t.Errorf("shown:\n%s", got)
	}
}

// Esc first closes detail views, one at a time.
func TestEscClosesDetails(t *testing.T) {
	p := ready(program(), 20)
	press(p, "l", "v", "]")
	for i, want := range []panel.Outcome{panel.Handled, panel.Handled, panel.Handled, panel.Cancel} {
		if o, _ := press(p, "esc"); o != want {
			t.Fatalf("Esc number %d: %v, want %v", i+1, o, want)
		}
	}
	if got := shown(p, 20); !strings.Contains(got, "then") {
		t.Errorf("the calls are still listed:\n%s", got)
	}
}

// A key changes the layout at once, and the panel keeps it.
func TestLayout(t *testing.T) {
	l := look()
	l.Width = 100
	for name, req := range map[string]confirm.Request{"a change": three(), "a plan": undoing(3)} {
		p := panel.New(req, l, diffview.Unified, start)
		p.View(20)
		p.Wait(start.Add(time.Hour))
		slowly(p, "s")
		if req.File() == nil { // the list has no layout
			if p.Layout() != diffview.Unified {
				t.Errorf("%s: %v", name, p.Layout())
			}
			press(p, "end", "enter", "s")
		}
		if got := shown(p, 20); p.Layout() != diffview.Split || !strings.Contains(got, " │ ") {
			t.Errorf("%s: %v\n%s", name, p.Layout(), got)
		}
		press(p, "s")
		if got := shown(p, 20); p.Layout() != diffview.Unified || strings.Contains(got, " │ ") {
			t.Errorf("%s: %v\n%s", name, p.Layout(), got)
		}
	}
	l.Width = 160
	p := panel.New(three(), l, diffview.Auto, start)
	p.View(30)
	p.Wait(start.Add(time.Hour))
	press(p, "]", "]")
	if got := shown(p, 30); !strings.Contains(got, " │ ") || !strings.Contains(got, "▌15b") {
		t.Errorf("at 160 columns:\n%s", got)
	}
	press(p, "s")
	if got := shown(p, 30); !strings.Contains(got, "▌15b") {
		t.Errorf("the hunk that was pointed at is gone:\n%s", got)
	}
}

// The panel offers the editor only if one can show the question.
func TestOpenInTheEditor(t *testing.T) {
	remove := three()
	remove.File().Delete, remove.File().After = true, ""
	for name, tc := range map[string]struct {
		req    confirm.Request
		editor string
		want   panel.Outcome
	}{
		"linked":    {three(), "VS Code", panel.Open},
		"none":      {three(), "", panel.Handled},
		"a command": {command("ls"), "VS Code", panel.Handled},
		"a removal": {remove, "VS Code", panel.Handled},
		"a plan":    {undoing(2), "VS Code", panel.Handled},
	} {
		p := ready(tc.req, 20)
		p.Editor = tc.editor
		press(p, "?")
		if got := shown(p, 20); strings.Contains(got, "o open in VS Code") != (tc.want == panel.Open) {
			t.Errorf("%s: offered:\n%s", name, got)
		}
		if o, _ := slowly(p, "o"); o != tc.want {
			t.Errorf("%s: %v", name, o)
		}
		if o, _ := press(p, "n"); o != panel.Answered {
			t.Errorf("%s: the question does not stand any more", name)
		}
	}
}

// With a single hunk, Space explains why it does nothing, until the next key; if there is
// more to see, it scrolls.
func TestTheOnlyHunkIsNotLeftOut(t *testing.T) {
	const why = "cannot be left out"
	p := ready(edit(), 20)
	o, _ := press(p, "space")
	if text := strings.Join(p.View(20), "\n"); o != panel.Handled || !strings.Contains(text, why) {
		t.Errorf("outcome %v, nothing says why:\n%s", o, text)
	}
	press(p, "x")
	if text := strings.Join(p.View(20), "\n"); strings.Contains(text, why) {
		t.Error("it is still said after another key:\n", text)
	}
	if o, v := press(p, "space", "y"); o != panel.Answered || v.Decision != confirm.Approve || v.Edited() != nil {
		t.Errorf("y came to %v, %+v", o, v)
	}
	for height := 4; height < 14; height++ { // without room for the explanation, it can still be answered
		for _, before := range []string{"x", "?"} {
			answers := func(last string) bool {
				p := ready(edit(), height)
				for _, k := range []string{before, last} {
					press(p, k)
					p.View(height)
				}
				o, _ := press(p, "y")
				return o == panel.Answered
			}
			if answers("z") && !answers("space") {
				t.Errorf("in %d lines after %s space keeps y from answering", height, before)
			}
		}
	}
	long := confirm.Request{Tool: "write_file", Subject: confirm.Edit(workspace.Change{
		File: workspace.File{Name: "a.txt"}, After: strings.Repeat("line\n", 100),
	})}
	p = ready(long, 20)
	press(p, "space")
	if text := strings.Join(p.View(20), "\n"); strings.Contains(text, why) || strings.Contains(text, "lines 1–") {
		t.Error("it does not scroll:\n", text)
	}
}

// TestCommentsOnHunksAreNotLost: they stay with their place if the question goes without an
// answer from here, and so do a reason and a comment that Esc left.
func TestCommentsOnHunksAreNotLost(t *testing.T) {
	p := ready(edit(), 20)
	press(p, "m", "f", "i", "x", "enter", "m", "w", "h", "y", "esc", "c", "n", "o", "t", "esc")
	got := p.Unsent()
	if !strings.HasPrefix(got, "On line ") || !strings.Contains(got, " of "+edit().File().Name+": fix\n") || !strings.HasSuffix(got, "\nnot\nwhy") {
		t.Errorf("unsent %q", got)
	}
	_, v := press(ready(edit(), 20), "m", "f", "i", "x", "enter", "y")
	if want := fmt.Sprintf("On line %d of ", v.Comments[0].Line); !strings.HasPrefix(got, want) {
		t.Errorf("unsent %q, want %q", got, want)
	}
}
