package panel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/keys/keystest"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func look() theme.Look {
	l := theme.New(theme.Auto, true)
	l.Width, l.Height = 60, 24
	return l
}

func edit() confirm.Request {
	return confirm.Request{Tool: "edit_file", Subject: confirm.Edit(workspace.Change{
		File: workspace.File{Name: "a.txt", Exists: true, Text: "one\n"}, After: "two\n",
	})}
}

func command(line string) confirm.Request {
	return confirm.Request{Tool: "execute_command", Subject: &confirm.Command{Line: line, Dir: "/w"}}
}

// ready returns a panel that accepts keys.
func ready(req confirm.Request, height int) *panel.Panel {
	p := panel.New(req, look(), diffview.Auto, start)
	p.View(height)
	p.Wait(start.Add(time.Hour))
	return p
}

func press(p *panel.Panel, keys ...string) (panel.Outcome, confirm.Verdict) {
	var o panel.Outcome
	var v confirm.Verdict
	for _, k := range keys {
		o, v = p.Press(keystest.Key(k))
	}
	return o, v
}

// slowly presses keys with a pause after each.
func slowly(p *panel.Panel, keys ...string) (o panel.Outcome, v confirm.Verdict) {
	for _, k := range keys {
		o, v = press(p, k)
		for hour := time.Hour; p.Wait(start.Add(hour)) > 0; hour += time.Hour {
		}
	}
	return o, v
}

func TestKeysAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		keys    []string
		outcome panel.Outcome
		verdict confirm.Verdict
	}{
		"yes":          {[]string{"y"}, panel.Answered, confirm.Verdict{Decision: confirm.Approve, By: "terminal"}},
		"for good":     {[]string{"a"}, panel.Answered, confirm.Verdict{Decision: confirm.Approve, Session: true, By: "terminal"}},
		"no":           {[]string{"n"}, panel.Answered, confirm.Verdict{By: "terminal"}},
		"comment":      {[]string{"c", "w", "h", "y", "enter"}, panel.Answered, confirm.Verdict{Feedback: "why", By: "terminal"}},
		"no comment":   {[]string{"c", "enter"}, panel.Handled, confirm.Verdict{}},
		"back":         {[]string{"c", "y", "esc"}, panel.Handled, confirm.Verdict{}},
		"edit":         {[]string{"e"}, panel.Edit, confirm.Verdict{}},
		"cancel":       {[]string{"esc"}, panel.Cancel, confirm.Verdict{}},
		"a stray key":  {[]string{"z"}, panel.Handled, confirm.Verdict{}},
		"not its own":  {[]string{"ctrl+c"}, panel.Ignored, confirm.Verdict{}},
		"enter":        {[]string{"enter"}, panel.Handled, confirm.Verdict{}},
		"full and out": {[]string{"v", "esc"}, panel.Handled, confirm.Verdict{}},
	} {
		t.Run(name, func(t *testing.T) {
			o, v := press(ready(edit(), 20), tc.keys...)
			if o != tc.outcome {
				t.Errorf("outcome %v, want %v", o, tc.outcome)
			}
			if d := cmp.Diff(tc.verdict, v); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTypedAheadDoesNotAnswer(t *testing.T) {
	p := panel.New(edit(), look(), diffview.Auto, start)
	p.View(20)
	for ms := 0; ms < 2000; ms += 300 { // a key every 300 ms: never quiet for long enough
		now := start.Add(time.Duration(ms) * time.Millisecond)
		if p.Wait(now) == 0 {
			t.Fatalf("takes keys after %d ms of typing", ms)
		}
		if o, _ := p.Press(keystest.Key("y")); o != panel.Ignored {
			t.Fatalf("a key typed ahead came to %v", o)
		}
		p.Disturbed(now)
	}
	last := start.Add(1800 * time.Millisecond)
	if got := p.Wait(last.Add(399 * time.Millisecond)); got != time.Millisecond {
		t.Errorf("1 ms before its time it waits %v", got)
	}
	if p.Wait(last.Add(400*time.Millisecond)) != 0 {
		t.Error("still waits after 400 quiet milliseconds")
	}
	if o, _ := p.Press(keystest.Key("y")); o != panel.Answered {
		t.Error("y does not answer")
	}
}

func TestCommandIsApprovedOnlyOnceItWasSeen(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("echo %d", i))
	}
	p := ready(command(strings.Join(lines, "\n")), 12)
	for _, k := range []string{"y", "a"} {
		if o, _ := press(p, k); o != panel.Handled {
			t.Fatalf("%s approved what was not seen", k)
		}
	}
	if !strings.Contains(strings.Join(p.View(12), "\n"), "scroll to the end") {
		t.Error("the panel does not say why")
	}
	if o, _ := press(ready(command(strings.Join(lines, "\n")), 12), "n"); o != panel.Answered {
		t.Error("no needs no reading")
	}
	for range 40 {
		press(p, "pgdown")
		p.View(12)
	}
	if o, _ := press(p, "y"); o != panel.Answered {
		t.Error("not approved after all of it was shown")
	}
}

// If nothing of the diff fits, nobody can approve it.
func TestNothingUnseenIsApproved(t *testing.T) {
	p := ready(edit(), 2)
	for _, k := range []string{"y", "a"} {
		if o, _ := press(p, k); o != panel.Handled {
			t.Fatalf("%s approved what did not fit the screen", k)
		}
	}
	if o, _ := press(p, "v"); o != panel.Handled || !p.Full() {
		t.Fatal("no way to see it")
	}
	p.View(24)
	if o, _ := press(p, "y"); o != panel.Answered {
		t.Error("not approved on the whole screen")
	}
}

// On a terminal so narrow that rows are cut nobody can approve.
func TestNothingCutIsApproved(t *testing.T) {
	for _, req := range []confirm.Request{command("echo a long command"), edit(), {Tool: "read_file", Subject: &confirm.Read{Path: "/a/long/path/to/a/file"}}} {
		for width, want := range map[int]panel.Outcome{8: panel.Handled, 11: panel.Handled, 12: panel.Answered} {
			l := look()
			l.Width, l.Height = width, 60
			p := panel.New(req, l, diffview.Auto, start)
			rows := p.View(60)
			p.Wait(start.Add(time.Hour))
			if o, _ := press(p, "y"); o != want {
				t.Errorf("%s on %d columns: %v, want %v:\n%s", req.Tool, width, o, want, strings.Join(rows, "\n"))
			}
		}
	}
}

// A remark makes room for the diff, so that yes works.
func TestRemarkGivesWayToTheDiff(t *testing.T) {
	req := edit()
	req.File().After = strings.Repeat("line\n", 20)
	p := ready(req, 24)
	p.Remark = "also open in the editor"
	shown := func(height int) string { return strings.Join(p.View(height), "\n") }
	if !strings.Contains(shown(24), p.Remark) {
		t.Fatal("the remark is not shown where there is room")
	}
	least := 24
	for strings.Contains(shown(least-1), "c why not") {
		least--
	}
	if strings.Contains(shown(least), p.Remark) || !strings.Contains(shown(least+1), p.Remark) {
		t.Errorf("in %d lines:\n%s\nin %d:\n%s", least, shown(least), least+1, shown(least+1))
	}
	if o, _ := press(p, "y"); o != panel.Answered {
		t.Error("not approved")
	}
}

// With little room, dispensable keys disappear before the question does.
func TestLittleRoom(t *testing.T) {
	for _, s := range []struct {
		req           confirm.Request
		width, height int
		want          []string
		unseen        bool // the last change is not visible
	}{
		{edit(), 80, 6, []string{"edit a.txt", "- one", "+ two", "1 y yes · 2 a always"}, false},
		{edit(), 30, 4, []string{"edit a.txt", "- one", "+ two", "y yes · n no"}, false},
		{program(), 24, 12, []string{"cmd/main.go", " 7 -", "lines 7–9", "1 y yes · 2 a always\n(edits) · 3 n no\n"}, true},
		{program(), 24, 9, []string{"cmd/main.go", " 7 -", "lines 7–9", "y yes · n no"}, true},
		{command("go test ./..."), 24, 3, []string{"run in /w", "go test", "y yes · n no"}, false},
		{undoing(3), 24, 6, []string{"undo the last turn: 3\nfiles +4 −7", "file1.go", "file3.go", "y accept the files"}, false},
	} {
		l := look()
		l.Width, l.Height = s.width, s.height
		p := panel.New(s.req, l, diffview.Auto, start)
		p.Wait(start.Add(time.Hour))
		shown := strings.Join(p.View(s.height), "\n")
		for _, want := range s.want {
			if !strings.Contains(shown, want) {
				t.Errorf("%q is not in\n%s", want, shown)
			}
		}
		if n := strings.Count(shown, "\n") + 1; n > s.height || !p.Fits(s.height) {
			t.Errorf("%d lines of %d, fits: %v", n, s.height, p.Fits(s.height))
		}
		if o, _ := press(p, "y"); s.unseen && o != panel.Handled {
			t.Errorf("approved unseen at %d×%d:\n%s", s.width, s.height, shown)
		} else if s.unseen {
			p.Wait(start.Add(2 * time.Hour))
			o, v := press(p, "y")
			if o != panel.Answered || v.Decision != confirm.Approve {
				t.Errorf("not approved at %d×%d:\n%s", s.width, s.height, shown)
			}
		} else if o != panel.Answered {
			t.Errorf("not approved at %d×%d:\n%s", s.width, s.height, shown)
		}
	}
}

// TestFewRowsShowTheFirstChange: as long as no key scrolls, the visible part of a diff holds its
// first change, whatever the room, the layout and the folding; a key that scrolls goes on from
// there.
func TestFewRowsShowTheFirstChange(t *testing.T) {
	plan := func(keys string) string { return "enter " + keys }
	for _, keys := range []string{"", "x", "s", "s x", plan(""), plan("x"), plan("tab"), plan("tab left enter")} {
		for height := 9; height < 22; height++ {
			req := program()
			if strings.HasPrefix(keys, "enter") {
				req = confirm.Request{Tool: "apply_patch", Subject: &confirm.Edits{Title: "edit", Changes: []workspace.Change{*req.File(), *req.File()}}}
			}
			p := ready(req, height)
			for k := range strings.FieldsSeq(keys) {
				press(p, k)
				p.View(height)
			}
			if view := strings.Join(p.View(height), "\n"); !strings.Contains(view, `Println("welcom`) {
				t.Fatalf("%d rows after %q:\n%s", height, keys, view)
			}
		}
	}
	p := ready(program(), 9)
	press(p, "up")
	if view := strings.Join(p.View(9), "\n"); !strings.Contains(view, "lines 3–5 of 18") {
		t.Errorf("after a key that scrolls:\n%s", view)
	}
	press(p, "home")
	if view := strings.Join(p.View(9), "\n"); !strings.Contains(view, "3 unchanged lines") {
		t.Errorf("at the top:\n%s", view)
	}
}

// A panel that fits is never cut at its head, whatever room the keys take.
func TestFittingPanelIsNotCut(t *testing.T) {
	for n := range 12 {
		for height := 1; height < 16; height++ {
			for _, keys := range []string{"", "?"} {
				l := look()
				l.Width = 100
				p := panel.New(command(strings.TrimSuffix(strings.Repeat("echo\n", n+1), "\n")), l, diffview.Auto, start)
				p.Wait(start.Add(time.Hour))
				press(p, strings.Fields(keys)...)
				if fits, view := p.Fits(height), p.View(height); fits && !strings.Contains(view[0], "run in /w") {
					t.Errorf("%d lines in %d after %q:\n%s", n+1, height, keys, strings.Join(view, "\n"))
				}
			}
		}
	}
}

// Fits makes nothing visible: lines not on the screen are not approved.
func TestFitsShowsNothing(t *testing.T) {
	p := ready(command(strings.Repeat("echo\n", 20)), 8)
	if !p.Fits(100) {
		t.Fatal("it does not fit")
	}
	p.View(8)
	if o, _ := press(p, "y"); o == panel.Answered {
		t.Error("approved what was never shown")
	}
}

func TestUndoAsksForNoReason(t *testing.T) {
	req := edit()
	req.Tool, req.Force = "undo", true
	p := ready(req, 20)
	if o, _ := slowly(p, "c"); o != panel.Handled || noted(p) {
		t.Error("a comment is offered")
	}
	if o, _ := press(p, "y"); o != panel.Answered {
		t.Error("y does not answer")
	}
}

func TestForcedRequestGrantsNothing(t *testing.T) {
	req := edit()
	req.Force = true
	p := ready(req, 20)
	if o, _ := press(p, "a"); o != panel.Handled {
		t.Error("a answers a request that a person has to look at each time")
	}
	if strings.Contains(strings.Join(p.View(20), "\n"), "always") {
		t.Error("a is offered")
	}
}

func TestEditedProposalIsApproved(t *testing.T) {
	p := ready(edit(), 20)
	name, text, ok := p.Proposal()
	if name != "a.txt" || text != "two\n" || !ok {
		t.Fatalf("proposal %q %q %v", name, text, ok)
	}
	p.Propose("three\n", start)
	if o, _ := press(p, "y"); o != panel.Ignored {
		t.Error("an edited proposal is answered before it was read")
	}
	if shown := strings.Join(p.View(20), "\n"); !strings.Contains(shown, "three") || strings.Contains(shown, "two") {
		t.Errorf("shown:\n%s", shown)
	}
	p.Wait(start.Add(time.Hour))
	if _, v := press(p, "y"); v.Edited() == nil || *v.Edited() != "three\n" {
		t.Errorf("verdict %+v", v)
	}
	p.Propose("two\n", start)
	p.Wait(start.Add(time.Hour))
	if _, v := press(p, "y"); v.Edited() != nil {
		t.Error("the proposal itself counts as edited")
	}
}

func TestRemovalCannotBeEdited(t *testing.T) {
	req := edit()
	req.File().Delete, req.File().After = true, ""
	if o, _ := press(ready(req, 20), "e"); o != panel.Handled {
		t.Errorf("outcome %v", o)
	}
}

func TestEveryKindOfRequestNamesItsObject(t *testing.T) {
	for want, req := range map[string]confirm.Request{
		"a.txt":                                  edit(),
		"go test":                                command("go test ./..."),
		"read outside the workspace: /etc/hosts": {Tool: "read_file", Subject: &confirm.Read{Path: "/etc/hosts"}},
		"a file that holds a password or token of git: /p/c":    {Tool: "read_file", Subject: &confirm.Read{Path: "/p/c", Inside: true, Keys: "holds a password or token of git"}},
		"read a file that a rule or a hook asks about: /p/a.go": {Tool: "read_file", Subject: &confirm.Read{Path: "/p/a.go", Inside: true}, Force: true},
		"save a.txt in VS Code":                                 {Tool: "edit_file", Subject: &confirm.Save{Name: "a.txt", Editor: "VS Code"}},
	} {
		req.Notes = caution.Notes("mind the gap")
		shown := strings.Join(ready(req, 20).View(20), "\n")
		if !strings.Contains(shown, want) || !strings.Contains(shown, "mind the gap") {
			t.Errorf("%s is not in\n%s", want, shown)
		}
	}
}

func TestViewFitsItsHeight(t *testing.T) {
	req := edit()
	req.File().After = strings.Repeat("line\n", 200)
	for height := 6; height < 40; height++ {
		if n := len(ready(req, height).View(height)); n > height {
			t.Errorf("%d lines in %d", n, height)
		}
	}
}

func TestScrollingStaysInside(t *testing.T) {
	req := edit()
	req.File().After = strings.Repeat("line\n", 200)
	p := ready(req, 20)
	press(p, "end")
	bottom := strings.Join(p.View(20), "\n")
	press(p, "pgdown", "end")
	if got := strings.Join(p.View(20), "\n"); got != bottom {
		t.Error("scrolled past the end")
	}
	press(p, "home", "up")
	if got := strings.Join(p.View(20), "\n"); !strings.Contains(got, "lines 1–") {
		t.Errorf("not at the top:\n%s", got)
	}
}

func noted(p *panel.Panel) bool {
	ed, _ := p.Note()
	return ed != nil
}

// The hints name the effect that a key has now.
func TestHintsNameThePresentEffect(t *testing.T) {
	narrow := look()
	narrow.Width = 59
	for name, tt := range map[string]struct {
		req        confirm.Request
		look       theme.Look
		keys       string
		want, gone string
	}{
		"folded":                {three(), look(), "?", "x unfold", "x fold"},
		"unfolded":              {three(), look(), "? x", "x fold", "x unfold"},
		"a refused one":         {revised(), look(), "? x r", "x unfold", "x fold"},
		"room for both":         {three(), look(), "?", "s side by side", "one below"},
		"side by side":          {three(), look(), "? s", "s one below the other", "side by side"},
		"no room for both":      {three(), narrow, "?", "x unfold", "side by side"},
		"a part of the screen":  {three(), look(), "?", "v full", "v smaller"},
		"the whole screen":      {three(), look(), "? v", "v smaller", "v full"},
		"the list, whole":       {undoing(3), look(), "v", "v smaller", "v full"},
		"a file, whole":         {undoing(3), look(), "enter v", "v smaller", "v full"},
		"a file of a review":    {patch("a\n", "b\n"), look(), "enter v", "v smaller", "v full"},
		"a file of the list":    {undoing(3), look(), "down", "space leave it out", "space include"},
		"a file that stays out": {undoing(3), look(), "down space", "space include it", "leave it out"},
	} {
		p := panel.New(tt.req, tt.look, diffview.Auto, start)
		p.View(40)
		p.Wait(start.Add(time.Hour))
		press(p, strings.Fields(tt.keys)...)
		if got := shown(p, 40); !strings.Contains(got, tt.want) || strings.Contains(got, tt.gone) {
			t.Errorf("%s: want %q, not %q:\n%s", name, tt.want, tt.gone, got)
		}
	}
}
