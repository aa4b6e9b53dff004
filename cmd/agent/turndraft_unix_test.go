//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/ide/idetest"
)

// turnInEditor is a turnDesk with an editor that shows the twelve reviews, by file name.
func turnInEditor(t *testing.T, ours idetest.Dialect) (d *desk, e *idetest.Editor, diffs map[string]*idetest.Diff) {
	t.Helper()
	d, _ = turnDesk(t)
	e = d.editor(ours)
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	d.say("change all")
	diffs = map[string]*idetest.Diff{}
	for range 12 {
		diff := e.NextDiff()
		diffs[filepath.Base(diff.Path)] = diff
	}
	d.asked(`also open in Visual Studio Code, file by file`)
	return d, e, diffs
}

// yesToAll looks at each file to its end, and answers y.
func (d *desk) yesToAll() {
	d.t.Helper()
	d.Press("enter", "end")
	for range 11 {
		d.Press("tab", "end")
	}
	d.WaitFor(`file 12 of 12`)
	d.Press("esc")
	d.asked(`all changes of this turn`)
	d.Press("y")
}

// TestYesToATurnTakesTheDrafts: a yes in the terminal writes the text typed into the
// reviews in the editor, answered there or not, and keeps a no that was given there.
func TestYesToATurnTakesTheDrafts(t *testing.T) {
	t.Parallel()
	d, _, diffs := turnInEditor(t, idetest.Ours())
	diffs["f04.txt"].Reject()
	diffs["f05.txt"].Edit("accepted there\n")
	diffs["f05.txt"].Accept()
	d.WaitFor(`2 of 12 files answered`)
	diffs["f02.txt"].Edit("typed there\n")
	d.WaitFor(`f02\.txt edited in Visual Studio Code .* y takes that text`)
	d.yesToAll()
	d.idle()
	if printed := strings.Join(d.History(), "\n"); !strings.Contains(printed, "11 of 12 files") {
		t.Errorf("the result is not shown:\n%s", printed)
	}
	for name, want := range map[string]string{"f02.txt": "typed there\n", "f04.txt": thirty(), "f05.txt": "accepted there\n"} {
		if got := d.read("pkg/" + name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if got := d.read("pkg/f12.txt"); !strings.Contains(got, "three of 12") {
		t.Errorf("f12.txt holds %q", got)
	}
	for _, diff := range diffs {
		<-diff.Closed
	}
	d.leave()
}

// TestYesToATurnWithALostDraft: if the editor does not give the text that was typed there,
// nothing is written and the question returns with the file's name.
func TestYesToATurnWithALostDraft(t *testing.T) {
	t.Parallel()
	older := idetest.Ours()
	older.NoTexts = true
	d, e, diffs := turnInEditor(t, older)
	e.Handle("resolveDiff", func(_ *idetest.Conn, args json.RawMessage) idetest.Reply {
		return idetest.Refuse("DIFF_NOT_FOUND", "none")
	})
	diffs["f02.txt"].Edit("typed there\n")
	d.WaitFor(`f02\.txt edited in Visual Studio Code`)
	d.yesToAll()
	d.asked(`Edited in another window: pkg/f02\.txt, but that text cannot be fetched`)
	if got := d.read("pkg/f01.txt"); got != thirty() {
		t.Errorf("f01.txt holds %q", got)
	}
	d.yesToAll()
	d.idle()
	if got := d.read("pkg/f02.txt"); !strings.Contains(got, "three of 2") {
		t.Errorf("f02.txt holds %q", got)
	}
	d.leave()
}

// TestTypedTextSurvivesTheEditor: if the editor ends during the review of a turn, the text
// that was typed there comes to the terminal, is shown there, and a second yes writes it. A
// file that was rejected there stays left out.
func TestTypedTextSurvivesTheEditor(t *testing.T) {
	t.Parallel()
	d, e, diffs := turnInEditor(t, idetest.Ours())
	diffs["f04.txt"].Reject()
	d.WaitFor(`1 of 12 files answered`)
	typed := strings.Replace(diffs["f02.txt"].Text, "three of 2", "typed there", 1)
	diffs["f02.txt"].Edit(typed)
	d.WaitFor(`f02\.txt edited in Visual Studio Code`)
	e.Stop()
	d.WaitFor(`is lost, but your text is kept: y shows it here`)
	d.yesToAll()
	d.asked(`which no longer shows them: pkg/f02\.txt`)
	if got := d.read("pkg/f01.txt"); got != thirty() {
		t.Errorf("f01.txt holds %q before the second yes", got)
	}
	d.WaitFor(`○ edit +pkg/f04\.txt`)
	d.Press("down")
	d.Press("enter")
	d.WaitFor(`typed there`)
	d.Press("esc")
	d.Press("home")
	d.yesToAll()
	d.idle()
	for name, want := range map[string]string{"f02.txt": typed, "f04.txt": thirty()} {
		if got := d.read("pkg/" + name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if got := d.read("pkg/f12.txt"); !strings.Contains(got, "three of 12") {
		t.Errorf("f12.txt holds %q", got)
	}
	d.leave()
}

// TestOneUndecidedFileLosesNothing: if the editor gives up the review of one file of a turn,
// the others stay there with their drafts, and a yes in the terminal takes these.
func TestOneUndecidedFileLosesNothing(t *testing.T) {
	t.Parallel()
	d, e, diffs := turnInEditor(t, idetest.Ours())
	diffs["f02.txt"].Edit("typed there\n")
	d.WaitFor(`f02\.txt edited in Visual Studio Code`)
	diffs["f07.txt"].Answer(idetest.Refuse("DIRTY_DOCUMENT", "the file has unsaved changes"))
	d.WaitFor(`f07\.txt has unsaved changes in Visual Studio Code: answer here`)
	diffs["f05.txt"].Edit("accepted there\n")
	diffs["f05.txt"].Accept()
	d.WaitFor(`also those without an answer there: pkg/f07\.txt`)
	e.WaitOpenDiffs(10)
	d.yesToAll()
	d.idle()
	for name, want := range map[string]string{"f02.txt": "typed there\n", "f05.txt": "accepted there\n"} {
		if got := d.read("pkg/" + name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if got := d.read("pkg/f07.txt"); !strings.Contains(got, "three of 7") {
		t.Errorf("f07.txt holds %q", got)
	}
	d.leave()
}

// TestTypedTextReturnsToTheEditor: the next window begins with the text typed in the first.
func TestTypedTextReturnsToTheEditor(t *testing.T) {
	t.Parallel()
	d, e, diffs := turnInEditor(t, idetest.Ours())
	diffs["f02.txt"].Edit("typed there\n")
	d.WaitFor(`f02\.txt edited in Visual Studio Code`)
	e.Drop()
	again := map[string]*idetest.Diff{}
	for range 12 {
		diff := e.NextDiff()
		again[filepath.Base(diff.Path)] = diff
	}
	if got := again["f02.txt"].Draft(); got != "typed there\n" {
		t.Errorf("the diff of f02.txt begins with %q", got)
	}
	if got := again["f01.txt"].Draft(); got != again["f01.txt"].Text {
		t.Errorf("the diff of f01.txt begins with %q", got)
	}
	for _, diff := range again {
		diff.Accept()
	}
	d.idle()
	if got := d.read("pkg/f02.txt"); got != "typed there\n" {
		t.Errorf("f02.txt holds %q", got)
	}
	d.leave()
}
