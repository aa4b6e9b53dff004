//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// TestMovedUnderTheReview: a file changes while its edit is open in the editor and in the
// terminal. The yes writes nothing; the merge opens as a new question on both, and its yes
// writes it.
func TestMovedUnderTheReview(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "All done."})
	e := d.editor(idetest.Ours())
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	d.say("be polite")
	first := e.NextDiff()
	d.asked(`also open in Visual Studio Code`)
	theirs := "// Greets.\n" + program
	scratch.Write(t, d.folder()+"/main.go", theirs)
	first.Accept()
	second := e.NextDiff()
	d.asked(`changed while you looked \(\+1 −0\): merged, look again`)
	want := strings.Replace(theirs, "hello", "good day", 1)
	if second.Text != want {
		t.Errorf("the editor shows %q", second.Text)
	}
	if got := d.read("main.go"); got != theirs {
		t.Errorf("written after a yes to something else: %q", got)
	}
	second.Accept()
	d.WaitFor(`All done\.`)
	d.closed()
	if got := d.read("main.go"); got != want {
		t.Errorf("main.go: %q", got)
	}
	if told := d.told(1); !strings.Contains(told, "merged with the new text and shown again") || !strings.Contains(told, "+// Greets.") {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}

// TestMovedConflict: a change of the same line is shown as a conflict and not written over.
func TestMovedConflict(t *testing.T) {
	t.Parallel()
	d := politeDesk(t, llmtest.Turn{Text: "I see."})
	d.sit()
	d.say("be polite")
	d.asked(`edit main\.go`)
	theirs := strings.Replace(program, "hello", "hi", 1)
	scratch.Write(t, d.folder()+"/main.go", theirs)
	d.Press("y")
	d.WaitFor(`conflict: main\.go changed while you looked, in the same place; not written`)
	d.WaitFor("is `println\\(\"hi\"\\)`, the edit has `println\\(\"good day\"\\)`")
	d.WaitFor(`I see\.`)
	if got := d.read("main.go"); got != theirs {
		t.Errorf("main.go: %q", got)
	}
	if told := d.told(1); !strings.Contains(told, "The file now, around line") || !strings.Contains(told, `println("hi")`) {
		t.Errorf("the model was told %q", told)
	}
	d.idle()
	d.leave()
}
