package panel_test

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/repl/panel"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

func revised() confirm.Request {
	return confirm.Request{
		Tool: "edit_file",
		Subject: confirm.Edit(workspace.Change{
			File: workspace.File{Name: "a.txt", Exists: true, Text: "one\ntwo\nthree\n"}, After: "ONE\ntwo\nTHREE\n",
		}),
		Refused: &confirm.Refused{
			Text: "ONE\ntwo\nthree\n", Feedback: "the third too", Comments: []confirm.Comment{{Line: 3, Text: "here"}},
		},
		Notes: []caution.Note{{Kind: caution.Revised, Text: "revised since you refused it: +1 −1"}},
	}
}

// TestRevision switches between the change of the file and that of the refused proposal.
func TestRevision(t *testing.T) {
	p := ready(revised(), 30)
	file := shown(p, 30)
	for _, want := range []string{"revised: edit a.txt", "+2 −2", "r since your refusal"} {
		if !strings.Contains(file, want) {
			t.Errorf("no %q in\n%s", want, file)
		}
	}
	if strings.Contains(file, "revised since") {
		t.Errorf("the note repeats the title:\n%s", file)
	}
	press(p, "r")
	since := shown(p, 30)
	for _, want := range []string{"since your refusal of a.txt", "+1 −1", "you said: the third too", "you on line 3: here", "r against the file"} {
		if !strings.Contains(since, want) {
			t.Errorf("no %q in\n%s", want, since)
		}
	}
	press(p, "esc")
	if got := shown(p, 30); got != file {
		t.Errorf("Esc does not lead back:\n%s", got)
	}
	press(p, "r")
	if o, v := press(p, "y"); o != panel.Answered || v.Decision != confirm.Approve || v.Edited() != nil {
		t.Errorf("y: %v, %+v", o, v)
	}
}

// TestRevisionIsNotTheDiff: lines that were visible only as a change of the refused
// proposal do not count as seen, and hunks left out stay left out.
func TestRevisionIsNotTheDiff(t *testing.T) {
	req := three()
	req.Refused = &confirm.Refused{Text: req.File().After, Feedback: "no"}
	p := ready(req, 14)
	press(p, "r")
	p.View(40)
	if o, _ := press(p, "y"); o == panel.Answered {
		t.Error("a diff whose end was not visible was approved")
	}
	p = ready(req, 60)
	p.View(60)
	press(p, "]", "space", "r")
	p.View(60)
	if o, v := press(p, "y"); o != panel.Answered || v.Edited() == nil || *v.Edited() != *taken(1, 2) {
		t.Errorf("y: %v, %+v", o, v)
	}
}
