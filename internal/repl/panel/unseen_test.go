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
	return confirm.Request{Tool: "write_file", Change: &workspace.Change{File: workspace.File{Name: "a.txt"}, After: after}}
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
		"many lines":  {writing(long.String()), "–400: y again"},
		"a long line": {writing(strings.Repeat("x", 7000) + "\n"), "you have not seen lines "},
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
	req.Change.Text, req.Change.After = "a\n"+text, "b\n"+text
	p := ready(req, 12)
	press(p, "x") // all unchanged lines
	p.View(12)
	if o, _ := press(p, "y"); o != panel.Answered {
		t.Error("a change at the top needs a second yes")
	}
}
