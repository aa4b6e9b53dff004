package panel_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/cells"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// drawRequest draws a request of any kind.
func drawRequest(t *rapid.T) confirm.Request {
	text := func(label string) string {
		line := rapid.SampledFrom([]string{"a", "b", "\tc()", "漢字 漢字", "", strings.Repeat("long ", 50), "x\x1b[2J", "\u202e"})
		s := strings.Join(rapid.SliceOfN(line, 0, 15).Draw(t, label), rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, label+" ends"))
		return s + rapid.SampledFrom([]string{"", "\n"}).Draw(t, label+" end")
	}
	change := func() workspace.Change {
		return workspace.Change{
			File:  workspace.File{Name: rapid.SampledFrom([]string{"a.go", "a/b/c/d/e/f.txt", "漢/字\n.md"}).Draw(t, "name"), Exists: true, Text: text("before")},
			After: text("after"), Delete: rapid.IntRange(0, 5).Draw(t, "delete") == 5,
		}
	}
	req := confirm.Request{Tool: rapid.SampledFrom([]string{"write_file", "undo"}).Draw(t, "tool"), Force: rapid.Bool().Draw(t, "force")}
	if rapid.Bool().Draw(t, "batch") {
		req.Batch = confirm.Batch{Total: 3, Index: 1, Calls: []string{"Read a", "Edit b", strings.Repeat("Run c ", 40)}, Done: []string{"1 line"}}
	}
	switch rapid.SampledFrom([]string{"change", "plan", "document", "command", "choice", "read", "save"}).Draw(t, "kind") {
	case "change":
		c := change()
		req.Subject = confirm.Edit(c)
		if !c.Delete && rapid.Bool().Draw(t, "revised") {
			req.Refused = &confirm.Refused{Text: text("refused"), Feedback: "x\x1b[2J", Comments: []confirm.Comment{{Line: 1, Text: strings.Repeat("long ", 50)}}}
		}
	case "plan":
		plan := &confirm.Edits{Title: "undo the last turn"}
		req.Subject = plan
		for range rapid.IntRange(2, 8).Draw(t, "files") {
			plan.Changes = append(plan.Changes, change())
		}
	case "document":
		req.Subject = &confirm.Document{Text: text("document")}
	case "command":
		req.Subject = &confirm.Command{Line: text("line"), Dir: "/w"}
	case "choice":
		req.Subject = &confirm.Choice{Text: text("question"), Options: []string{text("first"), "second"}}
	case "read":
		req.Subject = &confirm.Read{Path: "/etc/hosts"}
	case "save":
		req.Subject = &confirm.Save{Name: "a", Editor: "VS Code"}
	}
	return req
}

// Whatever the request, the size and the keys: the panel fits, its text can only be shown,
// and a yes approves what the screen shows as kept.
func TestAnyKeysAnySize(t *testing.T) {
	keys := []string{"]", "[", "space", "m", "x", "r", "s", "v", "l", "?", "q", "up", "down", "pgup", "pgdown", "home", "end", "enter", "right", "left", "tab", "backspace", "h", "esc"}
	answered := 0
	rapid.Check(t, func(t *rapid.T) {
		req := drawRequest(t)
		size := func() theme.Look {
			l := theme.New(theme.Auto, true)
			l.Width, l.Height = rapid.IntRange(1, 500).Draw(t, "width"), rapid.IntRange(1, 200).Draw(t, "height")
			return l
		}
		l := size()
		p := panel.New(req, l, rapid.SampledFrom([]diffview.Layout{diffview.Auto, diffview.Unified, diffview.Split}).Draw(t, "layout"), start)
		p.View(l.Height)
		p.Wait(start.Add(time.Hour))
		for range rapid.IntRange(0, 20).Draw(t, "keys") {
			if rapid.IntRange(0, 9).Draw(t, "resize") == 9 {
				l = size()
				p.Restyle(l)
			} else if o, _ := press(p, rapid.SampledFrom(keys).Draw(t, "key")); o == panel.Answered && req.File() == nil {
				return // a comment was sent
			}
			checkView(t, p, l)
		}
		_, kept, editable := p.Proposal()
		o, v := press(p, "y")
		if o != panel.Answered || v.Decision != confirm.Approve {
			return
		}
		answered++
		switch {
		case !editable && v.Edited() != nil:
			t.Fatalf("approved a text: %q", *v.Edited())
		case editable && req.File() != nil && v.Edited() == nil && kept != req.File().After, v.Edited() != nil && *v.Edited() != kept:
			t.Fatalf("kept %q, approved %v", kept, v.Texts)
		case confirm.As[*confirm.Edits](req) == nil && v.Except != nil, confirm.As[*confirm.Edits](req) != nil && len(v.Except) >= len(confirm.As[*confirm.Edits](req).Changes):
			t.Fatalf("left out: %v", v.Except)
		}
	})
	if answered == 0 {
		t.Error("no yes was ever taken")
	}
}

func checkView(t *rapid.T, p *panel.Panel, l theme.Look) {
	view := p.View(l.Height)
	if len(view) > l.Height {
		t.Fatalf("%d rows in %d", len(view), l.Height)
	}
	for _, row := range view {
		if strings.ContainsAny(row, "\x1b\u202e\r\n\t") {
			t.Fatalf("%q reaches the terminal", row)
		}
		if w := cells.Width(row); w > max(l.Width, 12) { // the screen cuts lines that do not fit
			t.Fatalf("%q is %d wide, the terminal %d", row, w, l.Width)
		}
	}
}
