//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bb2d0cf4/agent/internal/ide/idetest"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// twelve returns the files of a turn of twelve edits, and the calls that make it.
func twelve() (files map[string]string, calls []llmtest.Call) {
	files = map[string]string{}
	for i := range 12 {
		name := fmt.Sprintf("pkg/f%02d.txt", i+1)
		if i < 10 {
			files[name] = thirty()
		}
		calls = append(calls, writeCall(name, strings.NewReplacer("line 3\n", fmt.Sprintf("three of %d\n", i+1), "line 25\n", "twenty-five\n").Replace(thirty())))
	}
	return files, calls
}

// turnDesk is a desk on which the edits of a turn are one review: twelve of them, with a
// read of one between.
func turnDesk(t *testing.T, more ...llmtest.Turn) (d *desk, files map[string]string) {
	t.Helper()
	files, calls := twelve()
	turns := []llmtest.Turn{
		{Calls: calls[:6]},
		{Calls: []llmtest.Call{{Name: "read_file", Args: `{"path":"pkg/f02.txt"}`}}},
		{Calls: calls[6:]},
		{Text: "Twelve files are done."},
	}
	d = newDesk(t, llmtest.NewServer(t, append(turns, more...)...), files)
	d.env = append(d.env, "AGENT_REVIEW=turn")
	return d, files
}

// untouched checks that the files are as before.
func (d *desk) untouched(files map[string]string) {
	d.t.Helper()
	for name, text := range files {
		if got := d.read(name); got != text {
			d.t.Errorf("%s holds %q", name, got)
		}
	}
	for _, name := range []string{"pkg/f11.txt", "pkg/f12.txt"} {
		if _, err := os.Stat(d.path(name)); err == nil {
			d.t.Errorf("%s exists", name)
		}
	}
}

// TestATurnIsOneReview: twelve edits of a turn are asked about once, at its end: file by
// file and hunk by hunk, with words. A no with words goes back to the model, the next review
// has all files again; a yes writes the rest together, and one undo takes all back.
func TestATurnIsOneReview(t *testing.T) {
	t.Parallel()
	again := writeCall("pkg/f12.txt", "twelve\n")
	d, files := turnDesk(t, llmtest.Turn{Calls: []llmtest.Call{again}}, llmtest.Turn{Text: "Revised."}, llmtest.Turn{Text: "I see."})
	d.sit()
	d.say("change all")
	d.asked(`all changes of this turn: 12 files \+80 −20`)
	d.untouched(files)
	if told := d.told(2); !strings.Contains(told, "3 | three of 2") {
		t.Errorf("the model reads %q", told)
	}
	d.Press("end", "enter")
	d.WaitFor(`file 12 of 12`)
	d.Press("m")
	d.WaitFor(`on hunk 1:`)
	d.Type("shorter")
	d.Press("enter")
	d.WaitFor(`1 comment`)
	d.Press("esc", "c")
	d.WaitFor(`no, because:`)
	d.Type("the last is too long")
	d.Press("enter")
	d.asked(`(?s)edit   pkg/f01\.txt  \+2 −2.*create pkg/f12\.txt  \+1 −0`)
	if told := d.told(4); !strings.Contains(told, "The user says: the last is too long") || !strings.Contains(told, "comment on line 1 of the proposal for pkg/f12.txt: shorter") || !strings.Contains(told, "still pending") {
		t.Errorf("the model was told %q", told)
	}
	d.untouched(files)
	d.Press("space", "down", "enter") // without the first file, and a hunk of the second
	d.WaitFor(`file 2 of 12`)
	d.Press("]", "]", "space")
	d.WaitFor(`hunk 2 of 2 · space includes it`)
	d.Press("esc")
	d.WaitFor(`pkg/f02\.txt  \+1 −1 · 2 places · 1 of 2 hunks`)
	d.Press("y")
	d.WaitFor(`You have not opened 10 files yet\. Press y again to accept anyway`)
	d.untouched(files)
	d.Press("enter", "tab", "tab", "tab", "tab", "tab", "tab", "tab", "tab", "tab", "tab")
	d.WaitFor(`file 12 of 12`)
	d.Press("esc", "y")
	d.WaitFor(`You have not seen lines \d+–30 of pkg/f11\.txt\. Press y again to accept anyway`)
	d.untouched(files)
	d.Press("up", "enter", "end")
	d.WaitFor(`of 30`)
	d.Press("esc")
	d.asked(`11 files`)
	d.Press("y")
	d.WaitFor(`Review of 12 changed files`)
	d.idle()
	if got := d.read("pkg/f01.txt"); got != thirty() {
		t.Errorf("the file left out holds %q", got)
	}
	if got := d.read("pkg/f02.txt"); got != strings.Replace(thirty(), "line 3\n", "three of 2\n", 1) {
		t.Errorf("the file with one hunk left out holds %q", got)
	}
	if got := d.read("pkg/f12.txt"); got != "twelve\n" {
		t.Errorf("the last file holds %q", got)
	}
	d.say("and now?")
	d.WaitFor(`I see\.`)
	if told := string(d.request(6)); !strings.Contains(told, "The user left out, and the disk keeps as before: pkg/f01.txt") || !strings.Contains(told, "-twenty-five") {
		t.Errorf("the model was not told of the outcome: %s", told)
	}
	d.idle()
	d.say("/undo")
	d.asked(`11 files`)
	d.Press("y")
	d.WaitFor(`undone: pkg/f02`)
	d.idle()
	d.untouched(files)
	d.leave()
}

