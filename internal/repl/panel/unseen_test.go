package panel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func writing(after string) confirm.Request {
	return confirm.Request{Tool: "write_file", Subject: confirm.Edit(workspace.Change{File: workspace.File{Name: "a.txt"}, After: after})}
}

// A yes to a diff whose end has not been visible, lines or the end of a line, first causes a
// warning.
func TestTheEndOfADiffWasShown(t *testing.T) {
	var long strings.Builder
	for i := range 400 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	for name, tt := range map[string]struct {
		req  confirm.Request
		says string
	}{
		"many lines":  {writing(long.String()), "–400. Press y again"},
		"a long line": {writing(strings.Repeat("x", 7000) + "\n"), "You have not seen lines "},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range []string{"y", "a"} {
				p := ready(tt.req, 20)
				now := start.Add(time.Hour)
				for range 20 { // held down
					if o, _ := press(p, key); o != panel.Handled {
						t.Fatalf("%s approves what was never shown", key)
					}
					p.View(20)
					now = now.Add(30 * time.Millisecond)
					p.Wait(now)
				}
				if shown := strings.Join(strings.Fields(strings.Join(p.View(20), " ")), " "); !strings.Contains(shown, tt.says) {
					t.Errorf("it does not say so:\n%s", shown)
				}
				p.Wait(now.Add(time.Second))
				if o, v := press(p, key); o != panel.Answered || v.Decision != confirm.Approve {
					t.Errorf("the second %s does not count", key)
				}
			}
			p := ready(tt.req, 20)
			press(p, "y", "down")
			p.View(20)
			p.Wait(start.Add(2 * time.Hour))
			if o, _ := press(p, "y"); o != panel.Handled {
				t.Error("another key does not take the warning back")
			}
			press(p, "end")
			p.View(20)
			if o, _ := press(p, "y"); o != panel.Answered {
				t.Error("not approved although the end was shown")
			}
		})
	}
}

// Lines after the last change need not be visible.
func TestTheLastChangeIsTheEnd(t *testing.T) {
	text := strings.Repeat("x\n", 100)
	req := edit()
	req.File().Text, req.File().After = "a\n"+text, "b\n"+text
	p := ready(req, 12)
	press(p, "x") // all unchanged lines
	p.View(12)
	if o, _ := press(p, "y"); o != panel.Answered {
		t.Error("a change at the top needs a second yes")
	}
}

// patch is a model's plan of files with the given contents, named a.txt, b.txt and so on.
func patch(contents ...string) confirm.Request {
	req := confirm.Request{Tool: "apply_patch", Subject: &confirm.Edits{Title: "patch", Review: true}}
	for i, after := range contents {
		name := string(rune('a'+i)) + ".txt"
		confirm.As[*confirm.Edits](req).Changes = append(confirm.As[*confirm.Edits](req).Changes, workspace.Change{File: workspace.File{Name: name}, After: after})
	}
	return req
}

// A yes to several files first causes a warning unless the last change of each was on the
// screen: that a file was opened is not enough.
func TestTheEndOfEachFileWasShown(t *testing.T) {
	long := strings.Repeat("line\n", 400) + "EVIL\n"
	wide := strings.Repeat("x", 7000) + "\n"
	for name, tt := range map[string]struct {
		req  confirm.Request
		keys string // before the first yes
		says string // its warning; empty if it counts
	}{
		"all seen":                  {patch(long, "b\n"), "enter end esc down enter esc", ""},
		"the end unseen":            {patch(long, "b\n"), "enter esc down enter esc", "–401 of a.txt. Press y again to accept anyway"},
		"the end of a line":         {patch(wide, "b\n"), "enter esc down enter esc", " of a.txt. Press y again"},
		"by Tab":                    {patch(long, "b\n"), "enter tab esc", "–401 of a.txt. Press y again"},
		"two unseen ends":           {patch(long, wide, long), "enter tab tab esc", "–401 of a.txt, nor the end of 2 other files. Press y again"},
		"one not opened":            {patch(long, "b\n", "c\n"), "enter tab esc", "–401 of a.txt, nor opened 1 file. Press y again"},
		"none opened":               {patch(long, "b\n"), "", "You have not opened 2 files yet. Press y again"},
		"left out":                  {patch(long, "b\n"), "enter esc space down enter esc", ""},
		"seen, then side by side":   {patch(long, "b\n"), "enter end s esc down enter esc", ""},
		"half seen, then laid anew": {patch(long, "b\n"), "enter pgdown s esc down enter esc", "lines "},
	} {
		t.Run(name, func(t *testing.T) {
			p := ready(tt.req, 20)
			for k := range strings.FieldsSeq(tt.keys) {
				slowly(p, k)
				p.View(20)
			}
			o, _ := press(p, "y")
			got := strings.Join(strings.Fields(shown(p, 20)), " ")
			if (o == panel.Answered) != (tt.says == "") || o != panel.Answered && !strings.Contains(got, tt.says) {
				t.Fatalf("%v, want %q in:\n%s", o, tt.says, got)
			}
			if tt.says == "" {
				return
			}
			p.Wait(start.Add(1000 * time.Hour))
			if o, v := press(p, "y"); o != panel.Answered || v.Decision != confirm.Approve {
				t.Errorf("the second y: %v", o)
			}
		})
	}
}

// Keys without a frame between show nothing, and another width lays the unseen lines out anew.
func TestOnlyAFrameShowsAFile(t *testing.T) {
	p := ready(patch("a\n", "b\n"), 20)
	press(p, "enter", "tab", "esc")
	p.View(20)
	if o, _ := press(p, "y"); o != panel.Handled {
		t.Error("approved files that no frame showed")
	}
	p = ready(patch(strings.Repeat("line\n", 30)), 20)
	slowly(p, "enter")
	p.View(20)
	l := look()
	l.Width = 40
	p.Restyle(l)
	press(p, "esc")
	p.View(20)
	press(p, "y")
	if got := shown(p, 20); !strings.Contains(got, "lines 1–30 of a.txt") {
		t.Errorf("after a new width:\n%s", got)
	}
}