// TestATurnIsOneReviewInPlainLines: the screen reader's face asks about all files at once;
// files are left out by their numbers.
func TestATurnIsOneReviewInPlainLines(t *testing.T) {
	t.Parallel()
	d, _ := turnDesk(t)
	d.open()
	d.run("agent", "--screen-reader")
	d.WaitFor(`(?m)^you:`)
	d.say("change all")
	d.WaitFor(`answer: 1 yes to all files, 3 no, without and the numbers of files to leave out`)
	if printed := strings.Join(d.History(), "\n") + d.Screen(); !strings.Contains(printed, "File 2 of 12: pkg/f02.txt, +2 −2") || !strings.Contains(printed, "+three of 2\n") {
		t.Errorf("the question is\n%s", printed)
	}
	<-time.After(1500 * time.Millisecond) // as long as a person needs to read; earlier lines do not answer
	d.Type("without 1, 12\r")
	d.WaitFor(`10 of 12 files`)
	if got := d.read("pkg/f01.txt"); got != thirty() {
		t.Errorf("the file left out holds %q", got)
	}
	if got := d.read("pkg/f11.txt"); !strings.Contains(got, "three of 11") {
		t.Errorf("the new file holds %q", got)
	}
	d.absent("pkg/f12.txt")
	d.Press("ctrl+d")
	if code := d.Wait(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// TestATurnIsOneReviewInTheEditor: each file is a review of its own there, "i of 12"; once
// all are answered the accepted ones are written together.
func TestATurnIsOneReviewInTheEditor(t *testing.T) {
	t.Parallel()
	d, files := turnDesk(t)
	e := d.editor(idetest.Ours())
	d.sit()
	d.WaitFor(`Visual Studio Code`)
	d.say("change all")
	diffs := map[string]*idetest.Diff{}
	for range 12 {
		diff := e.NextDiff()
		diffs[filepath.Base(diff.Path)] = diff
	}
	d.asked(`also open in Visual Studio Code, file by file`)
	for i := range 12 {
		d.untouched(files)
		diff := diffs[fmt.Sprintf("f%02d.txt", i+1)]
		switch i {
		case 3:
			diff.Reject()
		default:
			diff.Accept()
		}
		if i == 4 {
			d.WaitFor(`5 of 12 files answered`)
		}
	}
	d.idle()
	if printed := strings.Join(d.History(), "\n"); !strings.Contains(printed, "11 of 12 files") {
		t.Errorf("the result is not shown:\n%s", printed)
	}
	if got := d.read("pkg/f04.txt"); got != thirty() {
		t.Errorf("the rejected file holds %q", got)
	}
	for _, name := range []string{"pkg/f01.txt", "pkg/f12.txt"} {
		if got := d.read(name); !strings.Contains(got, "twenty-five") {
			t.Errorf("%s holds %q", name, got)
		}
	}
	d.leave()
}
